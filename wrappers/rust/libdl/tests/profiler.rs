// SPDX-License-Identifier: Apache-2.0
//! The profiler: what it records, of one thread or of several, and how it ends. One test at a time,
//! because a profiler of all threads sees them all.
use libdl::{ErrorCode, Profiler, ProfilerEvent, ProfilerRange, Result, Tensor};
use std::sync::Mutex;
use std::thread;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn compute(name: &str) -> Result<()> {
    let _range = ProfilerRange::new(name)?;
    let x = Tensor::from_slice(&[1.0f32, 2.0], &[2])?;
    x.set_requires_grad(true)?;
    x.exp()?.sum()?.backward()
}

fn find<'a>(events: &'a [ProfilerEvent], name: &str) -> Option<&'a ProfilerEvent> {
    events.iter().find(|event| event.name == name)
}

#[test]
fn it_records_calls_ranges_and_passes() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let profiler = Profiler::start(true, false).unwrap();
    compute("range").unwrap();
    let events = profiler.stop().unwrap();
    let (range, exp) = (find(&events, "range").unwrap(), find(&events, "exp").unwrap());
    assert!(range.range && !range.failed && range.shapes.is_empty());
    assert_eq!(events[exp.parent.unwrap()].name, "range");
    assert!(range.start <= exp.start && exp.end <= range.end);
    assert_eq!(exp.shapes.last(), Some(&2));
    assert!(events.iter().any(|event| event.source.as_deref() == Some("exp")));
}

#[test]
fn other_threads_are_recorded_if_asked_for() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    for all_threads in [false, true] {
        let profiler = Profiler::start(false, all_threads).unwrap();
        compute("mine").unwrap();
        thread::spawn(|| compute("theirs")).join().unwrap().unwrap();
        let events = profiler.stop().unwrap();
        assert_eq!(find(&events, "theirs").is_some(), all_threads);
        if let Some(theirs) = find(&events, "theirs") {
            assert_ne!(theirs.thread, find(&events, "mine").unwrap().thread);
        }
    }
}

#[test]
fn it_ends_when_it_is_dropped() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let profiler = Profiler::start(false, false).unwrap();
    let again = Profiler::start(false, false).unwrap_err();
    assert_eq!(again.code(), ErrorCode::STATE);
    drop(profiler);
    drop(Profiler::start(false, false).unwrap());
}

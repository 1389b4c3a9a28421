// SPDX-License-Identifier: Apache-2.0
//! The profiler: each call with its times, its memory, and what happened inside it.
use crate::callback::told;
use crate::error::check;
use crate::Result;
use libdl_sys::*;
use std::ffi::{c_void, CStr};
use std::marker::PhantomData;
use std::mem::size_of;
use std::ptr::null_mut;
use std::slice::from_raw_parts;

/// A call, or a range of the program's own, in a profile.
#[derive(Clone, Debug)]
pub struct ProfilerEvent {
    pub name: String,
    /// The operator on whose behalf it was called.
    pub source: Option<String>,
    /// Of [`ProfilerRange`], not a call.
    pub range: bool,
    /// The call failed, or had not ended when the profiler stopped.
    pub failed: bool,
    /// A `LIBDL_PHASE_` constant of `libdl_sys`.
    pub phase: libdl_phase,
    /// Nanoseconds of the system's monotonic clock.
    pub start: i64,
    pub end: i64,
    /// The index of the event around it.
    pub parent: Option<usize>,
    /// Bytes of tensors that the thread allocated during it, less those it freed.
    pub allocated: i64,
    /// Likewise, from the profiler's start to the event's end.
    pub live: i64,
    /// How many times the process converted a representation meanwhile.
    pub conversions: i64,
    /// The system's number of the thread.
    pub thread: i64,
    /// As `libdl_profiler_event.shapes`: of the arguments, then of the results.
    pub shapes: Vec<i64>,
}

/// Records the calls of its thread until it is stopped or dropped.
///
/// ```
/// use libdl::{Profiler, ProfilerRange, Tensor};
///
/// let profiler = Profiler::start(false, false)?;
/// {
///     let _range = ProfilerRange::new("sums")?;
///     Tensor::from_slice(&[1.0f32, 2.0], &[2])?.sum()?;
/// }
/// let events = profiler.stop()?;
/// let sum = events.iter().find(|event| event.name == "sum").unwrap();
/// assert_eq!(events[sum.parent.unwrap()].name, "sums");
/// # Ok::<(), libdl::Error>(())
/// ```
#[must_use = "a profiler that is dropped has recorded nothing"]
#[derive(Debug)]
pub struct Profiler(PhantomData<*const ()>); // of one thread

impl Profiler {
    /// `shapes`: records them, too. `all_threads`: as `LIBDL_PROFILER_ALL_THREADS` says, also the
    /// calls of threads that begin meanwhile, and those of others from their first range on.
    pub fn start(shapes: bool, all_threads: bool) -> Result<Profiler> {
        // All zeros are a valid value of this C struct.
        let mut options: libdl_profiler_options = unsafe { std::mem::zeroed() };
        options.struct_size = size_of::<libdl_profiler_options>() as u32;
        if shapes {
            options.recorded |= LIBDL_PROFILER_SHAPES as u32;
        }
        if all_threads {
            options.recorded |= LIBDL_PROFILER_ALL_THREADS as u32;
        }
        unsafe { check(libdl_profiler_start(&options))? };
        Ok(Profiler(PhantomData))
    }

    /// Ends the recording: its events, in the order of their start.
    pub fn stop(self) -> Result<Vec<ProfilerEvent>> {
        let mut events = Vec::new();
        let ctx = std::ptr::addr_of_mut!(events).cast::<c_void>();
        std::mem::forget(self);
        unsafe { check(libdl_profiler_stop(Some(keep), ctx, None))? };
        Ok(events)
    }
}

impl Drop for Profiler {
    fn drop(&mut self) {
        unsafe { libdl_error_release(libdl_profiler_stop(None, null_mut(), None)) };
    }
}

unsafe extern "C" fn keep(ctx: *mut c_void, event: *const libdl_profiler_event) -> *mut libdl_error {
    let events = &mut *ctx.cast::<Vec<ProfilerEvent>>();
    let e = &*event;
    let text = |text: *const c_char| CStr::from_ptr(text).to_string_lossy().into_owned();
    told(move || {
        let shapes = match e.shapes.is_null() {
            true => Vec::new(),
            false => from_raw_parts(e.shapes, e.shape_count as usize).to_vec(),
        };
        events.push(ProfilerEvent {
            name: text(e.name),
            source: (!e.source.is_null()).then(|| text(e.source)),
            range: e.kind == LIBDL_PROFILER_RANGE,
            failed: e.failed != 0,
            phase: e.phase,
            start: e.start,
            end: e.end,
            parent: usize::try_from(e.parent).ok(),
            allocated: e.allocated,
            live: e.live,
            conversions: e.conversions,
            thread: e.thread,
            shapes,
        });
        Ok(())
    })
}

/// Names what its thread does until it is dropped, in a profile if one runs.
#[must_use = "the range ends where this is dropped"]
#[derive(Debug)]
pub struct ProfilerRange(PhantomData<*const ()>);

impl ProfilerRange {
    pub fn new(name: &str) -> Result<ProfilerRange> {
        unsafe { check(libdl_profiler_range_push(name.as_ptr().cast(), name.len() as i64))? };
        Ok(ProfilerRange(PhantomData))
    }
}

impl Drop for ProfilerRange {
    fn drop(&mut self) {
        unsafe { libdl_profiler_range_pop() };
    }
}

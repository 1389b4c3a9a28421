// SPDX-License-Identifier: Apache-2.0
//! The layer between C and a closure: it stops panics, and calls from other threads.
use crate::{Error, ErrorCode, Result};
use libdl_sys::*;
use std::any::Any;
use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The calling thread's number, never reused. It has no destructor, so it is available for the
/// thread's whole life, even while its other thread-locals are destroyed.
fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local!(static NUMBER: Cell<u64> = const { Cell::new(0) });
    NUMBER.with(|number| {
        if number.get() == 0 {
            number.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        number.get()
    })
}

/// A closure that need not be Send: it remembers its thread, refuses to run on another one, and is
/// leaked rather than dropped there. It stays alive while it runs, even if C destroys it meanwhile.
pub(crate) struct Bound<F> {
    thread: u64,
    closure: Rc<F>,
}

impl<F> Bound<F> {
    /// The closure as C's `ctx`, to be released by `destroy`.
    pub fn into_ctx(closure: F) -> *mut c_void {
        let bound = Bound { thread: thread_number(), closure: Rc::new(closure) };
        Box::into_raw(Box::new(bound)).cast()
    }

    pub unsafe extern "C" fn destroy(ctx: *mut c_void) {
        let bound = ctx.cast::<Bound<F>>();
        if (*bound).thread != thread_number() {
            return;
        }
        let bound = Box::from_raw(bound);
        if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(bound))) {
            std::mem::forget(again);
        }
    }

    /// Runs a call with the closure and returns its outcome to C.
    pub unsafe fn call(ctx: *mut c_void, call: impl FnOnce(&F) -> Result<()>) -> *mut libdl_error {
        let bound = &*ctx.cast::<Bound<F>>();
        if bound.thread != thread_number() {
            let told = "a Rust closure is called on the thread that made it only";
            return Error::new(ErrorCode::CALLBACK, told).into_raw();
        }
        let closure = bound.closure.clone();
        told(move || call(&closure))
    }
}

/// Runs Rust code inside a callback: an error is returned unchanged, a panic inside an error.
pub(crate) fn told(call: impl FnOnce() -> Result<()>) -> *mut libdl_error {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => std::ptr::null_mut(),
        Ok(Err(error)) => error.into_raw(),
        Err(panic) => Error::panic(panic).into_raw(),
    }
}

pub(crate) fn text_of(panic: &Box<dyn Any + Send>) -> &str {
    if let Some(text) = panic.downcast_ref::<&'static str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "a value that is no text"
    }
}

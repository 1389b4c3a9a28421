// SPDX-License-Identifier: Apache-2.0
//! What lies between C and a closure: neither a panic nor another thread gets through.
use crate::{Error, ErrorCode, Result};
use libdl_sys::*;
use std::any::Any;
use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The calling thread's number, never used again. It needs no destructor, so it is there as long as
/// the thread, also while the thread's other locals go.
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
/// rather lost than dropped there. While it runs it lives, even if C gives it up meanwhile.
pub(crate) struct Bound<F> {
    thread: u64,
    closure: Rc<F>,
}

impl<F> Bound<F> {
    /// The closure as C's `ctx`, to be given up by `destroy`.
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

    /// Calls with the closure and tells C how that ended.
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

/// Runs Rust inside a callback: an error goes out as itself, a panic inside an error.
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

// SPDX-License-Identifier: Apache-2.0
//! The library itself: version, threads, memory, interruption, and log events.
use crate::error::check;
use crate::{Error, ErrorCode, Result};
use libdl_sys::*;
use std::ffi::{c_void, CStr, CString};
use std::mem::size_of;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

/// The library's version ("0.1.0").
pub fn version() -> &'static str {
    unsafe { CStr::from_ptr(libdl_version_string()) }.to_str().unwrap_or("?")
}

/// Checks that the crate was made for this version of the library; the error names both versions.
pub fn check_abi() -> Result<()> {
    unsafe { check(libdl_check_abi(LIBDL_VERSION_MAJOR, LIBDL_VERSION_MINOR)) }
}

/// Versions, processor, threads and libraries, in lines of "name: value".
pub fn show_config() -> String {
    unsafe { CStr::from_ptr(libdl_show_config()) }.to_string_lossy().into_owned()
}

/// Sets how many threads work on one operator. Results do not depend on it, to the last bit.
pub fn set_threads(threads: i32) -> Result<()> {
    unsafe { check(libdl_set_threads(threads)) }
}

/// How many threads work on one operator.
pub fn threads() -> i32 {
    unsafe { libdl_get_threads() }
}

/// Opens a plugin, by a path or a name: its device can then be used, its kernels from the next call
/// on.
///
/// # Safety
/// The plugin's code runs in this process and may do anything; it must follow the rules in
/// `docs/plugins.md`.
pub unsafe fn open_plugin(library: &str) -> Result<()> {
    let library = text("open_plugin", library)?;
    check(libdl_plugin_open(library.as_ptr()))
}

/// Sets whether a provider's kernels are used, from the next launch on.
pub fn set_provider_enabled(name: &str, enabled: bool) -> Result<()> {
    let name = text("set_provider_enabled", name)?;
    unsafe { check(libdl_provider_set_enabled(name.as_ptr(), enabled as i32)) }
}

fn text(function: &'static str, text: &str) -> Result<CString> {
    let refuse = |_| Error::of(function, ErrorCode::VALUE, "the name contains NUL");
    CString::new(text).map_err(refuse)
}

/// The numbers of live objects in the process, for leak tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Live {
    pub tensors: i64,
    pub storages: i64,
    /// Nodes of histories.
    pub nodes: i64,
    /// Bytes in storages, foreign memory included.
    pub bytes: i64,
}

/// The live objects. Exact if nobody allocates meanwhile.
pub fn live() -> Live {
    let mut live = Live { tensors: 0, storages: 0, nodes: 0, bytes: 0 };
    let Live { tensors, storages, nodes, bytes } = &mut live;
    unsafe { libdl_memory_get_live(tensors, storages, nodes, bytes) };
    live
}

/// Limits the host memory that libdl holds, in bytes; 0: automatic.
pub fn set_memory_limit(bytes: i64) -> Result<()> {
    unsafe { check(libdl_memory_set_limit(bytes)) }
}

/// The limit in bytes; if automatic, its current value.
pub fn memory_limit() -> i64 {
    unsafe { libdl_memory_get_limit() }
}

/// Statistics of the default device's memory: the C struct, whose members `libdl_sys` describes.
pub fn memory_statistics() -> Result<libdl_memory_statistics> {
    // All zeros are a valid value of this C struct.
    let mut told: libdl_memory_statistics = unsafe { std::mem::zeroed() };
    told.struct_size = size_of::<libdl_memory_statistics>() as u32;
    unsafe { check(libdl_memory_get_statistics(null(), &mut told))? };
    Ok(told)
}

/// Ends long operators on all threads: while it is on, they return the error `INTERRUPTED`. It is a
/// switch and not a closure, because a closure would run while an operator is writing.
#[derive(Clone, Debug)]
pub struct Interruption(Arc<AtomicBool>);

impl Interruption {
    /// Adds an interruption to the process, besides those of other languages and libraries.
    pub fn install() -> Result<Interruption> {
        unsafe extern "C" fn ask(ctx: *mut c_void) -> i32 {
            (*ctx.cast::<AtomicBool>()).load(Ordering::Relaxed).into()
        }
        unsafe extern "C" fn destroy(ctx: *mut c_void) {
            drop(Arc::from_raw(ctx.cast::<AtomicBool>()));
        }
        let flag = Arc::new(AtomicBool::new(false));
        let ctx = Arc::into_raw(flag.clone()) as *mut c_void;
        let mut number = 0;
        unsafe { check(libdl_interruption_add(Some(ask), ctx, Some(destroy), &mut number))? };
        Ok(Interruption(flag))
    }

    pub fn set(&self, on: bool) {
        self.0.store(on, Ordering::Relaxed);
    }
}

/// An event in the library that no call returns.
#[derive(Clone, Debug)]
pub struct Event {
    /// A `LIBDL_LOG_` constant of `libdl_sys`.
    pub level: libdl_log_level,
    pub message: String,
}

/// Receives log events from now on, the first of which describe the library's configuration. Events
/// wait in the receiver, because a closure would run in the middle of operators. Each call replaces
/// the previous receiver.
pub fn events() -> Result<Receiver<Event>> {
    type Channel = Mutex<Sender<Event>>;
    unsafe extern "C" fn hear(
        ctx: *mut c_void,
        level: libdl_log_level,
        message: *const c_char,
        length: i64,
    ) {
        let bytes = std::slice::from_raw_parts(message.cast::<u8>(), length as usize);
        let message = String::from_utf8_lossy(bytes).into_owned();
        let channel = (*ctx.cast::<Channel>()).lock().unwrap_or_else(PoisonError::into_inner);
        // Fails if the receiver was dropped; the event is then lost.
        drop(channel.send(Event { level, message }));
    }
    unsafe extern "C" fn destroy(ctx: *mut c_void) {
        drop(Box::from_raw(ctx.cast::<Channel>()));
    }
    let (sender, receiver) = channel();
    let ctx = Box::into_raw(Box::new(Channel::new(sender))).cast();
    unsafe { check(libdl_set_log_handler(Some(hear), ctx, Some(destroy)))? };
    Ok(receiver)
}

/// Stops the delivery of events.
pub fn no_events() -> Result<()> {
    unsafe { check(libdl_set_log_handler(None, null_mut(), None)) }
}

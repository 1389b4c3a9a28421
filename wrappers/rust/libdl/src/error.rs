// SPDX-License-Identifier: Apache-2.0
//! Errors: libdl's error object, which may carry an error or a panic from a Rust callback.
use crate::callback::text_of;
use libdl_sys::*;
use std::any::Any;
use std::ffi::{c_void, CStr};
use std::fmt;
use std::panic::resume_unwind;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// The result of every call that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of error, one of the constants. A newer library may have others.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ErrorCode(pub libdl_error_code);

impl fmt::Debug for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.constant() {
            Some(name) => f.write_str(name),
            None => write!(f, "ErrorCode({})", self.0),
        }
    }
}

/// A failed call: which operator and argument, what was found, what was wanted.
pub struct Error {
    raw: NonNull<libdl_error>,
    function: &'static str, // of this crate, where the error object tells of none; or ""
}

// Every function on errors is "free", and payloads from Rust are Send and Sync.
unsafe impl Send for Error {}
unsafe impl Sync for Error {}

type Panic = Box<dyn Any + Send>;
type HostError = Box<dyn std::error::Error + Send + Sync>;

/// The payload of an error object that Rust made.
enum Payload {
    Panic(Mutex<Option<Panic>>),
    Host(HostError),
}

/// Addresses of all live payloads. Other code in the process also makes errors with payloads; only
/// an address found here is ours.
static PAYLOADS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

fn payloads() -> std::sync::MutexGuard<'static, Vec<usize>> {
    PAYLOADS.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" fn destroy_payload(payload: *mut c_void) {
    payloads().retain(|&ours| ours != payload as usize);
    let payload = Box::from_raw(payload.cast::<Payload>());
    // A destructor that panics must not unwind into C.
    if let Err(again) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
}

fn with_payload(code: libdl_error_code, message: &str, payload: Option<Payload>) -> Error {
    let (ctx, destroy): (*mut c_void, Option<unsafe extern "C" fn(*mut c_void)>) = match payload {
        Some(payload) => {
            let ctx = Box::into_raw(Box::new(payload));
            payloads().push(ctx as usize);
            (ctx.cast(), Some(destroy_payload))
        }
        None => (std::ptr::null_mut(), None),
    };
    unsafe {
        let bytes = message.as_ptr().cast();
        Error::from_raw(libdl_error_new(code, bytes, message.len() as i64, ctx, destroy))
    }
}

impl Error {
    /// A new error, for callbacks to return.
    pub fn new(code: ErrorCode, message: &str) -> Error {
        with_payload(code.0, message, None)
    }

    /// Of this crate's function; the message begins with its name.
    pub(crate) fn of(function: &'static str, code: ErrorCode, told: &str) -> Error {
        let error = Error::new(code, &format!("{function}: {told}"));
        Error { raw: error.keep(), function }
    }

    /// Carries an error of the host program through the library; `source` returns it.
    pub fn host(error: impl std::error::Error + Send + Sync + 'static) -> Error {
        let text = error.to_string();
        with_payload(LIBDL_ERROR_CALLBACK, &text, Some(Payload::Host(Box::new(error))))
    }

    /// Carries a panic, which resumes where the error returns to Rust.
    pub(crate) fn panic(panic: Panic) -> Error {
        let text = format!("a Rust callback panicked: {}", text_of(&panic));
        let payload = Payload::Panic(Mutex::new(Some(panic)));
        with_payload(LIBDL_ERROR_CALLBACK, &text, Some(payload))
    }

    /// # Safety
    /// `error` is an error object, and this takes over the caller's reference.
    pub unsafe fn from_raw(error: *mut libdl_error) -> Error {
        Error { raw: NonNull::new(error).expect("an error object"), function: "" }
    }

    /// The reference, for C. The receiver releases it.
    pub fn into_raw(self) -> *mut libdl_error {
        self.keep().as_ptr()
    }

    fn keep(self) -> NonNull<libdl_error> {
        let raw = self.raw;
        std::mem::forget(self);
        raw
    }

    fn text(&self, get: unsafe extern "C" fn(*const libdl_error) -> *const c_char) -> &str {
        unsafe { CStr::from_ptr(get(self.raw.as_ptr())) }.to_str().unwrap_or("?")
    }

    pub fn code(&self) -> ErrorCode {
        ErrorCode(unsafe { libdl_error_get_code(self.raw.as_ptr()) })
    }

    /// The complete message.
    pub fn message(&self) -> &str {
        self.text(libdl_error_get_message)
    }

    /// The operator or function that failed ("add"), or "".
    pub fn operator(&self) -> &str {
        match self.function {
            "" => self.text(libdl_error_get_operator),
            function => function,
        }
    }

    /// The failing argument's number as in C, counted from 1; `self` of a method counts, too.
    pub fn argument(&self) -> Option<u32> {
        let number = unsafe { libdl_error_get_argument(self.raw.as_ptr()) };
        u32::try_from(number).ok().filter(|&n| n > 0)
    }

    /// The failing argument's name ("other"), or "".
    pub fn argument_name(&self) -> &str {
        self.text(libdl_error_get_argument_name)
    }

    pub fn found(&self) -> &str {
        self.text(libdl_error_get_found)
    }

    pub fn wanted(&self) -> &str {
        self.text(libdl_error_get_wanted)
    }

    /// The error that caused this one.
    pub fn cause(&self) -> Option<Error> {
        let cause = unsafe { libdl_error_get_cause(self.raw.as_ptr()) };
        let cause = unsafe { libdl_error_retain(cause as *mut libdl_error) };
        NonNull::new(cause).map(|raw| Error { raw, function: "" })
    }

    fn payload(&self) -> Option<&Payload> {
        let payload = unsafe { libdl_error_get_payload(self.raw.as_ptr()) };
        let ours = !payload.is_null() && payloads().contains(&(payload as usize));
        // The error holds its payload, and this borrows the error.
        ours.then(|| unsafe { &*payload.cast::<Payload>() })
    }

    fn take_panic(&self) -> Option<Panic> {
        match self.payload() {
            Some(Payload::Panic(panic)) => {
                panic.lock().unwrap_or_else(PoisonError::into_inner).take()
            }
            _ => None,
        }
    }
}

/// Success, or the error; a panic that it carries resumes here.
///
/// # Safety
/// `error` is NULL, or an error object that belongs to the caller.
#[inline]
pub(crate) unsafe fn check(error: *mut libdl_error) -> Result<()> {
    if error.is_null() {
        return Ok(());
    }
    failed(error)
}

#[cold]
unsafe fn failed(error: *mut libdl_error) -> Result<()> {
    let error = Error::from_raw(error);
    if let Some(panic) = error.take_panic() {
        drop(error);
        resume_unwind(panic);
    }
    Err(error)
}

impl Clone for Error {
    fn clone(&self) -> Error {
        let again = unsafe { Error::from_raw(libdl_error_retain(self.raw.as_ptr())) };
        Error { raw: again.keep(), function: self.function }
    }
}

impl Drop for Error {
    fn drop(&mut self) {
        unsafe { libdl_error_release(self.raw.as_ptr()) }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.code(), self.message())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for Error {
    /// The host program's error that this one carries.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Some(Payload::Host(error)) = self.payload() {
            return Some(error.as_ref());
        }
        None
    }
}

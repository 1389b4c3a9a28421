// SPDX-License-Identifier: Apache-2.0
//! Passing of Rust's arguments to C.
pub(crate) use crate::error::check;
pub(crate) use crate::operand::Given;
use crate::Tensor;
use libdl_sys::*;
use std::borrow::Borrow;
use std::ptr::null;

pub(crate) fn optional<T>(x: Option<&T>) -> *const T {
    x.map_or(null(), |x| x)
}

pub(crate) fn optional_list(x: Option<&[i64]>) -> *const i64 {
    x.map_or(null(), <[i64]>::as_ptr)
}

/// A length for C; one that does not fit becomes -1, which the library refuses.
pub(crate) fn count(x: &[i64]) -> i32 {
    i32::try_from(x.len()).unwrap_or(-1)
}

pub(crate) fn text(x: Option<&str>) -> *const c_char {
    x.map_or(null(), |x| x.as_ptr().cast())
}

pub(crate) fn pointers(tensors: &[impl Borrow<Tensor>]) -> Vec<*const libdl_tensor> {
    tensors.iter().map(|t| t.borrow().as_ptr()).collect()
}

pub(crate) fn optional_pointers(tensors: &[Option<&Tensor>]) -> Vec<*const libdl_tensor> {
    tensors.iter().map(|t| Tensor::option_ptr(*t)).collect()
}

/// # Safety
/// `list` is a list of tensors, and the caller's.
pub(crate) unsafe fn take_list(list: *mut libdl_tensor_list) -> Vec<Tensor> {
    let taken = take_optional_list(list).into_iter().flatten().collect();
    taken
}

/// # Safety
/// `list` is a list of tensors, and the caller's.
pub(crate) unsafe fn take_optional_list(list: *mut libdl_tensor_list) -> Vec<Option<Tensor>> {
    let entries = 0..libdl_tensor_list_count(list);
    let taken = entries.map(|i| Tensor::option_from_raw(libdl_tensor_list_get(list, i))).collect();
    libdl_tensor_list_release(list);
    taken
}

// SPDX-License-Identifier: Apache-2.0
//! The tensor handle and its properties.
use crate::error::check;
use crate::{Device, Dtype, Result};
use libdl_sys::*;
use std::fmt;
use std::ptr::{null, null_mut, NonNull};

/// A tensor: a counted reference to elements and history. `clone` is one more reference to the
/// same tensor (as with `Rc`); [`duplicate`](Tensor::duplicate) copies the elements.
/// Methods that end in `_` write through a shared reference, as a `Cell` does, and views share
/// their elements; therefore a tensor stays on its thread. [`Frozen`](crate::Frozen) tensors can be
/// sent to others.
///
/// ```compile_fail
/// fn needs_send<T: Send>(_: T) {}
/// needs_send(libdl::zeros(&[1]).unwrap());
/// ```
/// ```compile_fail
/// fn needs_sync<T: Sync>(_: T) {}
/// needs_sync(libdl::zeros(&[1]).unwrap());
/// ```
#[repr(transparent)]
pub struct Tensor(NonNull<libdl_tensor>);

impl Tensor {
    /// # Safety
    /// `tensor` is a tensor's handle, and this takes over the caller's reference. No other thread
    /// uses the tensor, or one that shares its memory, while Rust does.
    pub unsafe fn from_raw(tensor: *mut libdl_tensor) -> Tensor {
        debug_assert!(!tensor.is_null());
        Tensor(NonNull::new_unchecked(tensor))
    }

    pub(crate) unsafe fn option_from_raw(tensor: *mut libdl_tensor) -> Option<Tensor> {
        NonNull::new(tensor).map(Tensor)
    }

    /// The handle, which still belongs to Rust.
    #[inline]
    pub fn as_ptr(&self) -> *const libdl_tensor {
        self.0.as_ptr()
    }

    #[inline]
    pub(crate) fn as_mut_ptr(&self) -> *mut libdl_tensor {
        self.0.as_ptr()
    }

    #[inline]
    pub(crate) fn option_ptr(x: Option<&Tensor>) -> *const libdl_tensor {
        x.map_or(null(), Tensor::as_ptr)
    }

    #[inline]
    pub(crate) fn option_mut_ptr(x: Option<&Tensor>) -> *mut libdl_tensor {
        x.map_or(null_mut(), Tensor::as_mut_ptr)
    }

    /// The handle, together with Rust's reference.
    pub fn into_raw(self) -> *mut libdl_tensor {
        let tensor = self.0.as_ptr();
        std::mem::forget(self);
        tensor
    }

    /// The number of dimensions.
    pub fn ndim(&self) -> usize {
        unsafe { libdl_tensor_ndim(self.as_ptr()) as usize }
    }

    /// The sizes. Nothing in this crate changes those of an existing handle.
    pub fn shape(&self) -> &[i64] {
        unsafe { self.list(libdl_tensor_shape(self.as_ptr())) }
    }

    /// The strides: the distance between neighbours along each dimension, in elements.
    pub fn strides(&self) -> &[i64] {
        unsafe { self.list(libdl_tensor_strides(self.as_ptr())) }
    }

    unsafe fn list(&self, first: *const i64) -> &[i64] {
        match self.ndim() {
            0 => &[],
            n => std::slice::from_raw_parts(first, n),
        }
    }

    /// The number of elements.
    pub fn numel(&self) -> usize {
        unsafe { libdl_tensor_numel(self.as_ptr()) as usize }
    }

    pub fn dtype(&self) -> Dtype {
        Dtype(unsafe { libdl_tensor_dtype(self.as_ptr()) })
    }

    pub fn device(&self) -> Device {
        Device::from_c(unsafe { libdl_tensor_device(self.as_ptr()) })
    }

    /// Whether the tensor is row-major without gaps.
    pub fn is_contiguous(&self) -> bool {
        unsafe { libdl_tensor_is_contiguous(self.as_ptr()) != 0 }
    }

    /// Whether it holds few rows and is 0 in all others.
    pub fn is_sparse(&self) -> bool {
        unsafe { libdl_tensor_is_sparse(self.as_ptr()) != 0 }
    }

    /// Whether the elements are in pinned memory of the host.
    pub fn is_pinned(&self) -> bool {
        unsafe { libdl_tensor_is_pinned(self.as_ptr()) != 0 }
    }

    /// Whether the memory is read-only.
    pub fn is_read_only(&self) -> bool {
        unsafe { libdl_tensor_is_read_only(self.as_ptr()) != 0 }
    }

    /// How often the storage has been written; shared by views.
    pub fn version(&self) -> u64 {
        unsafe { libdl_tensor_version(self.as_ptr()) }
    }

    /// A number that identifies the storage during its lifetime.
    pub fn storage_id(&self) -> u64 {
        unsafe { libdl_tensor_storage_id(self.as_ptr()) }
    }

    /// Whether it is a view of another tensor.
    pub fn is_view(&self) -> bool {
        let base = unsafe { Tensor::option_from_raw(libdl_tensor_base(self.as_ptr())) };
        base.is_some()
    }

    fn written(&self) -> Result<String> {
        let mut text = null_mut();
        unsafe {
            check(libdl_tensor_to_string(self.as_ptr(), null(), &mut text))?;
            let bytes = libdl_text_data(text).cast::<u8>();
            let length = libdl_text_length(text) as usize;
            let bytes = std::slice::from_raw_parts(bytes, length);
            let written = String::from_utf8_lossy(bytes).into_owned();
            libdl_text_release(text);
            Ok(written)
        }
    }
}

impl Clone for Tensor {
    /// One more reference to the same tensor.
    #[inline]
    fn clone(&self) -> Tensor {
        unsafe { Tensor::from_raw(libdl_tensor_retain(self.as_mut_ptr())) }
    }
}

impl Drop for Tensor {
    #[inline]
    fn drop(&mut self) {
        unsafe { libdl_tensor_release(self.as_mut_ptr()) }
    }
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.written() {
            Ok(text) => f.write_str(&text),
            Err(error) => write!(f, "tensor({error})"),
        }
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

// SPDX-License-Identifier: Apache-2.0
//! DLPack exchange, with the struct as an opaque pointer.
use crate::error::check;
use crate::{Result, Tensor};
use libdl_sys::*;
use std::mem::size_of;
use std::ptr::{null_mut, NonNull};

/// Whether an exchange may copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyPolicy {
    IfNeeded,
    Always,
    Never,
}

impl CopyPolicy {
    fn code(self) -> libdl_copy_policy {
        match self {
            CopyPolicy::IfNeeded => LIBDL_COPY_IF_NEEDED,
            CopyPolicy::Always => LIBDL_COPY_ALWAYS,
            CopyPolicy::Never => LIBDL_COPY_NEVER,
        }
    }
}

impl Tensor {
    /// Exports the tensor by DLPack 1, without its history. The receiver of the struct must call
    /// its deleter once, or the memory is leaked. Rust cannot check writes through the struct: they
    /// may happen only on this thread, and not while a `Map` or `MapMut` of the elements is open.
    pub fn to_dlpack(&self, copy: CopyPolicy) -> Result<NonNull<DLManagedTensorVersioned>> {
        // All zeros are a valid value of this C struct, and its defaults.
        let mut options: libdl_dlpack_options = unsafe { std::mem::zeroed() };
        options.struct_size = size_of::<libdl_dlpack_options>() as u32;
        options.copy = copy.code();
        options.detach = 1;
        let mut out = null_mut();
        unsafe {
            check(libdl_tensor_to_dlpack(self.as_ptr(), &options, &mut out))?;
            Ok(NonNull::new_unchecked(out))
        }
    }

    /// A tensor over another library's memory. The struct's deleter runs once, also on failure.
    ///
    /// # Safety
    /// The struct is valid and belongs to the caller; no other thread writes to its memory while
    /// Rust uses it; the deleter may be called on any thread.
    pub unsafe fn from_dlpack(
        managed: NonNull<DLManagedTensorVersioned>,
        copy: CopyPolicy,
    ) -> Result<Tensor> {
        let mut out = null_mut();
        check(libdl_tensor_from_dlpack(managed.as_ptr(), copy.code(), &mut out))?;
        Ok(Tensor::from_raw(out))
    }
}

// SPDX-License-Identifier: Apache-2.0
//! DLPack's struct as a bare pointer: the crate knows its name only.
use crate::error::check;
use crate::{Result, Tensor};
use libdl_sys::*;
use std::mem::size_of;
use std::ptr::{null_mut, NonNull};

/// What an exchange may copy.
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
    /// Exports the tensor by DLPack 1, without its history. Whoever gets the struct calls its
    /// deleter once; with nobody it is lost memory. What is written through it, is written beside
    /// Rust: only on this thread, and not while a window on the elements is open.
    pub fn to_dlpack(&self, copy: CopyPolicy) -> Result<NonNull<DLManagedTensorVersioned>> {
        // All of C's zeros are values of this struct, and its defaults.
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

    /// A tensor over the memory of another library. Its deleter runs once, also on failure.
    ///
    /// # Safety
    /// The struct is whole and the caller's to give; nobody writes to its memory from another
    /// thread while Rust uses it; the deleter may be called on any thread.
    pub unsafe fn from_dlpack(
        managed: NonNull<DLManagedTensorVersioned>,
        copy: CopyPolicy,
    ) -> Result<Tensor> {
        let mut out = null_mut();
        check(libdl_tensor_from_dlpack(managed.as_ptr(), copy.code(), &mut out))?;
        Ok(Tensor::from_raw(out))
    }
}

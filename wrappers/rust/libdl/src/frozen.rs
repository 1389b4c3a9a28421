// SPDX-License-Identifier: Apache-2.0
//! Immutable tensors that threads can share.
use crate::data::over_vec;
use crate::error::check;
use crate::{Dtype, Element, Error, ErrorCode, Plain, Result, Tensor};
use libdl_sys::*;
use std::ptr::null_mut;

/// Elements that never change: `Send` and `Sync`.
/// The memory belongs to the frozen tensor and is read-only for the library, so that writing to it
/// through any alias gives the error `READ_ONLY`. The mutable properties of a handle (its gradient,
/// whether it requires one) are not shared either: [`tensor`](Frozen::tensor) gives each thread a
/// handle of its own.
///
/// ```
/// let weights = libdl::Frozen::from_vec(vec![1.0f32, 2.0], &[2])?;
/// let sum = std::thread::spawn(move || weights.tensor()?.sum()?.item_f64()).join().unwrap()?;
/// assert_eq!(sum, 3.0);
/// # Ok::<(), libdl::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Frozen(Tensor);

// The handle is never given out, all functions called with it are "free" or "concurrent-read", and
// nothing writes to its storage. Retain and release are "free".
unsafe impl Send for Frozen {}
unsafe impl Sync for Frozen {}

impl Frozen {
    /// A frozen tensor over the vector's memory, without a copy.
    pub fn from_vec<T: Element>(elements: Vec<T>, shape: &[i64]) -> Result<Frozen> {
        Ok(Frozen(over_vec(elements, shape, true)?))
    }

    /// `tensor` is the only handle, its storage is read-only, and nobody else writes to the memory.
    pub(crate) unsafe fn trust(tensor: Tensor) -> Frozen {
        Frozen(tensor)
    }

    /// A tensor over the same memory for the calling thread, without history. Operators that would
    /// write to it fail; [`duplicate`](Tensor::duplicate) makes one that can be written.
    pub fn tensor(&self) -> Result<Tensor> {
        self.0.detach()
    }

    pub fn shape(&self) -> &[i64] {
        self.0.shape()
    }

    pub fn dtype(&self) -> Dtype {
        self.0.dtype()
    }

    pub fn numel(&self) -> usize {
        self.0.numel()
    }

    /// The elements in row-major order.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.0.to_vec()
    }

    /// The elements themselves; the tensor must be contiguous.
    pub fn as_slice<T: Plain>(&self) -> Result<&[T]> {
        self.0.expect_dtype::<T>("as_slice")?;
        if !self.0.is_contiguous() {
            return Err(Error::of(
                "as_slice",
                ErrorCode::VALUE,
                "the tensor is not contiguous, wanted a contiguous one",
            ));
        }
        let mut data = null_mut();
        unsafe {
            check(libdl_tensor_data(self.0.as_ptr(), LIBDL_ACCESS_READ, &mut data))?;
            match self.numel() {
                0 => Ok(&[]),
                n => Ok(std::slice::from_raw_parts(data.cast(), n)),
            }
        }
    }
}

impl Tensor {
    /// A frozen copy of the elements. It must be a copy, because other tensors may share this one's
    /// memory.
    pub fn freeze(&self) -> Result<Frozen> {
        fn copy<T: Element>(tensor: &Tensor) -> Result<Frozen> {
            Frozen::from_vec(T::read(tensor)?, tensor.shape())
        }
        use crate::{BFloat16, Complex, Float16};
        match self.dtype() {
            Dtype::BOOL => copy::<bool>(self),
            Dtype::UINT8 => copy::<u8>(self),
            Dtype::UINT16 => copy::<u16>(self),
            Dtype::UINT32 => copy::<u32>(self),
            Dtype::UINT64 => copy::<u64>(self),
            Dtype::INT8 => copy::<i8>(self),
            Dtype::INT16 => copy::<i16>(self),
            Dtype::INT32 => copy::<i32>(self),
            Dtype::INT64 => copy::<i64>(self),
            Dtype::FLOAT16 => copy::<Float16>(self),
            Dtype::BFLOAT16 => copy::<BFloat16>(self),
            Dtype::FLOAT32 => copy::<f32>(self),
            Dtype::FLOAT64 => copy::<f64>(self),
            Dtype::COMPLEX64 => copy::<Complex<f32>>(self),
            Dtype::COMPLEX128 => copy::<Complex<f64>>(self),
            other => {
                let told = format!("Rust has no element type for {}", other.name());
                Err(Error::of("freeze", ErrorCode::DTYPE, &told))
            }
        }
    }
}

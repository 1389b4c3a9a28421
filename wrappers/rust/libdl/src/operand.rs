// SPDX-License-Identifier: Apache-2.0
//! Operands: tensors, or host numbers.
use crate::error::check;
use crate::{Complex, Result, Tensor};
use libdl_sys::*;
use std::ptr::{null, null_mut};

/// A tensor or a number. A number is weakest in type promotion: only its kind counts.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    Tensor(&'a Tensor),
    F64(f64),
    I64(i64),
    Bool(bool),
    C128(Complex<f64>),
}

impl<'a> From<&'a Tensor> for Operand<'a> {
    fn from(x: &'a Tensor) -> Self {
        Operand::Tensor(x)
    }
}

macro_rules! numbers {
    ($($kind:ident: $($from:ty)*;)*) => {$($(
        impl From<$from> for Operand<'_> {
            fn from(x: $from) -> Self {
                Operand::$kind(x.into())
            }
        }
    )*)*};
}
numbers!(F64: f32 f64; I64: i8 i16 i32 i64 u8 u16 u32; Bool: bool; C128: Complex<f64>;);

/// An operand during a call: a number becomes a handle for the duration of the call.
pub(crate) struct Given {
    tensor: *const libdl_tensor,
    number: *mut libdl_tensor,
}

impl Given {
    #[inline]
    pub fn new(operand: Operand<'_>) -> Result<Given> {
        let mut number = null_mut();
        unsafe {
            check(match operand {
                Operand::Tensor(x) => return Ok(Given { tensor: x.as_ptr(), number }),
                Operand::F64(x) => libdl_number_f64(x, &mut number),
                Operand::I64(x) => libdl_number_i64(x, &mut number),
                Operand::Bool(x) => libdl_number_bool(x.into(), &mut number),
                Operand::C128(x) => libdl_number_c128(x.re, x.im, &mut number),
            })?;
        }
        Ok(Given { tensor: number, number })
    }

    #[inline]
    pub fn option(operand: Option<Operand<'_>>) -> Result<Given> {
        match operand {
            Some(operand) => Given::new(operand),
            None => Ok(Given { tensor: null(), number: null_mut() }),
        }
    }

    pub fn as_ptr(&self) -> *const libdl_tensor {
        self.tensor
    }
}

impl Drop for Given {
    #[inline]
    fn drop(&mut self) {
        if !self.number.is_null() {
            unsafe { libdl_tensor_release(self.number) }
        }
    }
}

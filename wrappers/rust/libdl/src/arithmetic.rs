// SPDX-License-Identifier: Apache-2.0
//! Rust's own operators. They cannot return errors, so they panic where the corresponding methods
//! return one.
use crate::error::check;
use crate::{Operand, Result, Tensor};
use libdl_sys::libdl_number_f64;
use std::ops;

#[track_caller]
fn or_panic<T>(result: Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

macro_rules! binary {
    ($($trait:ident $name:ident $method:ident,
       $assign_trait:ident $assign:ident $inplace:ident;)*) => {$(
        impl<'a, T: Into<Operand<'a>>> ops::$trait<T> for &Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $name(self, other: T) -> Tensor {
                or_panic(Tensor::$method(self, other))
            }
        }
        impl<'a, T: Into<Operand<'a>>> ops::$trait<T> for Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $name(self, other: T) -> Tensor {
                or_panic(Tensor::$method(&self, other))
            }
        }
        impl ops::$trait<Tensor> for Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $name(self, other: Tensor) -> Tensor {
                or_panic(Tensor::$method(&self, &other))
            }
        }
        impl ops::$trait<Tensor> for &Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $name(self, other: Tensor) -> Tensor {
                or_panic(Tensor::$method(self, &other))
            }
        }
        /// In place: visible through every reference to the tensor and every view of it.
        impl<'a, T: Into<Operand<'a>>> ops::$assign_trait<T> for Tensor {
            #[track_caller]
            fn $assign(&mut self, other: T) {
                or_panic(Tensor::$inplace(self, other))
            }
        }
    )*};
}
binary!(
    Add add add, AddAssign add_assign add_;
    Sub sub sub, SubAssign sub_assign sub_;
    Mul mul mul, MulAssign mul_assign mul_;
    Div div div, DivAssign div_assign div_;
    Rem rem remainder, RemAssign rem_assign remainder_;
    BitAnd bitand bitwise_and, BitAndAssign bitand_assign bitwise_and_;
    BitOr bitor bitwise_or, BitOrAssign bitor_assign bitwise_or_;
    BitXor bitxor bitwise_xor, BitXorAssign bitxor_assign bitwise_xor_;
);

macro_rules! unary {
    ($($trait:ident $name:ident $method:ident;)*) => {$(
        impl ops::$trait for &Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $name(self) -> Tensor {
                or_panic(Tensor::$method(self))
            }
        }
        impl ops::$trait for Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $name(self) -> Tensor {
                or_panic(Tensor::$method(&self))
            }
        }
    )*};
}
unary!(Neg neg neg; Not not bitwise_not;);

macro_rules! number_first {
    ($($trait:ident $name:ident $method:ident;)*) => {$(
        impl ops::$trait<&Tensor> for f64 {
            type Output = Tensor;
            #[track_caller]
            fn $name(self, other: &Tensor) -> Tensor {
                or_panic(number(self).and_then(|x| Tensor::$method(&x, other)))
            }
        }
        impl ops::$trait<Tensor> for f64 {
            type Output = Tensor;
            #[track_caller]
            fn $name(self, other: Tensor) -> Tensor {
                self.$name(&other)
            }
        }
    )*};
}
number_first!(Add add add; Sub sub sub; Mul mul mul; Div div div;);

/// A host number as a tensor, so that methods can be called on it.
fn number(x: f64) -> Result<Tensor> {
    let mut out = std::ptr::null_mut();
    unsafe {
        check(libdl_number_f64(x, &mut out))?;
        Ok(Tensor::from_raw(out))
    }
}

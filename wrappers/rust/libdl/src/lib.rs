// SPDX-License-Identifier: Apache-2.0
//! Tensors, automatic differentiation and optimizers: the C library libdl in Rust.
//!
//! ```
//! use libdl::Tensor;
//!
//! let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0], &[3])?;
//! x.set_requires_grad(true)?;
//! let y = (&x * &x).sum()?;
//! y.backward()?;
//! assert_eq!(x.grad().unwrap().to_vec::<f32>()?, [2.0, 4.0, 6.0]);
//! # Ok::<(), libdl::Error>(())
//! ```
//!
//! # Names
//! An operator whose first tensor is `input` is a method of [`Tensor`]; all others are functions.
//! Each has up to five forms:
//!
//! | | |
//! |---|---|
//! | `x.add(&y)` | required arguments; the others are absent, or have Python's defaults |
//! | `x.add_with(&y, Some(2.into()))` | all arguments, with `Option` for those that may be absent |
//! | `x.add_(&y)`, `x.add_with_(..)` | in place |
//! | `x.add_into(&y, None, &dst)` | into an existing tensor |
//!
//! Where a number may be given instead of a tensor, the parameter is `impl Into<Operand>`:
//! `x.mul(2.0)`. Rust's operators `+ - * / % & | ^ !` do the same as the methods, but panic where a
//! method returns an error. The operator that copies a tensor is [`duplicate`](Tensor::duplicate);
//! `clone` makes one more reference, as is usual in Rust.
//!
//! # Soundness
//! Safe code cannot access memory that does not belong to a live tensor, and cannot race. Why:
//!
//! * *Memory.* The library checks every argument, indices included, before it writes, and counts
//!   references; a handle of this crate is one reference, never empty. What the library returns as
//!   "borrowed" is copied, or borrows the handle. Shapes and strides may be borrowed, because
//!   functions that change those of an existing handle (`libdl_tensor_set_data`, scopes) are not
//!   offered.
//! * *Threads.* [`Tensor`] is neither `Send` nor `Sync`: all aliases of its memory, its history and
//!   the closures in the history are on one thread. While an operator runs, the library's own
//!   threads may write, but the calling thread is inside the call, so no Rust code of the user
//!   runs. For this reason interruption is a switch, events arrive in a channel, and C's callbacks
//!   for memory and executors are left to `libdl_sys`. Hooks and custom functions run between
//!   operators. Transfers between devices are complete when their call returns.
//! * *[`Frozen`]* is `Send` and `Sync`: its memory is read-only for the library, its handle is
//!   never given out, and each thread computes with an alias of its own. `Generator`, `File` and
//!   `Error` are both, because the headers declare all their functions as "free".
//! * *Aliases.* In-place methods take `&self`, so there is no `&[T]` into a [`Tensor`]:
//!   [`Map`] gives elements by value, [`MapMut`] is a slice of `Cell`s. `Frozen` gives `&[T]`.
//!   `bool` elements are made from bytes of any value.
//! * *Contents.* A tensor from `empty` holds whatever its memory held before: bytes that foreign
//!   code wrote, all of which are valid values of a [`Plain`] type.
//! * *Closures* given to the library remember their thread: a call on another thread is an error,
//!   and a closure dropped there is leaked. A closure stays alive while it runs. A panic is caught,
//!   passes through the library inside the error object, and resumes where the error returns to
//!   Rust. A list of this crate's own payloads distinguishes them from those of other languages.
//! * *Structs* of C are compared with the ABI's list of sizes and offsets by a test.
//!
//! What the compiler cannot check is `unsafe`: foreign handles and DLPack structs, and files that
//! are mapped instead of read.

mod arithmetic;
mod autograd;
mod callback;
mod constants;
mod data;
mod dtype;
mod error;
mod exchange;
mod file;
mod frozen;
mod function;
mod generator;
mod operand;
mod ops;
pub mod optim;
mod optimizers;
mod pass;
mod profiler;
mod system;
mod tensor;

pub use autograd::*;
pub use data::{BFloat16, Complex, Element, Float16, Map, MapMut, Plain};
pub use dtype::{default_dtype, set_default_dtype, trim, Device, DeviceProperties, Dtype};
pub use error::{Error, ErrorCode, Result};
pub use exchange::CopyPolicy;
pub use file::{save, save_with, File};
pub use frozen::Frozen;
pub use function::*;
pub use generator::{manual_seed, Generator, GeneratorState};
pub use operand::Operand;
pub use optim::{Adam, Sgd};
pub use ops::*;
pub use profiler::{Profiler, ProfilerEvent, ProfilerRange};
pub use system::*;
pub use tensor::Tensor;

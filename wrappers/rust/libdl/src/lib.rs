// SPDX-License-Identifier: Apache-2.0
//! Tensors, automatic differentiation and optimizers: libdl's C library in Rust.
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
//!
//! An operator whose first tensor is `input` is a method of [`Tensor`], every other a function.
//! Each has up to five forms:
//!
//! | | |
//! |---|---|
//! | `x.add(&y)` | what must be given; the rest is absent, or Python's default |
//! | `x.add_with(&y, Some(2.into()))` | all arguments, `Option` where one may be absent |
//! | `x.add_(&y)`, `x.add_with_(..)` | in place |
//! | `x.add_into(&y, None, &dst)` | into a tensor that exists |
//!
//! Where a number may stand for a tensor, `impl Into<Operand>` takes both: `x.mul(2.0)`. Rust's
//! `+ - * / % & | ^ !` do the same and panic where a method returns an error. The operator that
//! copies a tensor is [`duplicate`](Tensor::duplicate), for `clone` is Rust's word for one more
//! reference.
//!
//! # Soundness
//!
//! Safe code can neither read nor write memory that is not a live tensor's, nor race. Why:
//!
//! * *Memory.* The library checks every argument, indices included, before it writes, and counts
//!   references; a handle of this crate is one reference, never empty. What the library gives
//!   "borrowed" is copied, or borrows the handle. Shapes and strides may be borrowed, for what
//!   changes those of a handle that exists (`libdl_tensor_set_data`, scopes) is not offered.
//! * *Threads.* [`Tensor`] is neither `Send` nor `Sync`: every alias of its memory, its history and
//!   the closures in that are on one thread. During an operator the library's own threads write,
//!   and the calling thread is inside the call: no Rust of the user's runs then. Therefore
//!   interruption is a switch and events are a channel, and the callbacks that C has for memory and
//!   executors are left to `libdl_sys`. Hooks and custom functions run between operators. Transfers
//!   between devices are done when their call returns.
//! * *[`Frozen`]* is `Send` and `Sync`: its memory is read-only for the library, its handle is
//!   never given out, and each thread computes with an alias of its own. `Generator`, `File` and
//!   `Error` are both, as all their functions are "free" in the headers' words.
//! * *Aliases.* In-place methods take `&self`, so there is no `&[T]` into a [`Tensor`]:
//!   [`Map`] gives elements by value, [`MapMut`] is a slice of `Cell`s. `Frozen` gives `&[T]`.
//!   `bool` elements are made from bytes, whatever these are.
//! * *Contents.* What `empty` gives holds whatever the memory held: bytes that foreign code wrote,
//!   any of which make a value of a [`Plain`] type.
//! * *Closures* given to the library know their thread: called on another one they are an error,
//!   dropped there they are leaked. They stay alive while they run. A panic is caught, goes through
//!   the library inside the error object, and goes on where the error comes out into Rust. The
//!   error objects of other languages are told apart by a list of the payloads that are ours.
//! * *Structs* of C are compared with the ABI's own list of sizes and offsets by a test.
//!
//! What the compiler cannot check is `unsafe`: handles and DLPack structs from elsewhere, and files
//! that are mapped instead of read.

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
mod pass;
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
pub use system::*;
pub use tensor::Tensor;

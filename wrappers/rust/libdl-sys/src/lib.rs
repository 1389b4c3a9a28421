// SPDX-License-Identifier: Apache-2.0
//! Every declaration of libdl's public headers. Constants are integers, for a library newer than
//! the crate may answer with numbers that it does not know. The crate `libdl` is the safe one.
#![no_std]
#![allow(non_camel_case_types)]
#![allow(rustdoc::broken_intra_doc_links, rustdoc::invalid_html_tags)]

use core::ffi::c_void;
use core::marker::{PhantomData, PhantomPinned};

/// C's `char`, as on the platforms that libdl supports.
pub type c_char = i8;

include!("generated.rs");

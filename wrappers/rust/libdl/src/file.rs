// SPDX-License-Identifier: Apache-2.0
//! Tensors in safetensors files.
use crate::error::check;
use crate::pass::pointers;
use crate::{Dtype, Error, ErrorCode, Frozen, Result, Tensor};
use libdl_sys::*;
use std::borrow::Borrow;
use std::ffi::{c_void, CString};
use std::mem::size_of;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{null, null_mut, NonNull};

/// An open safetensors file.
#[derive(Debug)]
pub struct File {
    file: NonNull<libdl_file>,
    shared: bool,
}

// Every function on files is "free".
unsafe impl Send for File {}
unsafe impl Sync for File {}

fn options(share: bool) -> libdl_file_options {
    let struct_size = size_of::<libdl_file_options>() as u32;
    libdl_file_options { struct_size, share: share.into() }
}

impl File {
    /// Opens a file; its tensors are copies.
    pub fn open(path: impl AsRef<Path>) -> Result<File> {
        File::open_with(path.as_ref(), false)
    }

    /// Opens a file; its tensors are read-only views of the mapped file.
    ///
    /// # Safety
    /// Nobody changes the file while one of its tensors is alive: elements that Rust takes as
    /// constant would change, and reading past the end of a file that has shrunk ends the process.
    pub unsafe fn open_shared(path: impl AsRef<Path>) -> Result<File> {
        File::open_with(path.as_ref(), true)
    }

    fn open_with(path: &Path, shared: bool) -> Result<File> {
        let path = path.as_os_str().as_bytes();
        let mut out = null_mut();
        unsafe {
            let (text, length) = (path.as_ptr().cast(), path.len() as i64);
            check(libdl_file_open(text, length, &options(shared), &mut out))?;
            Ok(File { file: NonNull::new_unchecked(out), shared })
        }
    }

    /// A file in memory; its tensors are read-only views of the memory, or copies if elements are
    /// not aligned.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<File> {
        unsafe extern "C" fn destroy(ctx: *mut c_void) {
            drop(Box::from_raw(ctx.cast::<Vec<u8>>()));
        }
        let (data, length) = (bytes.as_ptr().cast(), bytes.len() as i64);
        let ctx = Box::into_raw(Box::new(bytes)).cast();
        let mut out = null_mut();
        unsafe {
            let options = options(true);
            check(libdl_file_open_memory(data, length, &options, ctx, Some(destroy), &mut out))?;
            Ok(File { file: NonNull::new_unchecked(out), shared: true })
        }
    }

    fn as_ptr(&self) -> *const libdl_file {
        self.file.as_ptr()
    }

    /// The number of tensors.
    pub fn len(&self) -> usize {
        unsafe { libdl_file_count(self.as_ptr()) as usize }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names, in the file's order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(move |i| unsafe {
            let mut length = 0;
            self.text(libdl_file_name(self.as_ptr(), i as i64, &mut length), length)
        })
    }

    unsafe fn text(&self, text: *const c_char, length: i64) -> Option<&str> {
        if text.is_null() {
            return None;
        }
        std::str::from_utf8(std::slice::from_raw_parts(text.cast(), length as usize)).ok()
    }

    /// The metadata, as pairs of key and value.
    pub fn metadata(&self) -> impl Iterator<Item = (&str, &str)> {
        let count = unsafe { libdl_file_metadata_count(self.as_ptr()) };
        (0..count).filter_map(move |i| unsafe {
            let (mut key_length, mut text_length) = (0, 0);
            let key = libdl_file_metadata_key(self.as_ptr(), i, &mut key_length);
            let text = libdl_file_metadata_text(self.as_ptr(), i, &mut text_length);
            Some((self.text(key, key_length)?, self.text(text, text_length)?))
        })
    }

    /// The position in the file's order of the tensor with this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        let (text, length) = (name.as_ptr().cast(), name.len() as i64);
        usize::try_from(unsafe { libdl_file_find(self.as_ptr(), text, length) }).ok()
    }

    /// The dtype and sizes of a tensor, without reading it.
    pub fn describe(&self, name: &str) -> Option<(Dtype, &[i64])> {
        let index = self.find(name)? as i64;
        unsafe {
            let dtype = Dtype(libdl_file_dtype(self.as_ptr(), index));
            let ndim = usize::try_from(libdl_file_ndim(self.as_ptr(), index)).ok()?;
            let shape = libdl_file_shape(self.as_ptr(), index);
            let shape = if ndim == 0 { &[] } else { std::slice::from_raw_parts(shape, ndim) };
            Some((dtype, shape))
        }
    }

    /// Reads the tensor with this name.
    pub fn tensor(&self, name: &str) -> Result<Tensor> {
        let (text, length) = (name.as_ptr().cast(), name.len() as i64);
        let mut out = null_mut();
        unsafe {
            check(libdl_file_tensor_by_name(self.as_ptr(), text, length, &mut out))?;
            Ok(Tensor::from_raw(out))
        }
    }

    /// The tensor with this name, for all threads; without a copy if the file is shared.
    pub fn frozen(&self, name: &str) -> Result<Frozen> {
        let tensor = self.tensor(name)?;
        if self.shared && tensor.is_read_only() {
            // A new handle, over memory that the opener of the file promised not to change.
            return Ok(unsafe { Frozen::trust(tensor) });
        }
        tensor.freeze()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        unsafe { libdl_file_release(self.file.as_ptr()) }
    }
}

fn c_texts<'a>(texts: impl Iterator<Item = &'a str>) -> Result<Vec<CString>> {
    let refuse = |_| Error::of("save", ErrorCode::VALUE, "a name or metadata contains NUL");
    texts.map(|text| CString::new(text).map_err(refuse)).collect()
}

/// Saves tensors under their names. An old file stays intact until the new one is complete.
pub fn save<T: Borrow<Tensor>>(path: impl AsRef<Path>, tensors: &[(&str, T)]) -> Result<()> {
    save_with(path, tensors, &[])
}

/// [`save`] with metadata, as pairs of key and value.
pub fn save_with<T: Borrow<Tensor>>(
    path: impl AsRef<Path>,
    tensors: &[(&str, T)],
    metadata: &[(&str, &str)],
) -> Result<()> {
    let names = c_texts(tensors.iter().map(|(name, _)| *name))?;
    let keys = c_texts(metadata.iter().map(|(key, _)| *key))?;
    let texts = c_texts(metadata.iter().map(|(_, text)| *text))?;
    let list = |of: &[CString]| of.iter().map(|text| text.as_ptr()).collect::<Vec<_>>();
    let (names, keys, texts) = (list(&names), list(&keys), list(&texts));
    let or_null = |of: &[*const c_char]| if of.is_empty() { null() } else { of.as_ptr() };
    let tensors = pointers(&tensors.iter().map(|(_, tensor)| tensor.borrow()).collect::<Vec<_>>());
    let path = path.as_ref().as_os_str().as_bytes();
    unsafe {
        check(libdl_file_save(
            path.as_ptr().cast(),
            path.len() as i64,
            names.as_ptr(),
            tensors.as_ptr(),
            tensors.len() as i64,
            or_null(&keys),
            or_null(&texts),
            keys.len() as i64,
        ))
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Access to elements: copies, vectors handed over, and direct access to a tensor's memory.
use crate::error::check;
use crate::{empty_with, Dtype, Error, ErrorCode, Result, Tensor};
use libdl_sys::*;
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::{null, null_mut};

/// A complex number, in libdl's layout.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex<T> {
    pub re: T,
    pub im: T,
}

/// The bits of a float16.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Float16(pub u16);

/// The bits of a bfloat16: a float32's upper half.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BFloat16(pub u16);

/// A Rust type that is the element type of a dtype.
///
/// # Safety
/// The type must have the size, the alignment and the representation of the dtype's elements.
pub unsafe trait Element: Copy + Send + Sync + 'static {
    const DTYPE: Dtype;

    /// All of the tensor's elements in row-major order. The dtype has been checked.
    #[doc(hidden)]
    fn read(tensor: &Tensor) -> Result<Vec<Self>> {
        copy_out(tensor)
    }
}

/// An element type of which every bit pattern is a valid value: all but `bool`.
///
/// # Safety
/// Every bit pattern must be a valid value.
pub unsafe trait Plain: Element {}

macro_rules! elements {
    ($($t:ty: $dtype:ident)*) => {$(
        unsafe impl Element for $t {
            const DTYPE: Dtype = Dtype::$dtype;
        }
        unsafe impl Plain for $t {}
    )*};
}
elements!(u8: UINT8 u16: UINT16 u32: UINT32 u64: UINT64 i8: INT8 i16: INT16 i32: INT32 i64: INT64
    Float16: FLOAT16 BFloat16: BFLOAT16 f32: FLOAT32 f64: FLOAT64
    Complex<f32>: COMPLEX64 Complex<f64>: COMPLEX128);

unsafe impl Element for bool {
    const DTYPE: Dtype = Dtype::BOOL;

    // Bytes other than 0 and 1 can come from view_dtype, and are not valid as Rust's bool.
    fn read(tensor: &Tensor) -> Result<Vec<bool>> {
        let bytes = copy_out::<u8>(tensor)?;
        let mut elements = room_for(bytes.len())?;
        elements.extend(bytes.into_iter().map(|byte| byte != 0));
        Ok(elements)
    }
}

/// Memory for so many elements, or an error: Rust's own allocation ends the process where there is
/// none, and a system that promises more than it has does so later.
fn room_for<T>(count: usize) -> Result<Vec<T>> {
    let size = std::mem::size_of::<T>();
    let refuse = |why: &str| {
        let told = format!("{count} elements of {size} bytes {why}");
        Error::of("to_vec", ErrorCode::OUT_OF_MEMORY, &told)
    };
    let limit = usize::try_from(unsafe { libdl_memory_get_limit() }).unwrap_or(usize::MAX);
    if count > limit / size {
        return Err(refuse("are more than the memory limit"));
    }
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| refuse("find no memory"))?;
    Ok(room)
}

fn copy_out<T: Element>(tensor: &Tensor) -> Result<Vec<T>> {
    if tensor.device().kind() == LIBDL_DEVICE_META {
        // There are no values, whatever the size: C says so before it looks at the memory.
        unsafe { check(libdl_tensor_copy_out(tensor.as_ptr(), null_mut(), 0))? };
    }
    let count = tensor.numel();
    let mut elements = room_for::<T>(count)?;
    let bytes = (count * std::mem::size_of::<T>()) as i64;
    unsafe {
        check(libdl_tensor_copy_out(tensor.as_ptr(), elements.as_mut_ptr().cast(), bytes))?;
        elements.set_len(count);
    }
    Ok(elements)
}

pub(crate) fn bytes_of<T>(elements: &[T]) -> i64 {
    std::mem::size_of_val(elements) as i64
}

/// A tensor over the vector's own memory; with `read_only`, the library does not write to it.
pub(crate) fn over_vec<T: Element>(v: Vec<T>, shape: &[i64], read_only: bool) -> Result<Tensor> {
    struct Parts<T>(*mut T, usize, usize);
    unsafe extern "C" fn destroy<T>(ctx: *mut c_void) {
        let Parts(data, length, capacity) = *Box::from_raw(ctx.cast::<Parts<T>>());
        drop(Vec::from_raw_parts(data, length, capacity));
    }
    let mut v = std::mem::ManuallyDrop::new(v);
    let parts = Parts(v.as_mut_ptr(), v.len(), v.capacity());
    let (data, bytes) = (parts.0.cast(), bytes_of(&v));
    let ctx = Box::into_raw(Box::new(parts)).cast();
    let mut out = null_mut();
    unsafe {
        check(libdl_tensor_from_memory(
            data,
            bytes,
            shape.as_ptr(),
            crate::pass::count(shape),
            null(),
            0,
            0,
            T::DTYPE.0,
            read_only.into(),
            ctx,
            Some(destroy::<T>),
            &mut out,
        ))?;
        Ok(Tensor::from_raw(out))
    }
}

impl Tensor {
    /// A copy of the elements, in row-major order.
    pub fn from_slice<T: Element>(elements: &[T], shape: &[i64]) -> Result<Tensor> {
        let tensor = empty_with(shape, Some(T::DTYPE), None)?;
        tensor.copy_from_slice(elements)?;
        Ok(tensor)
    }

    /// A tensor over the vector's memory, without a copy; the vector is freed with the storage. The
    /// library assumes that others may write to such memory, too: it compares a second form with it
    /// before each use, and does not notice if a value saved for backward is overwritten.
    pub fn from_vec<T: Element>(elements: Vec<T>, shape: &[i64]) -> Result<Tensor> {
        over_vec(elements, shape, false)
    }

    /// Replaces the elements, in row-major order. Not recorded.
    pub fn copy_from_slice<T: Element>(&self, elements: &[T]) -> Result<()> {
        self.expect_dtype::<T>("copy_from_slice")?;
        let data = elements.as_ptr().cast();
        unsafe { check(libdl_tensor_copy_in(self.as_mut_ptr(), data, bytes_of(elements))) }
    }

    /// The elements in row-major order, without conversion: see [`to_dtype`](Tensor::to_dtype).
    /// More than the memory limit allows, as of a number that was expanded to an enormous shape, is
    /// the error `OUT_OF_MEMORY`.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.expect_dtype::<T>("to_vec")?;
        T::read(self)
    }

    pub(crate) fn expect_dtype<T: Element>(&self, function: &'static str) -> Result<()> {
        if self.dtype() == T::DTYPE {
            return Ok(());
        }
        let (found, wanted) = (self.dtype().name(), T::DTYPE.name());
        let told = format!("the tensor is {found}, wanted {wanted}");
        Err(Error::of(function, ErrorCode::DTYPE, &told))
    }

    fn open<T: Plain>(
        &self,
        function: &'static str,
        access: libdl_access,
    ) -> Result<Window<'_, T>> {
        self.expect_dtype::<T>(function)?;
        if !self.is_contiguous() || self.device().kind() != LIBDL_DEVICE_CPU {
            let told = "the tensor is no contiguous one on the CPU, wanted such a tensor";
            return Err(Error::of(function, ErrorCode::VALUE, told));
        }
        let (mut data, mut mapping) = (null_mut(), null_mut());
        unsafe { check(libdl_tensor_map(self.as_ptr(), access, &mut data, &mut mapping))? };
        Ok(Window { data: data.cast(), length: self.numel(), mapping, tensor: PhantomData })
    }

    /// Access to the elements in place, for reading.
    pub fn map<T: Plain>(&self) -> Result<Map<'_, T>> {
        Ok(Map(self.open("map", LIBDL_ACCESS_READ)?))
    }

    /// Access to the elements in place, for reading and writing. Its end counts as a write.
    pub fn map_mut<T: Plain>(&self) -> Result<MapMut<'_, T>> {
        Ok(MapMut(self.open("map_mut", LIBDL_ACCESS_WRITE)?))
    }
}

#[derive(Debug)]
struct Window<'t, T> {
    data: *const T,
    length: usize,
    mapping: *mut libdl_mapping,
    tensor: PhantomData<&'t Tensor>,
}

impl<T> Window<'_, T> {
    /// C's pointer as a slice of cells; the pointer may be NULL if there are no elements.
    fn cells(&self) -> &[UnsafeCell<T>] {
        match self.length {
            0 => &[],
            n => unsafe { std::slice::from_raw_parts(self.data.cast(), n) },
        }
    }
}

impl<T> Drop for Window<'_, T> {
    fn drop(&mut self) {
        unsafe { libdl_tensor_unmap(self.mapping) }
    }
}

/// Read access to a tensor's elements. Operators may write to them meanwhile, through this tensor
/// or another that shares its memory, so elements are returned by value, and there is no slice.
#[derive(Debug)]
pub struct Map<'t, T: Plain>(Window<'t, T>);

impl<T: Plain> Map<'_, T> {
    pub fn len(&self) -> usize {
        self.0.length
    }

    pub fn is_empty(&self) -> bool {
        self.0.length == 0
    }

    /// The current value of element `index`.
    pub fn get(&self, index: usize) -> Option<T> {
        // Everything that writes to the memory runs on this thread, and not during this line.
        self.0.cells().get(index).map(|cell| unsafe { *cell.get() })
    }

    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.0.cells().iter().map(|cell| unsafe { *cell.get() })
    }
}

/// Write access to a tensor's elements, as a slice of cells.
#[derive(Debug)]
pub struct MapMut<'t, T: Plain>(Window<'t, T>);

impl<T: Plain> Deref for MapMut<'_, T> {
    type Target = [Cell<T>];

    fn deref(&self) -> &[Cell<T>] {
        // A Cell is a transparent UnsafeCell.
        unsafe { &*(self.0.cells() as *const [UnsafeCell<T>] as *const [Cell<T>]) }
    }
}

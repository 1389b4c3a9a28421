// SPDX-License-Identifier: Apache-2.0
//! Element types and devices.
use crate::error::check;
use crate::{Result, Tensor};
use libdl_sys::*;
use std::ffi::{CStr, CString};
use std::fmt;
use std::ptr::null;

impl Tensor {
    /// The tensor in another dtype; itself if it already has that dtype.
    pub fn to_dtype(&self, dtype: Dtype) -> Result<Tensor> {
        self.to_with(Some(dtype), None, false)
    }

    /// The tensor on another device; itself if it is already there.
    pub fn to_device(&self, device: Device) -> Result<Tensor> {
        self.to_with(None, Some(device), false)
    }
}

/// An element type, one of the constants. A newer library may have others.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dtype(pub libdl_dtype);

impl Dtype {
    pub(crate) fn option_code(x: Option<Dtype>) -> libdl_dtype {
        x.map_or(LIBDL_DTYPE_NONE, |dtype| dtype.0)
    }

    /// The name ("float32"), or "?" for a number that is not a dtype.
    pub fn name(self) -> &'static str {
        // The names are constants in the library, which is never unloaded.
        unsafe { CStr::from_ptr(libdl_dtype_name(self.0)) }.to_str().unwrap_or("?")
    }

    /// Bytes of an element.
    pub fn size(self) -> usize {
        unsafe { libdl_dtype_size(self.0) as usize }
    }

    /// The dtype in which an operator computes with elements of both dtypes.
    pub fn promote(self, other: Dtype) -> Result<Dtype> {
        let mut out = LIBDL_DTYPE_NONE;
        unsafe { check(libdl_dtype_promote(self.0, other.0, &mut out))? };
        Ok(Dtype(out))
    }

    /// Whether values of this dtype may be stored into a tensor of `to`.
    pub fn can_cast(self, to: Dtype) -> Result<bool> {
        let mut out = 0;
        unsafe { check(libdl_dtype_can_cast(self.0, to.0, &mut out))? };
        Ok(out != 0)
    }
}

impl fmt::Debug for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.constant() {
            Some(name) => f.write_str(name),
            None => write!(f, "Dtype({})", self.0),
        }
    }
}

/// A device, numbered as in DLPack.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Device(libdl_device);

impl Device {
    pub const CPU: Device = Device::new(LIBDL_DEVICE_CPU, 0);

    pub const fn new(kind: i32, index: i32) -> Device {
        Device(libdl_device { r#type: kind, index })
    }

    pub const fn cuda(index: i32) -> Device {
        Device::new(LIBDL_DEVICE_CUDA, index)
    }

    /// The device of the type with this name: "cpu", "cuda", "meta", or a name from an open plugin.
    pub fn named(name: &str, index: i32) -> Option<Device> {
        let name = CString::new(name).ok()?;
        match unsafe { libdl_device_type_named(name.as_ptr()) } {
            0 => None,
            kind => Some(Device::new(kind, index)),
        }
    }

    pub(crate) fn from_c(device: libdl_device) -> Device {
        Device(device)
    }

    pub(crate) fn as_c(&self) -> &libdl_device {
        &self.0
    }

    /// A `LIBDL_DEVICE_` constant of `libdl_sys`.
    pub fn kind(self) -> i32 {
        self.0.r#type
    }

    pub fn index(self) -> i32 {
        self.0.index
    }

    /// The number of devices of this type; 0 without their backend.
    pub fn count(kind: i32) -> usize {
        unsafe { libdl_device_count(kind) as usize }
    }

    /// The default device of this thread, for results whose device nothing else determines.
    pub fn default_of_thread() -> Device {
        Device(unsafe { libdl_default_device() })
    }

    pub fn set_default(self) -> Result<()> {
        unsafe { check(libdl_set_default_device(&self.0)) }
    }

    /// Waits until all of the device's work is done.
    pub fn synchronize(self) -> Result<()> {
        unsafe { check(libdl_device_synchronize(&self.0)) }
    }

    pub fn properties(self) -> Result<DeviceProperties> {
        // All zeros are a valid value of this C struct.
        let mut told: libdl_device_properties = unsafe { std::mem::zeroed() };
        told.struct_size = std::mem::size_of::<libdl_device_properties>() as u32;
        unsafe { check(libdl_device_get_properties(&self.0, &mut told))? };
        let name = told.name.iter().take_while(|&&c| c != 0).map(|&c| c as u8).collect::<Vec<_>>();
        Ok(DeviceProperties {
            name: String::from_utf8_lossy(&name).into_owned(),
            processors: told.processors,
            total_memory: told.total_memory,
            free_memory: told.free_memory,
            capability: (told.capability_major, told.capability_minor),
        })
    }
}

/// The properties of a device.
#[derive(Clone, Debug)]
pub struct DeviceProperties {
    pub name: String,
    /// Processors that work in parallel: CPUs, or multiprocessors.
    pub processors: i32,
    /// Bytes.
    pub total_memory: i64,
    /// Bytes, at the moment.
    pub free_memory: i64,
    /// CUDA's compute capability; zeros on the CPU.
    pub capability: (i32, i32),
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        (self.kind(), self.index()) == (other.kind(), other.index())
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind() == LIBDL_DEVICE_CPU {
            return f.write_str("cpu");
        }
        // A device type keeps its name for the life of the process.
        let name = unsafe { libdl_device_type_name(self.kind()) };
        if name.is_null() {
            return write!(f, "device {}:{}", self.kind(), self.index());
        }
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        write!(f, "{name}:{}", self.index())
    }
}

/// The default dtype of this thread, for floating results whose dtype nothing else determines.
pub fn default_dtype() -> Dtype {
    Dtype(unsafe { libdl_default_dtype() })
}

pub fn set_default_dtype(dtype: Dtype) -> Result<()> {
    unsafe { check(libdl_set_default_dtype(dtype.0)) }
}

/// Returns the default device's idle memory to the system; the result is the number of bytes.
pub fn trim() -> Result<i64> {
    let mut bytes = 0;
    unsafe { check(libdl_memory_trim(null(), &mut bytes))? };
    Ok(bytes)
}

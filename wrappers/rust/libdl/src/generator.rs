// SPDX-License-Identifier: Apache-2.0
//! Random number generators.
use crate::error::check;
use crate::Result;
use libdl_sys::*;
use std::ptr::{null_mut, NonNull};

/// A random number generator: the same seed gives the same bits on every device, in every language
/// and for any number of threads.
#[derive(Debug)]
pub struct Generator(NonNull<libdl_generator>);

// Every function on generators is "free", and operators on several threads never get the same
// numbers.
unsafe impl Send for Generator {}
unsafe impl Sync for Generator {}

/// The key and position of a generator; the number of bytes depends on the version.
pub type GeneratorState = Vec<u8>;

impl Generator {
    pub fn new(seed: u64) -> Result<Generator> {
        let mut out = null_mut();
        unsafe {
            check(libdl_generator_new(seed, &mut out))?;
            Ok(Generator(NonNull::new_unchecked(out)))
        }
    }

    /// The generator that operators use if none is given.
    pub fn default_of_thread() -> Generator {
        Generator(NonNull::new(unsafe { libdl_generator_default() }).expect("a generator"))
    }

    /// Sets the calling thread's default generator; `None` restores that of the process.
    pub fn set_default(generator: Option<&Generator>) -> Result<()> {
        unsafe { check(libdl_generator_set_default(Generator::option_ptr(generator))) }
    }

    pub fn seed(&self) -> u64 {
        unsafe { libdl_generator_get_seed(self.0.as_ptr()) }
    }

    /// Restarts from a seed.
    pub fn set_seed(&self, seed: u64) -> Result<()> {
        unsafe { check(libdl_generator_set_seed(self.0.as_ptr(), seed)) }
    }

    pub fn state(&self) -> Result<GeneratorState> {
        let size = unsafe { libdl_generator_state_size(self.0.as_ptr()) };
        let mut state = vec![0; size as usize];
        let (data, bytes) = (state.as_mut_ptr().cast(), state.len() as i64);
        unsafe { check(libdl_generator_get_state(self.0.as_ptr(), data, bytes))? };
        Ok(state)
    }

    pub fn set_state(&self, state: &[u8]) -> Result<()> {
        let (data, bytes) = (state.as_ptr().cast(), state.len() as i64);
        unsafe { check(libdl_generator_set_state(self.0.as_ptr(), data, bytes)) }
    }

    pub(crate) fn option_ptr(x: Option<&Generator>) -> *mut libdl_generator {
        x.map_or(null_mut(), |generator| generator.0.as_ptr())
    }
}

impl Clone for Generator {
    /// One more reference to the same generator.
    fn clone(&self) -> Generator {
        unsafe { libdl_generator_retain(self.0.as_ptr()) };
        Generator(self.0)
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        unsafe { libdl_generator_release(self.0.as_ptr()) }
    }
}

/// Seeds the calling thread's default generator.
pub fn manual_seed(seed: u64) -> Result<()> {
    Generator::default_of_thread().set_seed(seed)
}

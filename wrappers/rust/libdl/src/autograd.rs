// SPDX-License-Identifier: Apache-2.0
//! Leaves, the backward pass, recording, and hooks.
use crate::callback::Bound;
use crate::error::check;
use crate::pass::{optional_pointers, pointers, take_optional_list};
use crate::{Dtype, Error, ErrorCode, Result, Tensor};
use libdl_sys::*;
use std::borrow::Borrow;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::size_of;
use std::ptr::{null, null_mut, NonNull};

impl Tensor {
    /// Whether operations on the tensor are recorded.
    pub fn requires_grad(&self) -> bool {
        unsafe { libdl_tensor_requires_grad(self.as_ptr()) != 0 }
    }

    /// Sets whether a leaf requires gradients.
    pub fn set_requires_grad(&self, on: bool) -> Result<()> {
        unsafe { check(libdl_tensor_set_requires_grad(self.as_mut_ptr(), on.into())) }
    }

    /// Whether the tensor is a leaf: made by the user, or without history.
    pub fn is_leaf(&self) -> bool {
        unsafe { libdl_tensor_is_leaf(self.as_ptr()) != 0 }
    }

    /// The accumulated gradient: the same tensor at each call.
    pub fn grad(&self) -> Option<Tensor> {
        unsafe { Tensor::option_from_raw(libdl_tensor_grad(self.as_ptr())) }
    }

    /// Replaces the gradient; `None` clears it.
    pub fn set_grad(&self, grad: Option<&Tensor>) -> Result<()> {
        let grad = grad.map_or(null_mut(), Tensor::as_mut_ptr);
        unsafe { check(libdl_tensor_set_grad(self.as_mut_ptr(), grad)) }
    }

    /// Keeps the gradient of a tensor with history in `grad`, too.
    pub fn retain_grad(&self) -> Result<()> {
        unsafe { check(libdl_tensor_retain_grad(self.as_mut_ptr())) }
    }

    /// Adds the derivatives of this tensor of one element to `grad` of every leaf.
    pub fn backward(&self) -> Result<()> {
        Pass::new().backward(&[self])
    }
}

/// The gradients of the outputs' sum with respect to the inputs; `grad` of leaves does not change.
pub fn grad(
    outputs: &[impl Borrow<Tensor>],
    inputs: &[impl Borrow<Tensor>],
) -> Result<Vec<Tensor>> {
    let found = Pass::new().grad(outputs, inputs)?;
    // Without allow_unused an absent gradient is an error.
    Ok(found.into_iter().flatten().collect())
}

/// A backward pass with options, all off by default.
///
/// ```
/// let x = libdl::Tensor::from_slice(&[3.0], &[])?;
/// x.set_requires_grad(true)?;
/// let y = x.pow(3)?;
/// let dy = libdl::Pass::new().create_graph(true).grad(&[&y], &[&x])?.remove(0).unwrap();
/// dy.backward()?;
/// assert_eq!(x.grad().unwrap().item_f64()?, 18.0);
/// # Ok::<(), libdl::Error>(())
/// ```
#[derive(Clone)]
pub struct Pass<'a> {
    options: libdl_backward_options,
    gradients: Vec<Option<&'a Tensor>>,
}

impl Default for Pass<'_> {
    fn default() -> Self {
        Pass::new()
    }
}

impl<'a> Pass<'a> {
    pub fn new() -> Pass<'a> {
        let options = libdl_backward_options {
            struct_size: size_of::<libdl_backward_options>() as u32,
            retain_graph: 0,
            create_graph: 0,
            allow_unused: 0,
            materialize: 0,
            batched: 0,
        };
        Pass { options, gradients: Vec::new() }
    }

    /// Keeps saved values for another pass.
    pub fn retain_graph(mut self, on: bool) -> Self {
        self.options.retain_graph = on.into();
        self
    }

    /// Records the pass itself, for higher derivatives.
    pub fn create_graph(mut self, on: bool) -> Self {
        self.options.create_graph = on.into();
        self
    }

    /// For `grad`: an unused input gets `None` instead of an error.
    pub fn allow_unused(mut self, on: bool) -> Self {
        self.options.allow_unused = on.into();
        self
    }

    /// For `grad`: an unused input gets zeros.
    pub fn materialize(mut self, on: bool) -> Self {
        self.options.materialize = on.into();
        self
    }

    /// For `grad`: each gradient is a batch, in front of the output's shape, and so is each result.
    pub fn batched(mut self, on: bool) -> Self {
        self.options.batched = on.into();
        self
    }

    /// The gradient of each output; `None` is 1, for outputs of one element.
    pub fn gradients(mut self, gradients: &[Option<&'a Tensor>]) -> Self {
        self.gradients = gradients.to_vec();
        self
    }

    /// Adds the gradients to `grad` of every leaf.
    pub fn backward(&self, outputs: &[impl Borrow<Tensor>]) -> Result<()> {
        self.backward_into(outputs, &[] as &[Tensor])
    }

    /// Adds the gradients to `grad` of the given leaves, or of all leaves if none are given.
    pub fn backward_into(
        &self,
        outputs: &[impl Borrow<Tensor>],
        inputs: &[impl Borrow<Tensor>],
    ) -> Result<()> {
        let (outputs, inputs) = (pointers(outputs), pointers(inputs));
        let gradients = optional_pointers(&self.gradients);
        unsafe {
            check(libdl_backward(
                outputs.as_ptr(),
                outputs.len() as i64,
                list_or_null(&gradients),
                gradients.len() as i64,
                list_or_null(&inputs),
                inputs.len() as i64,
                &self.options,
            ))
        }
    }

    /// The gradients with respect to the inputs; `grad` of leaves does not change.
    pub fn grad(
        &self,
        outputs: &[impl Borrow<Tensor>],
        inputs: &[impl Borrow<Tensor>],
    ) -> Result<Vec<Option<Tensor>>> {
        let (outputs, inputs) = (pointers(outputs), pointers(inputs));
        let gradients = optional_pointers(&self.gradients);
        let mut out = null_mut();
        unsafe {
            check(libdl_grad(
                outputs.as_ptr(),
                outputs.len() as i64,
                inputs.as_ptr(),
                inputs.len() as i64,
                list_or_null(&gradients),
                gradients.len() as i64,
                &self.options,
                &mut out,
            ))?;
            Ok(take_optional_list(out))
        }
    }
}

fn list_or_null(list: &[*const libdl_tensor]) -> *const *const libdl_tensor {
    if list.is_empty() {
        null()
    } else {
        list.as_ptr()
    }
}

/// Whether the calling thread records operations.
pub fn is_grad_enabled() -> bool {
    unsafe { libdl_grad_enabled() != 0 }
}

/// Turns recording on or off for the calling thread until it is dropped.
#[must_use = "recording is as before when the guard is dropped"]
#[derive(Debug)]
pub struct GradMode {
    before: libdl_bool,
    // Not Send: the state belongs to the thread.
    thread: PhantomData<*mut ()>,
}

impl GradMode {
    pub fn new(on: bool) -> GradMode {
        GradMode { before: unsafe { libdl_set_grad_enabled(on.into()) }, thread: PhantomData }
    }
}

impl Drop for GradMode {
    fn drop(&mut self) {
        unsafe { libdl_set_grad_enabled(self.before) };
    }
}

/// Runs `f` without recording.
pub fn no_grad<R>(f: impl FnOnce() -> R) -> R {
    let _off = GradMode::new(false);
    f()
}

/// Runs `f` with recording.
pub fn enable_grad<R>(f: impl FnOnce() -> R) -> R {
    let _on = GradMode::new(true);
    f()
}

/// Runs `f` in inference mode: nothing is recorded, and results can never take part in recording.
pub fn inference_mode<R>(f: impl FnOnce() -> R) -> R {
    struct Restore(libdl_bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            unsafe { libdl_set_inference_mode(self.0) };
        }
    }
    let _restore = Restore(unsafe { libdl_set_inference_mode(1) });
    f()
}

/// Runs `f` with autocast: products compute in a 16-bit dtype, and losses in float32.
pub fn autocast<R>(dtype: Dtype, f: impl FnOnce() -> R) -> Result<R> {
    with_autocast(true, dtype, f)
}

/// Runs `f` without autocast.
pub fn no_autocast<R>(f: impl FnOnce() -> R) -> Result<R> {
    with_autocast(false, Dtype(unsafe { libdl_autocast_dtype(LIBDL_DEVICE_CPU) }), f)
}

fn with_autocast<R>(on: bool, dtype: Dtype, f: impl FnOnce() -> R) -> Result<R> {
    struct Restore(libdl_bool, libdl_dtype);
    impl Drop for Restore {
        fn drop(&mut self) {
            unsafe {
                libdl_error_release(libdl_set_autocast_enabled(LIBDL_DEVICE_CPU, self.0));
                libdl_error_release(libdl_set_autocast_dtype(LIBDL_DEVICE_CPU, self.1));
            }
        }
    }
    unsafe {
        let before = libdl_autocast_enabled(LIBDL_DEVICE_CPU);
        let _restore = Restore(before, libdl_autocast_dtype(LIBDL_DEVICE_CPU));
        check(libdl_set_autocast_dtype(LIBDL_DEVICE_CPU, dtype.0))?;
        check(libdl_set_autocast_enabled(LIBDL_DEVICE_CPU, on.into()))?;
        Ok(f())
    }
}

/// A registered hook. Dropping this does not remove the hook.
#[derive(Debug)]
pub struct Hook(NonNull<libdl_hook>);

impl Hook {
    /// Removes the hook.
    pub fn remove(self) {
        unsafe { libdl_hook_remove(self.0.as_ptr()) }
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        unsafe { libdl_hook_release(self.0.as_ptr()) }
    }
}

impl Tensor {
    /// Calls `hook` with the tensor's gradient in each backward pass; a returned tensor replaces
    /// it. An error or a panic in the hook ends the pass, and reaches the pass's caller unchanged.
    pub fn add_hook<F>(&self, hook: F) -> Result<Hook>
    where
        F: Fn(&Tensor) -> Result<Option<Tensor>> + 'static,
    {
        self.register(LIBDL_HOOK_TENSOR, run_hook::<F>, hook)
    }

    /// Calls `hook` with this leaf after a gradient was added to its `grad`.
    pub fn on_accumulated<F>(&self, hook: F) -> Result<Hook>
    where
        F: Fn(&Tensor) -> Result<()> + 'static,
    {
        let hook = move |leaf: &Tensor| hook(leaf).map(|()| None);
        self.register(LIBDL_HOOK_ACCUMULATED, hook_runner(&hook), hook)
    }

    fn register<F>(&self, kind: libdl_hook_kind, run: RunHook, hook: F) -> Result<Hook> {
        let ctx = Bound::into_ctx(hook);
        let mut out = null_mut();
        unsafe {
            let destroy = Some(Bound::<F>::destroy as unsafe extern "C" fn(*mut c_void));
            check(libdl_tensor_add_hook(self.as_ptr(), kind, Some(run), ctx, destroy, &mut out))?;
            Ok(Hook(NonNull::new_unchecked(out)))
        }
    }
}

type RunHook = unsafe extern "C" fn(
    *mut c_void,
    *mut *mut libdl_tensor,
    i64,
    *const *mut libdl_tensor,
    i64,
) -> *mut libdl_error;

fn hook_runner<F: Fn(&Tensor) -> Result<Option<Tensor>>>(_: &F) -> RunHook {
    run_hook::<F>
}

unsafe extern "C" fn run_hook<F: Fn(&Tensor) -> Result<Option<Tensor>>>(
    ctx: *mut c_void,
    gradients: *mut *mut libdl_tensor,
    count: i64,
    _incoming: *const *mut libdl_tensor,
    _incoming_count: i64,
) -> *mut libdl_error {
    Bound::<F>::call(ctx, |hook| {
        if count != 1 {
            return Err(Error::new(ErrorCode::INTERNAL, "a tensor's hook sees one gradient"));
        }
        // The closure gets its own reference, because it may cause the pass's to be released.
        let gradient = match NonNull::new(*gradients) {
            Some(gradient) => Tensor::from_raw(libdl_tensor_retain(gradient.as_ptr())),
            None => return Ok(()),
        };
        if let Some(other) = hook(&gradient)? {
            libdl_tensor_release(*gradients);
            *gradients = other.into_raw();
        }
        Ok(())
    })
}

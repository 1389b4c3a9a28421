// SPDX-License-Identifier: Apache-2.0
//! Differentiable functions made of closures, and the check of gradients.
use crate::autograd::no_grad;
use crate::callback::{told, Bound};
use crate::error::check;
use crate::pass::pointers;
use crate::{Error, ErrorCode, Result, Tensor};
use libdl_sys::*;
use std::borrow::Borrow;
use std::ffi::{c_void, CString};
use std::mem::size_of;
use std::ptr::{null, null_mut};

/// The context of a custom function's backward.
#[derive(Debug)]
pub struct BackwardContext {
    context: *mut libdl_backward_context,
}

impl BackwardContext {
    /// Saved value `index`, unchanged and with its history.
    pub fn saved(&self, index: usize) -> Result<Tensor> {
        let mut out = null_mut();
        unsafe {
            check(libdl_backward_context_saved_with_history(
                self.context,
                index as i64,
                &mut out,
            ))?;
            Ok(Tensor::from_raw(out))
        }
    }

    /// Whether input `index` needs a gradient.
    pub fn needs(&self, index: usize) -> bool {
        unsafe { libdl_backward_context_needs(self.context, index as i64) != 0 }
    }

    /// Zeros in the shape of output `index`, for a gradient that did not arrive.
    pub fn zeros(&self, index: usize) -> Result<Tensor> {
        let mut out = null_mut();
        unsafe {
            check(libdl_backward_context_zeros(self.context, index as i64, &mut out))?;
            Ok(Tensor::from_raw(out))
        }
    }
}

/// The result of a custom function's forward.
#[derive(Debug)]
pub struct Forward {
    pub outputs: Vec<Tensor>,
    /// Values for backward, inputs and outputs among them.
    pub saved: Vec<Tensor>,
}

/// Calls `forward` without recording, and records one operation whose gradient `backward` computes.
/// `backward` gets the outputs' gradients, `None` where none arrived, and returns one gradient for
/// each input, `None` for zero. If it computes with operators, double backward works.
///
/// Errors and panics of `backward` reach the caller of the pass unchanged.
///
/// ```
/// use libdl::{custom_function, Forward, Tensor};
///
/// fn cube(x: &Tensor) -> libdl::Result<Tensor> {
///     let forward = || Ok(Forward { outputs: vec![x.pow(3)?], saved: vec![x.clone()] });
///     let mut outputs = custom_function("cube", &[x], forward, |context, dy| {
///         let slope = context.saved(0)?.square()?.mul(3.0)?;
///         Ok(vec![dy[0].as_ref().map(|dy| slope.mul(dy)).transpose()?])
///     })?;
///     Ok(outputs.remove(0))
/// }
///
/// let x = Tensor::from_slice(&[-1.5, 2.0], &[2])?;
/// x.set_requires_grad(true)?;
/// libdl::gradcheck(|x| Ok(vec![cube(&x[0])?]), &[&x], 1)?;
/// # Ok::<(), libdl::Error>(())
/// ```
pub fn custom_function<B>(
    name: &str,
    inputs: &[impl Borrow<Tensor>],
    forward: impl FnOnce() -> Result<Forward>,
    backward: B,
) -> Result<Vec<Tensor>>
where
    B: Fn(&BackwardContext, &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> + 'static,
{
    let name = CString::new(name)
        .map_err(|_| Error::of("custom_function", ErrorCode::VALUE, "the name contains NUL"))?;
    let made = no_grad(forward)?;
    let outputs: Vec<_> = made.outputs.iter().map(Tensor::as_mut_ptr).collect();
    let (inputs, saved) = (pointers(inputs), pointers(&made.saved));
    let function = libdl_function {
        struct_size: size_of::<libdl_function>() as u32,
        name: name.as_ptr(),
        backward: Some(run_backward::<B>),
        ctx: Bound::into_ctx(backward),
        destroy: Some(Bound::<B>::destroy),
        once_differentiable: 0,
        reserved: 0,
        without_gradients: 0,
    };
    unsafe {
        check(libdl_function_record(
            &function,
            inputs.as_ptr(),
            inputs.len() as i64,
            outputs.as_ptr(),
            outputs.len() as i64,
            null(),
            saved.as_ptr(),
            saved.len() as i64,
            null_mut(),
        ))?;
    }
    Ok(made.outputs)
}

/// The tensors as C's array of borrowed handles, NULL for absent ones: a wrapper is one pointer.
unsafe fn borrowed<'a, T>(first: *const *const libdl_tensor, count: i64) -> &'a [T] {
    debug_assert_eq!(size_of::<T>(), size_of::<*const libdl_tensor>());
    match count {
        0 => &[],
        n => std::slice::from_raw_parts(first.cast(), n as usize),
    }
}

/// Writes tensors into C's array of the same length.
unsafe fn hand_out(
    what: &str,
    tensors: Vec<Option<Tensor>>,
    places: *mut *mut libdl_tensor,
    count: i64,
) -> Result<()> {
    if tensors.len() as i64 != count {
        let found = tensors.len();
        let told = format!("the closure gave {found} {what}, wanted {count}");
        return Err(Error::new(ErrorCode::CALLBACK, &told));
    }
    for (i, tensor) in tensors.into_iter().enumerate() {
        *places.add(i) = tensor.map_or(null_mut(), Tensor::into_raw);
    }
    Ok(())
}

unsafe extern "C" fn run_backward<B>(
    ctx: *mut c_void,
    context: *mut libdl_backward_context,
    output_gradients: *const *const libdl_tensor,
    outputs: i64,
    input_gradients: *mut *mut libdl_tensor,
    inputs: i64,
) -> *mut libdl_error
where
    B: Fn(&BackwardContext, &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>>,
{
    Bound::<B>::call(ctx, |backward| {
        let arrived = borrowed::<Option<Tensor>>(output_gradients, outputs);
        let gradients = backward(&BackwardContext { context }, arrived)?;
        hand_out("gradients", gradients, input_gradients, inputs)
    })
}

/// What to check besides first derivatives in reverse mode, and the tolerances.
#[derive(Clone, Copy, Debug, Default)]
pub struct GradcheckOptions {
    /// Forward mode, too.
    pub forward: bool,
    /// Gradients of the gradients, too.
    pub second_order: bool,
    /// Also check that outputs without history do not depend on the inputs.
    pub strict: bool,
    /// Half of the step of the differences; 0: 1e-6.
    pub eps: f64,
    /// The absolute tolerance; 0: 1e-5.
    pub atol: f64,
    /// The relative tolerance; 0: 1e-3.
    pub rtol: f64,
}

/// Compares the gradients of `f` with central differences, element by element; see
/// `libdl_gradcheck` in [`libdl_sys`].
pub fn gradcheck<F>(f: F, inputs: &[impl Borrow<Tensor>], outputs: usize) -> Result<()>
where
    F: Fn(&[Tensor]) -> Result<Vec<Tensor>>,
{
    gradcheck_with(f, inputs, outputs, GradcheckOptions::default())
}

/// [`gradcheck`] with options.
pub fn gradcheck_with<F>(
    f: F,
    inputs: &[impl Borrow<Tensor>],
    outputs: usize,
    options: GradcheckOptions,
) -> Result<()>
where
    F: Fn(&[Tensor]) -> Result<Vec<Tensor>>,
{
    unsafe extern "C" fn run<F: Fn(&[Tensor]) -> Result<Vec<Tensor>>>(
        ctx: *mut c_void,
        inputs: *const *const libdl_tensor,
        inputs_count: i64,
        outputs: *mut *mut libdl_tensor,
        outputs_count: i64,
    ) -> *mut libdl_error {
        told(|| {
            let f = &*ctx.cast::<F>();
            let given = f(borrowed::<Tensor>(inputs, inputs_count))?;
            hand_out("outputs", given.into_iter().map(Some).collect(), outputs, outputs_count)
        })
    }
    let inputs = pointers(inputs);
    let options = libdl_gradcheck_options {
        struct_size: size_of::<libdl_gradcheck_options>() as u32,
        forward: options.forward.into(),
        second_order: options.second_order.into(),
        strict: options.strict.into(),
        eps: options.eps,
        atol: options.atol,
        rtol: options.rtol,
        nondet_tol: 0.0,
    };
    // The closure is called only during this call, on this thread, so a reference suffices.
    let ctx = &f as *const F as *mut c_void;
    unsafe {
        check(libdl_gradcheck(
            Some(run::<F>),
            ctx,
            None,
            inputs.as_ptr(),
            inputs.len() as i64,
            outputs as i64,
            &options,
        ))
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The optimizers beside SGD and Adam. Their options are the structs of C; `struct_size` and `step`,
//! where there is one, are the optimizer's own.
use crate::error::check;
use crate::{Result, Tensor};
use libdl_sys::*;
use std::borrow::Borrow;
use std::fmt;
use std::mem::{size_of, zeroed};
use std::ptr::null;

type Lists<'a> = &'a [Vec<*mut libdl_tensor>];

/// What a step of C takes, for each kind of options.
pub trait StepOptions: Copy {
    /// Tensors of state for each parameter.
    const STATES: usize;
    /// PyTorch's defaults.
    fn with_lr(lr: f64) -> Self;
    fn set_step(&mut self, _step: i64) {}
    /// # Safety
    /// The lists hold live tensors: parameters, gradients and the states.
    unsafe fn take(&self, params: Lists, grads: &[*const libdl_tensor]) -> *mut libdl_error;
}

macro_rules! steps {
    ($options:ident, $call:ident, $states:expr, $set_step:item, $lr:ident,
     {$($field:ident: $value:expr),*}, [$($k:expr),*]) => {
        impl StepOptions for $options {
            const STATES: usize = $states;
            fn with_lr($lr: f64) -> Self {
                // All fields are numbers, and 0 is the default of those that are not named.
                let mut options: Self = unsafe { zeroed() };
                options.struct_size = size_of::<Self>() as u32;
                $(options.$field = $value;)*
                options
            }
            $set_step
            unsafe fn take(&self, lists: Lists, grads: &[*const libdl_tensor]) -> *mut libdl_error {
                let n = grads.len() as i64;
                // The field is public, and C reads as far as it says.
                let mut options = *self;
                options.struct_size = size_of::<Self>() as u32;
                $call(&options, lists[0].as_ptr(), n, grads.as_ptr(), n,
                      $(list_or_null(&lists[$k]), lists[$k].len() as i64),*)
            }
        }
    };
}

fn list_or_null(list: &[*mut libdl_tensor]) -> *const *mut libdl_tensor {
    if list.is_empty() {
        null()
    } else {
        list.as_ptr()
    }
}

macro_rules! counted {
    ($options:ident, $call:ident, $states:expr, $lr:ident, $fields:tt, $lists:tt) => {
        steps!(
            $options,
            $call,
            $states,
            fn set_step(&mut self, step: i64) {
                self.step = step;
            },
            $lr,
            $fields,
            $lists
        );
    };
}
macro_rules! uncounted {
    ($options:ident, $call:ident, $states:expr, $lr:ident, $fields:tt, $lists:tt) => {
        steps!(
            $options,
            $call,
            $states,
            fn set_step(&mut self, _step: i64) {},
            $lr,
            $fields,
            $lists
        );
    };
}

counted!(libdl_sparse_adam_options, libdl_sparse_adam_step, 2, lr,
         {lr: lr, beta1: 0.9, beta2: 0.999, eps: 1e-8}, [1, 2]);
counted!(libdl_adamax_options, libdl_adamax_step, 2, lr,
         {lr: lr, beta1: 0.9, beta2: 0.999, eps: 1e-8}, [1, 2]);
counted!(libdl_nadam_options, libdl_nadam_step, 2, lr,
         {lr: lr, beta1: 0.9, beta2: 0.999, eps: 1e-8, momentum_decay: 4e-3}, [1, 2]);
counted!(libdl_radam_options, libdl_radam_step, 2, lr,
         {lr: lr, beta1: 0.9, beta2: 0.999, eps: 1e-8}, [1, 2]);
counted!(libdl_adagrad_options, libdl_adagrad_step, 1, lr, {lr: lr, eps: 1e-10}, [1]);
uncounted!(libdl_adadelta_options, libdl_adadelta_step, 2, lr,
           {lr: lr, rho: 0.9, eps: 1e-6}, [1, 2]);
counted!(libdl_asgd_options, libdl_asgd_step, 1, lr,
         {lr: lr, lambd: 1e-4, alpha: 0.75, t0: 1e6}, [1]);
uncounted!(libdl_rmsprop_options, libdl_rmsprop_step, 3, lr,
           {lr: lr, alpha: 0.99, eps: 1e-8}, [1, 2, 3]);
// The learning rate is in the step sizes.
uncounted!(libdl_rprop_options, libdl_rprop_step, 2, _lr,
           {etaminus: 0.5, etaplus: 1.2, step_size_min: 1e-6, step_size_max: 50.0}, [1, 2]);

/// Parameters with their states; the optimizers are its instances.
pub struct Stepper<O: StepOptions> {
    /// `struct_size` and `step` are the optimizer's own: what is put there counts for nothing.
    pub options: O,
    lr: f64,
    params: Vec<Tensor>,
    states: Vec<Option<(i64, Vec<Tensor>)>>,
}

/// Adam for sparse gradients: rows without a gradient keep their parameters and moments.
pub type SparseAdam = Stepper<libdl_sparse_adam_options>;
/// Adam with the largest gradient instead of the mean of squares.
pub type Adamax = Stepper<libdl_adamax_options>;
/// Adam with Nesterov's momentum.
pub type NAdam = Stepper<libdl_nadam_options>;
/// Adam without its unreliable first steps.
pub type RAdam = Stepper<libdl_radam_options>;
/// Steps divided by the root of the sum of all squares so far.
pub type Adagrad = Stepper<libdl_adagrad_options>;
/// Steps as large as the last ones, in relation to the gradients.
pub type Adadelta = Stepper<libdl_adadelta_options>;
/// Stochastic gradient descent; `state(i)` holds the average of a parameter on its way.
pub type Asgd = Stepper<libdl_asgd_options>;
/// Steps divided by the mean size of the gradient.
pub type RmsProp = Stepper<libdl_rmsprop_options>;
/// Steps of which the gradient gives only the sign; the rate is the size of the first one.
pub type Rprop = Stepper<libdl_rprop_options>;

impl<O: StepOptions> fmt::Debug for Stepper<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stepper").field("params", &self.params).finish_non_exhaustive()
    }
}

impl<O: StepOptions + Start> Stepper<O> {
    pub fn new(params: &[impl Borrow<Tensor>], lr: f64) -> Self {
        Stepper {
            options: O::with_lr(lr),
            lr,
            params: params.iter().map(|p| p.borrow().clone()).collect(),
            states: params.iter().map(|_| None).collect(),
        }
    }

    pub fn zero_grad(&self) -> Result<()> {
        self.params.iter().try_for_each(|p| p.set_grad(None))
    }

    /// The tensors of state of a parameter; none before its first step.
    pub fn state(&self, i: usize) -> &[Tensor] {
        self.states[i].as_ref().map_or(&[], |(_, tensors)| tensors)
    }

    pub fn step(&mut self) -> Result<()> {
        let mut waiting = Vec::new();
        for (i, param) in self.params.iter().enumerate() {
            if let Some(grad) = param.grad() {
                if self.states[i].is_none() {
                    let start = |k| O::start(param, k, self.lr);
                    let tensors = (0..O::STATES).map(start).collect::<Result<Vec<Tensor>>>()?;
                    self.states[i] = Some((0, tensors));
                }
                waiting.push((i, grad));
            }
        }
        // One call for all parameters with the same number of steps.
        while let Some(steps) = waiting.first().map(|(i, _)| self.steps(*i)) {
            let (now, later): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|(i, _)| self.steps(*i) == steps);
            self.step_some(&now, steps + 1)?;
            for (i, _) in &now {
                if let Some((count, _)) = &mut self.states[*i] {
                    *count = steps + 1;
                }
            }
            waiting = later;
        }
        Ok(())
    }

    fn steps(&self, i: usize) -> i64 {
        self.states[i].as_ref().map_or(0, |(count, _)| *count)
    }

    fn step_some(&self, some: &[(usize, Tensor)], step: i64) -> Result<()> {
        let mut options = self.options;
        options.set_step(step);
        let grads: Vec<_> = some.iter().map(|(_, grad)| grad.as_ptr()).collect();
        let mut lists = vec![some.iter().map(|(i, _)| self.params[*i].as_mut_ptr()).collect()];
        for k in 0..O::STATES {
            let wanted = |i: usize| options.uses(k).then(|| self.state(i)[k].as_mut_ptr());
            lists.push(some.iter().filter_map(|(i, _)| wanted(*i)).collect());
        }
        unsafe { check(options.take(&lists, &grads)) }
    }
}

/// How states begin, and which of them the options want.
pub trait Start: StepOptions {
    fn start(param: &Tensor, _k: usize, _lr: f64) -> Result<Tensor> {
        param.zeros_like()
    }
    fn uses(&self, _k: usize) -> bool {
        true
    }
}
impl Start for libdl_sparse_adam_options {}
impl Start for libdl_adamax_options {}
impl Start for libdl_nadam_options {}
impl Start for libdl_radam_options {}
impl Start for libdl_adagrad_options {}
impl Start for libdl_adadelta_options {}
impl Start for libdl_asgd_options {}
impl Start for libdl_rmsprop_options {
    fn uses(&self, k: usize) -> bool {
        k == 0 || (k == 1 && self.momentum > 0.0) || (k == 2 && self.centered != 0)
    }
}
impl Start for libdl_rprop_options {
    fn start(param: &Tensor, k: usize, lr: f64) -> Result<Tensor> {
        if k == 0 {
            param.zeros_like()
        } else {
            param.full_like(lr)
        }
    }
}

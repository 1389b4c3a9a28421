// SPDX-License-Identifier: Apache-2.0
//! Optimizers: a step updates all parameters that have a gradient in one pass.
use crate::error::check;
pub use crate::optimizers::{
    Adadelta, Adagrad, Adamax, Asgd, NAdam, RAdam, RmsProp, Rprop, SparseAdam, Start, StepOptions,
    Stepper,
};
use crate::pass::pointers;
use crate::{Result, Tensor};
use libdl_sys::*;
use std::borrow::Borrow;
use std::mem::size_of;
use std::ptr::{null, null_mut};

fn mut_pointers(tensors: &[impl Borrow<Tensor>]) -> Vec<*mut libdl_tensor> {
    tensors.iter().map(|t| t.borrow().as_mut_ptr()).collect()
}

fn list_or_null(list: &[*mut libdl_tensor]) -> *const *mut libdl_tensor {
    if list.is_empty() {
        null()
    } else {
        list.as_ptr()
    }
}

/// The indices of the parameters that have a gradient, and the gradients.
fn with_grads(params: &[Tensor]) -> (Vec<usize>, Vec<Tensor>) {
    params.iter().enumerate().filter_map(|(i, p)| p.grad().map(|grad| (i, grad))).unzip()
}

fn chosen<'a, T>(all: &'a [T], which: &[usize]) -> Vec<&'a T> {
    which.iter().map(|&i| &all[i]).collect()
}

/// Stochastic gradient descent. The options that are zero by default may be set.
#[derive(Debug)]
pub struct Sgd {
    pub lr: f64,
    pub momentum: f64,
    pub dampening: f64,
    pub weight_decay: f64,
    pub nesterov: bool,
    pub maximize: bool,
    params: Vec<Tensor>,
    buffers: Vec<Option<Tensor>>,
}

impl Sgd {
    pub fn new(params: &[impl Borrow<Tensor>], lr: f64) -> Sgd {
        Sgd {
            lr,
            momentum: 0.0,
            dampening: 0.0,
            weight_decay: 0.0,
            nesterov: false,
            maximize: false,
            params: params.iter().map(|p| p.borrow().clone()).collect(),
            buffers: params.iter().map(|_| None).collect(),
        }
    }

    pub fn zero_grad(&self) -> Result<()> {
        self.params.iter().try_for_each(|p| p.set_grad(None))
    }

    pub fn step(&mut self) -> Result<()> {
        let (which, grads) = with_grads(&self.params);
        if self.momentum == 0.0 {
            let none: [Tensor; 0] = [];
            return self.step_some(&chosen(&self.params, &which), &grads, &none, false);
        }
        // A buffer starts as the gradient, at the first step in which its parameter has one.
        let is_begun = |k: &usize| self.buffers[which[*k]].is_some();
        let (begun, fresh): (Vec<_>, Vec<_>) = (0..which.len()).partition(is_begun);
        let some = |of: &[usize]| of.iter().map(|&k| &self.params[which[k]]).collect::<Vec<_>>();
        let kept: Vec<_> = begun.iter().filter_map(|&k| self.buffers[which[k]].as_ref()).collect();
        self.step_some(&some(&begun), &chosen(&grads, &begun), &kept, false)?;
        let made = fresh.iter().map(|&k| self.params[which[k]].zeros_like());
        let made = made.collect::<Result<Vec<Tensor>>>()?;
        self.step_some(&some(&fresh), &chosen(&grads, &fresh), &made, true)?;
        for (k, buffer) in fresh.into_iter().zip(made) {
            self.buffers[which[k]] = Some(buffer);
        }
        Ok(())
    }

    fn step_some(
        &self,
        params: &[impl Borrow<Tensor>],
        grads: &[impl Borrow<Tensor>],
        buffers: &[impl Borrow<Tensor>],
        first: bool,
    ) -> Result<()> {
        if params.is_empty() {
            return Ok(());
        }
        let options = libdl_sgd_options {
            struct_size: size_of::<libdl_sgd_options>() as u32,
            nesterov: self.nesterov.into(),
            lr: self.lr,
            momentum: self.momentum,
            dampening: self.dampening,
            weight_decay: self.weight_decay,
            maximize: self.maximize.into(),
            first: first.into(),
        };
        let (params, grads, buffers) =
            (mut_pointers(params), pointers(grads), mut_pointers(buffers));
        unsafe {
            check(libdl_sgd_step(
                &options,
                params.as_ptr(),
                params.len() as i64,
                grads.as_ptr(),
                grads.len() as i64,
                list_or_null(&buffers),
                buffers.len() as i64,
            ))
        }
    }
}

/// Adam, or AdamW if weight decay is `decoupled`.
#[derive(Debug)]
pub struct Adam {
    pub lr: f64,
    pub betas: (f64, f64),
    pub eps: f64,
    pub weight_decay: f64,
    pub decoupled: bool,
    pub amsgrad: bool,
    pub maximize: bool,
    params: Vec<Tensor>,
    state: Vec<Option<Moments>>,
}

#[derive(Clone, Debug)]
struct Moments {
    step: i64,
    mean: Tensor,
    square: Tensor,
    largest: Tensor,
}

impl Adam {
    pub fn new(params: &[impl Borrow<Tensor>], lr: f64) -> Adam {
        Adam {
            lr,
            betas: (0.9, 0.999),
            eps: 1e-8,
            weight_decay: 0.0,
            decoupled: false,
            amsgrad: false,
            maximize: false,
            params: params.iter().map(|p| p.borrow().clone()).collect(),
            state: params.iter().map(|_| None).collect(),
        }
    }

    pub fn zero_grad(&self) -> Result<()> {
        self.params.iter().try_for_each(|p| p.set_grad(None))
    }

    pub fn step(&mut self) -> Result<()> {
        let (mut which, mut grads) = with_grads(&self.params);
        for &i in &which {
            if self.state[i].is_none() {
                let zeros = || self.params[i].zeros_like();
                let (mean, square, largest) = (zeros()?, zeros()?, zeros()?);
                self.state[i] = Some(Moments { step: 0, mean, square, largest });
            }
        }
        // One call for all parameters with the same number of steps.
        while let Some(step) = which.first().map(|&i| self.steps(i)) {
            let (now, later): (Vec<_>, Vec<_>) =
                which.into_iter().zip(grads).partition(|(i, _)| self.steps(*i) == step);
            self.step_some(&now, step + 1)?;
            let moments = |&(i, _): &(usize, Tensor)| i;
            for i in now.iter().map(moments) {
                if let Some(state) = &mut self.state[i] {
                    state.step = step + 1;
                }
            }
            let (later_which, later_grads) = later.into_iter().unzip();
            which = later_which;
            grads = later_grads;
        }
        Ok(())
    }

    fn steps(&self, i: usize) -> i64 {
        self.state[i].as_ref().map_or(0, |state| state.step)
    }

    fn step_some(&self, some: &[(usize, Tensor)], step: i64) -> Result<()> {
        let options = libdl_adam_options {
            struct_size: size_of::<libdl_adam_options>() as u32,
            decoupled: self.decoupled.into(),
            lr: self.lr,
            beta1: self.betas.0,
            beta2: self.betas.1,
            eps: self.eps,
            weight_decay: self.weight_decay,
            step,
            amsgrad: self.amsgrad.into(),
            maximize: self.maximize.into(),
        };
        let count = some.len() as i64;
        let params: Vec<_> = some.iter().map(|(i, _)| self.params[*i].as_mut_ptr()).collect();
        let grads: Vec<_> = some.iter().map(|(_, grad)| grad.as_ptr()).collect();
        let moments: Vec<_> = some.iter().filter_map(|(i, _)| self.state[*i].as_ref()).collect();
        let list = |of: fn(&Moments) -> &Tensor| {
            moments.iter().map(|m| of(m).as_mut_ptr()).collect::<Vec<_>>()
        };
        let (means, squares) = (list(|m| &m.mean), list(|m| &m.square));
        let largest = if self.amsgrad { list(|m| &m.largest) } else { Vec::new() };
        unsafe {
            check(libdl_adam_step(
                &options,
                params.as_ptr(),
                count,
                grads.as_ptr(),
                count,
                means.as_ptr(),
                count,
                squares.as_ptr(),
                count,
                list_or_null(&largest),
                largest.len() as i64,
            ))
        }
    }
}

/// Scales the gradients of the parameters in place, so that their joint norm is at most `max_norm`.
/// Returns the norm before. `norm_type`: 2, any positive number, or infinity.
pub fn clip_grad_norm(
    params: &[impl Borrow<Tensor>],
    max_norm: f64,
    norm_type: f64,
) -> Result<Tensor> {
    let grads: Vec<Tensor> = params.iter().filter_map(|p| p.borrow().grad()).collect();
    let list = mut_pointers(&grads);
    let mut out = null_mut();
    unsafe {
        let count = list.len() as i64;
        check(libdl_clip_grad_norm(list.as_ptr(), count, max_norm, norm_type, 0, &mut out))?;
        Ok(Tensor::from_raw(out))
    }
}

/// Clamps every element of the gradients to `[-value, value]`, in place.
pub fn clip_grad_value(params: &[impl Borrow<Tensor>], value: f64) -> Result<()> {
    let grads: Vec<Tensor> = params.iter().filter_map(|p| p.borrow().grad()).collect();
    let list = mut_pointers(&grads);
    unsafe { check(libdl_clip_grad_value(list.as_ptr(), list.len() as i64, value)) }
}

/// The norm of all elements of the tensors together.
pub fn total_norm(tensors: &[impl Borrow<Tensor>], norm_type: f64) -> Result<Tensor> {
    let list = pointers(tensors);
    let mut out = null_mut();
    unsafe {
        check(libdl_total_norm(list.as_ptr(), list.len() as i64, norm_type, 0, &mut out))?;
        Ok(Tensor::from_raw(out))
    }
}

/// Scales the gradients of the parameters in place by `max_norm / total_norm`, if that is less
/// than 1.
pub fn clip_grads_with_norm(
    params: &[impl Borrow<Tensor>],
    max_norm: f64,
    total_norm: &Tensor,
) -> Result<()> {
    let grads: Vec<Tensor> = params.iter().filter_map(|p| p.borrow().grad()).collect();
    let list = mut_pointers(&grads);
    let count = list.len() as i64;
    unsafe {
        check(libdl_clip_grads_with_norm(list.as_ptr(), count, max_norm, total_norm.as_ptr()))
    }
}

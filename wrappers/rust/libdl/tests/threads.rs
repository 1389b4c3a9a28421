// SPDX-License-Identifier: Apache-2.0
//! What travels between threads, and what may not.
use libdl::{ErrorCode, Frozen, Interruption, Tensor};
use std::thread;

fn travels<T: Send + Sync>() {}

#[test]
fn these_types_are_send_and_sync() {
    travels::<Frozen>();
    travels::<libdl::Error>();
    travels::<libdl::Generator>();
    travels::<libdl::File>();
    travels::<libdl::Dtype>();
    travels::<libdl::Device>();
    travels::<Interruption>();
}

#[test]
fn threads_share_a_frozen_tensor() {
    let numbers: Vec<f64> = (0..1000).map(f64::from).collect();
    let frozen = Frozen::from_vec(numbers.clone(), &[10, 100]).unwrap();
    assert_eq!(frozen.as_slice::<f64>().unwrap(), &numbers[..]);
    thread::scope(|scope| {
        for n in 1..=4 {
            let frozen = &frozen;
            scope.spawn(move || {
                let x = frozen.tensor().unwrap();
                for _ in 0..50 {
                    let sum = x.mul(n).unwrap().sum().unwrap().item_f64().unwrap();
                    assert_eq!(sum, 499_500.0 * f64::from(n));
                }
            });
        }
    });
    let mine = frozen.clone();
    thread::spawn(move || drop(mine)).join().unwrap();
    assert_eq!(frozen.tensor().unwrap().select(0, 9).unwrap().to_vec::<f64>().unwrap()[99], 999.0);
}

#[test]
fn nothing_writes_to_a_frozen_tensor() {
    let frozen = Tensor::from_slice(&[1.0f32, 2.0], &[2]).unwrap().freeze().unwrap();
    let alias = frozen.tensor().unwrap();
    let refused = |result: libdl::Result<()>| {
        assert_eq!(result.unwrap_err().code(), ErrorCode::READ_ONLY);
    };
    refused(alias.add_(1.0));
    refused(alias.zero_());
    refused(alias.copy_from_slice(&[1.0f32, 2.0]));
    refused(alias.map_mut::<f32>().map(drop));
    refused(alias.mul_into(2, &alias.view(&[2, 1]).unwrap().view(&[2]).unwrap()));
    refused(alias.view_dtype(libdl::Dtype::INT32).unwrap().fill_(0));
    refused(alias.normal_());
    let leaf = libdl::ones(&[2]).unwrap();
    leaf.set_requires_grad(true).unwrap();
    leaf.set_grad(Some(&alias)).unwrap();
    refused(leaf.square().unwrap().sum().unwrap().backward());
    refused(libdl::optim::Sgd::new(&[with_grad(&alias)], 0.1).step());
    assert_eq!(frozen.as_slice::<f32>().unwrap(), [1.0, 2.0]);
    alias.duplicate().unwrap().add_(1.0).unwrap();
}

fn with_grad(x: &Tensor) -> &Tensor {
    x.set_requires_grad(true).unwrap();
    x.square().unwrap().sum().unwrap().backward().unwrap();
    x
}

#[test]
fn the_thread_s_modes_are_the_thread_s() {
    libdl::no_grad(|| {
        thread::scope(|s| assert!(s.spawn(libdl::is_grad_enabled).join().unwrap()));
    });
}

/// A tensor in a thread's local, with a closure in its history, goes when the thread ends: then
/// other locals are gone already.
#[test]
fn a_thread_s_last_tensors_go_with_it() {
    use std::cell::RefCell;
    thread_local!(static KEPT: RefCell<Vec<Tensor>> = RefCell::new(Vec::new()));
    thread::spawn(|| {
        KEPT.with(|_| ());
        let x = libdl::ones(&[3]).unwrap();
        x.set_requires_grad(true).unwrap();
        let inside = x.duplicate().unwrap();
        let y = x.square().unwrap();
        y.add_hook(move |_| inside.mul(2).map(Some)).unwrap();
        KEPT.with(|kept| kept.borrow_mut().push(y));
    })
    .join()
    .unwrap();
}

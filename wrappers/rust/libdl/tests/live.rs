// SPDX-License-Identifier: Apache-2.0
//! Nothing is left: one test, alone in its process, counts what is alive.
use libdl::{custom_function, live, Error, ErrorCode, Forward, Frozen, Result, Tensor};
use std::panic::{catch_unwind, AssertUnwindSafe};

fn everything() -> Result<()> {
    let x = Tensor::from_vec(vec![1.0, 2.0, 3.0, 4.0], &[2, 2])?;
    x.set_requires_grad(true)?;
    let alias = x.clone();
    let y = x.mul(2.0)?.add_with(&alias, Some(3.into()))?;
    let (values, _) = libdl::cat(&[&y, &x])?.topk(1)?;
    libdl::Pass::new().retain_graph(true).backward(&[values.sum()?])?;
    assert!(y.matmul(&Tensor::from_slice(&[1.0], &[1])?).is_err());
    drop(y.split(1)?);
    y.add_hook(move |gradient| Ok(Some(gradient.mul(&alias)?)))?;
    let forward = || Ok(Forward { outputs: vec![y.square()?], saved: vec![y.clone(), x.clone()] });
    let kept = y.clone();
    let out = custom_function("f", &[&y], forward, move |context, _| match kept.numel() {
        4 => Ok(vec![Some(context.saved(0)?)]),
        _ => Err(Error::new(ErrorCode::VALUE, "never")),
    })?;
    out[0].sum()?.backward()?;
    let z = x.square()?;
    z.add_hook(|_| panic!("carried"))?;
    assert!(catch_unwind(AssertUnwindSafe(|| z.sum()?.backward())).is_err());
    let mut adam = libdl::optim::Adam::new(&[&x], 0.1);
    adam.step()?;
    adam.zero_grad()?;
    let frozen = x.detach()?.freeze()?;
    std::thread::spawn(move || frozen.tensor().map(drop)).join().unwrap()?;
    assert!(Frozen::from_vec(vec![1u8], &[2]).is_err());
    let path = std::env::temp_dir().join(format!("libdl-live-{}", std::process::id()));
    libdl::save_with(&path, &[("x", &x.detach()?)], &[("who", "rust")])?;
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let file = libdl::File::from_bytes(bytes)?;
    assert_eq!(file.names().collect::<Vec<_>>(), ["x"]);
    assert_eq!(file.metadata().collect::<Vec<_>>(), [("who", "rust")]);
    assert_eq!(file.describe("x"), Some((libdl::Dtype::FLOAT64, &[2, 2][..])));
    assert_eq!(file.frozen("x")?.to_vec::<f64>()?, x.to_vec::<f64>()?);
    assert_eq!(file.tensor("y").unwrap_err().code(), ErrorCode::VALUE);
    let managed = x.to_dlpack(libdl::CopyPolicy::IfNeeded)?;
    let back = unsafe { Tensor::from_dlpack(managed, libdl::CopyPolicy::IfNeeded)? };
    assert_eq!(back.to_vec::<f64>()?, x.to_vec::<f64>()?);
    Ok(())
}

#[test]
fn nothing_is_left() {
    let before = live();
    for _ in 0..3 {
        everything().unwrap();
        assert_eq!(live(), before);
    }
}

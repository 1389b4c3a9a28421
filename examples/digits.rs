// SPDX-License-Identifier: Apache-2.0

//! Trains a small network on handwritten digits: 64 pixels -> 64 -> 10 classes, with Adam.
//!
//!     digits [data/digits.safetensors]
//!
//! The same program as examples/digits.c, with the same losses to the last bit.
use libdl::optim::Adam;
use libdl::{Dtype, File, Result, Tensor};

const EPOCHS: usize = 40;
const BATCH: usize = 48;

/// Numbers scattered over [-bound, bound), the same in every language and library: element i is
/// 2 bound fract(43758.5453 (12.9898 i mod 3.14159265)) - bound.
fn parameter(shape: &[i64], bound: f64) -> Result<Tensor> {
    let count: i64 = shape.iter().product();
    let mut x = libdl::arange_with(None, count, None, Some(Dtype::FLOAT64), None)?;
    x = x.mul(12.9898)?.remainder(3.14159265)?;
    x = x.mul(43758.5453)?.remainder(1.0)?;
    x = x.mul(2.0 * bound)?.sub(bound)?;
    let x = x.to_dtype(Dtype::FLOAT32)?.view(shape)?;
    x.set_requires_grad(true)?;
    Ok(x)
}

fn forward(p: &[Tensor], images: &Tensor) -> Result<Tensor> {
    let hidden = images.linear_with(&p[0], Some(&p[1]))?.relu()?;
    hidden.linear_with(&p[2], Some(&p[3]))
}

/// The rows of x with these indices.
fn rows(x: &Tensor, numbers: &[i64]) -> Result<Tensor> {
    x.index_select(0, &Tensor::from_slice(numbers, &[numbers.len() as i64])?)
}

fn train_step(p: &[Tensor], adam: &mut Adam, images: &Tensor, labels: &Tensor) -> Result<f64> {
    let loss = forward(p, images)?.cross_entropy(labels)?;
    loss.backward()?;
    adam.step()?;
    adam.zero_grad()?;
    loss.item_f64()
}

/// The accuracy: the fraction of images whose largest logit is that of the label.
fn accuracy(p: &[Tensor], images: &Tensor, labels: &Tensor) -> Result<f64> {
    let guess = forward(p, images)?.argmax_with(Some(1), false)?;
    let hits = guess.eq(labels)?.sum()?.item_i64()?;
    Ok(hits as f64 / labels.numel() as f64)
}

/// The exact value, as C's %a writes it.
fn hexadecimal(x: f64) -> String {
    let bits = x.to_bits();
    let mantissa = format!("{:013x}", bits & ((1 << 52) - 1));
    let digits = mantissa.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    format!("0x1{point}{digits}p{exponent:+}")
}

fn main() -> Result<()> {
    libdl::check_abi()?;
    let path = std::env::args().nth(1).unwrap_or_else(|| "data/digits.safetensors".into());
    let file = File::open(path)?;
    let (images, labels) = (file.tensor("images")?, file.tensor("labels")?);

    // Image i is held out if i is divisible by 5.
    let (train, test): (Vec<i64>, Vec<i64>) = (0..images.shape()[0]).partition(|i| i % 5 != 0);
    let shapes: [&[i64]; 4] = [&[64, 64], &[64], &[10, 64], &[10]];
    let p = shapes.iter().map(|s| parameter(s, 0.125)).collect::<Result<Vec<_>>>()?;
    let mut adam = Adam::new(&p, 3e-3);

    for epoch in 0..EPOCHS {
        let order = |k| train[(563 * k + 97 * epoch) % train.len()];
        let order: Vec<i64> = (0..train.len()).map(order).collect();
        let (mut sum, mut batches) = (0.0, 0.0);
        for batch in order.chunks(BATCH) {
            let (images, labels) = (rows(&images, batch)?, rows(&labels, batch)?);
            sum += train_step(&p, &mut adam, &images, &labels)?;
            batches += 1.0;
        }
        let loss = sum / batches;
        println!("epoch {epoch:2}  loss {}  ({loss:.6})", hexadecimal(loss));
    }

    let share = accuracy(&p, &rows(&images, &test)?, &rows(&labels, &test)?)?;
    println!("held out: {:.2} %", 100.0 * share);
    Ok(())
}

// SPDX-License-Identifier: Apache-2.0
//! Values, forms of operators, data in and out, errors.
use libdl::{BFloat16, Complex, Dtype, ErrorCode, Generator, Operand, Tensor};

fn tensor(values: &[f64]) -> Tensor {
    Tensor::from_slice(values, &[values.len() as i64]).unwrap()
}

fn values(x: &Tensor) -> Vec<f64> {
    x.to_vec().unwrap()
}

#[test]
fn each_kind_of_argument_passes() -> libdl::Result<()> {
    let (x, y) = (tensor(&[3.0, 1.0, 2.0]), tensor(&[10.0, 20.0, 30.0]));
    assert_eq!(values(&x.add(&y)?), [13.0, 21.0, 32.0]);
    assert_eq!(values(&x.add_with(&y, Some(2.into()))?), [23.0, 41.0, 62.0]);
    assert_eq!(values(&x.mul(2)?), [6.0, 2.0, 4.0]);
    assert_eq!(x.sum()?.item_f64()?, 6.0);
    assert_eq!(x.sum_with(Some(&[0]), true, Some(Dtype::FLOAT32))?.shape(), [1]);
    assert_eq!(libdl::cat(&[&x, &y])?.numel(), 6);
    assert_eq!(libdl::stack_with(&[x.clone(), y.clone()], 1)?.shape(), [3, 2]);
    let (largest, indices) = x.topk(2)?;
    assert_eq!((values(&largest), indices.to_vec::<i64>()?), (vec![3.0, 2.0], vec![0, 2]));
    assert_eq!(values(&tensor(&[7.0, 7.0]).softmax(0)?), [0.5, 0.5]);
    assert_eq!(values(&x.div_with(2.0, Some("floor"))?), [1.0, 0.0, 1.0]);
    let parts = libdl::cat(&[&x, &y])?.split(2)?;
    assert_eq!(parts.iter().map(values).collect::<Vec<_>>()[1], [2.0, 10.0]);
    assert!(x.equal(&x)? && !x.equal(&y)?);
    assert_eq!(values(&x.clamp(Some(1.5.into()), None)?), [3.0, 1.5, 2.0]);
    let index = Tensor::from_slice(&[2i64, 0], &[2])?;
    assert_eq!(values(&x.index(&[Some(&index)])?), [2.0, 3.0]);
    assert_eq!(libdl::r#where(&x.gt(1.5)?, &x, &y)?.to_vec::<f64>()?, [3.0, 20.0, 2.0]);
    assert_eq!(values(&libdl::arange(3.0)?.to_dtype(Dtype::FLOAT64)?)[2], 2.0);
    Ok(())
}

#[test]
fn in_place_and_into_write_where_they_say() -> libdl::Result<()> {
    let x = tensor(&[1.0, 2.0]);
    let alias = x.clone();
    x.add_(10.0)?;
    assert_eq!(values(&alias), [11.0, 12.0]);
    let copy = x.duplicate()?;
    x.mul_into(2, &copy)?;
    assert_eq!((values(&copy), values(&x)), (vec![22.0, 24.0], vec![11.0, 12.0]));
    x.zero_()?;
    copy.copy_(&x)?;
    x.fill_(7)?;
    assert_eq!((values(&copy), values(&alias)), (vec![0.0, 0.0], vec![7.0, 7.0]));
    assert_eq!(x.add_with_(1, Some(3.into())).map(|()| values(&x))?, [10.0, 10.0]);
    Ok(())
}

#[test]
fn rust_s_operators_compute() {
    let x = tensor(&[4.0, -2.0]);
    assert_eq!(values(&(&x + &x)), [8.0, -4.0]);
    assert_eq!(values(&(1.0 - &x)), [-3.0, 3.0]);
    assert_eq!(values(&(-(&x * 2.0) / &x)), [-2.0, -2.0]);
    let mut y = x.duplicate().unwrap();
    y += &x;
    y -= 1;
    assert_eq!(values(&y), [7.0, -5.0]);
    let bits = Tensor::from_slice(&[6i64], &[1]).unwrap();
    assert_eq!((&bits & 3 | 8).to_vec::<i64>().unwrap(), [10]);
    assert_eq!((!&bits % 4).to_vec::<i64>().unwrap(), [1]);
}

#[test]
#[should_panic(expected = "add")]
fn rust_s_operators_panic_with_the_error() {
    let _ = &tensor(&[1.0, 2.0]) + &tensor(&[1.0, 2.0, 3.0]);
}

#[test]
fn numbers_of_the_host_keep_the_dtype() -> libdl::Result<()> {
    let x = Tensor::from_slice(&[1i32, 2], &[2])?;
    assert_eq!(x.add(1)?.dtype(), Dtype::INT32);
    assert_eq!(x.add(1.5)?.dtype(), Dtype::FLOAT32);
    assert_eq!(x.add(Complex { re: 0.0, im: 1.0 })?.dtype(), Dtype::COMPLEX64);
    assert_eq!(x.mul(Operand::Bool(true))?.dtype(), Dtype::INT32);
    Ok(())
}

#[test]
fn elements_go_in_and_out() -> libdl::Result<()> {
    let rows = Tensor::from_vec(vec![1u8, 2, 3, 4, 5, 6], &[2, 3])?;
    assert_eq!(rows.transpose(0, 1)?.to_vec::<u8>()?, [1, 4, 2, 5, 3, 6]);
    assert_eq!(Tensor::from_slice(&[true, false], &[2])?.to_vec::<bool>()?, [true, false]);
    assert_eq!(Tensor::from_slice(&[BFloat16(0x3f80)], &[1])?.sum()?.item_f64()?, 1.0);
    let empty: [f32; 0] = [];
    assert!(Tensor::from_slice(&empty, &[0, 3])?.to_vec::<f32>()?.is_empty());
    assert_eq!(rows.to_vec::<f32>().unwrap_err().code(), ErrorCode::DTYPE);
    let short = Tensor::from_slice(&[1.0, 2.0], &[3]).unwrap_err();
    assert_eq!(short.code(), ErrorCode::VALUE);
    assert!(Tensor::from_vec(vec![1.0, 2.0], &[3]).is_err());
    Ok(())
}

#[test]
fn a_byte_that_is_no_bool_is_read_as_one() -> libdl::Result<()> {
    let bytes = Tensor::from_slice(&[0u8, 1, 2, 255], &[4])?;
    if let Ok(bools) = bytes.view_dtype(Dtype::BOOL) {
        assert_eq!(bools.to_vec::<bool>()?, [false, true, true, true]);
    }
    Ok(())
}

#[test]
fn windows_see_operators_and_operators_see_windows() -> libdl::Result<()> {
    let x = tensor(&[1.0, 2.0, 3.0]);
    let window = x.map_mut::<f64>()?;
    window[1].set(20.0);
    x.add_(1.0)?;
    assert_eq!(window.iter().map(|cell| cell.get()).collect::<Vec<_>>(), [2.0, 21.0, 4.0]);
    let before = x.version();
    drop(window);
    assert!(x.version() > before);
    let reader = x.map::<f64>()?;
    x.mul_(2)?;
    assert_eq!((reader.get(0), reader.get(3), reader.len()), (Some(4.0), None, 3));
    assert_eq!(reader.iter().sum::<f64>(), 54.0);
    let strided = Tensor::from_slice(&[1.0, 2.0, 3.0, 4.0], &[2, 2])?.transpose(0, 1)?;
    assert_eq!(strided.map::<f64>().unwrap_err().code(), ErrorCode::VALUE);
    Ok(())
}

#[test]
fn errors_tell_operator_argument_found_and_wanted() {
    let x = libdl::zeros(&[2, 3]).unwrap();
    let error = x.matmul(&x).unwrap_err();
    assert_eq!((error.code(), error.operator()), (ErrorCode::SHAPE, "matmul"));
    assert_eq!((error.argument(), error.argument_name()), (Some(2), "other"));
    assert!(!error.found().is_empty() && !error.wanted().is_empty());
    assert!(error.message().contains("matmul") && format!("{error:?}").starts_with("SHAPE: "));
    assert_eq!(error.clone().to_string(), error.to_string());
    let unknown = x.sum_with(None, false, Some(Dtype(99))).unwrap_err();
    assert_eq!(unknown.code(), ErrorCode::DTYPE);
}

#[test]
fn the_same_seed_gives_the_same_bits() -> libdl::Result<()> {
    let generator = Generator::new(5)?;
    let draw = |g| libdl::randn_with(&[100], g, Some(Dtype::FLOAT64), None).map(|x| values(&x));
    let first = draw(Some(&generator))?;
    let state = generator.state()?;
    let second = draw(Some(&generator))?;
    assert_ne!(first, second);
    generator.set_seed(5)?;
    assert_eq!((generator.seed(), draw(Some(&generator))?), (5, first));
    generator.set_state(&state)?;
    let clone = generator.clone();
    assert_eq!(draw(Some(&clone))?, second);
    Generator::set_default(Some(&generator))?;
    libdl::manual_seed(5)?;
    let again = draw(None)?;
    generator.set_seed(5)?;
    assert_eq!(draw(Some(&generator))?, again);
    Generator::set_default(None)
}

#[test]
fn metadata_and_printing_are_told() -> libdl::Result<()> {
    let x = libdl::ones(&[2, 3])?;
    let column = x.select(1, 0)?;
    assert_eq!((x.ndim(), x.shape(), x.strides(), x.numel()), (2, &[2, 3][..], &[3, 1][..], 6));
    assert_eq!((column.strides(), column.is_contiguous()), (&[3][..], false));
    assert!(column.is_view() && !x.is_view() && column.storage_id() == x.storage_id());
    assert_eq!(x.device(), libdl::Device::CPU);
    assert_eq!(tensor(&[1.0, 2.5]).to_string(), "tensor([1.0000, 2.5000], dtype=libdl.float64)");
    assert_eq!(format!("{:?} {}", Dtype::FLOAT32, Dtype::INT64.name()), "FLOAT32 int64");
    assert_eq!(Dtype::INT32.promote(Dtype::FLOAT16)?, Dtype::FLOAT16);
    assert!(libdl::Device::CPU.properties()?.processors > 0 && libdl::threads() > 0);
    assert!(libdl::version().starts_with(env!("CARGO_PKG_VERSION")));
    libdl::check_abi()
}

#[test]
fn what_finds_no_memory_is_an_error() -> libdl::Result<()> {
    let huge = libdl::ones_with(&[1], Some(Dtype::FLOAT64), None)?.expand(&[1 << 50])?;
    let told = huge.to_vec::<f64>().unwrap_err();
    assert_eq!(told.code(), ErrorCode::OUT_OF_MEMORY);
    assert!(told.to_string().contains("1125899906842624 elements of 8 bytes"), "{told}");
    assert_eq!(huge.freeze().unwrap_err().code(), ErrorCode::OUT_OF_MEMORY);
    Ok(())
}

#[test]
fn a_tensor_without_values_is_refused_whatever_its_size() -> libdl::Result<()> {
    for size in [3, 1 << 50] {
        let meta = libdl::empty_with(&[size], None, libdl::Device::named("meta", 0))?;
        for told in [meta.to_vec::<f32>().err(), meta.freeze().err()] {
            let told = told.expect("it has no values");
            assert_eq!(told.code(), ErrorCode::UNSUPPORTED);
            assert!(told.to_string().contains("meta"), "{told}");
        }
    }
    Ok(())
}

#[test]
fn bools_of_expanded_tensors_are_read() -> libdl::Result<()> {
    let one = tensor(&[1.0]).gt(0.0)?;
    assert_eq!(one.expand(&[3])?.to_vec::<bool>()?, [true; 3]);
    let huge = one.expand(&[1 << 50])?;
    assert_eq!(huge.to_vec::<bool>().unwrap_err().code(), ErrorCode::OUT_OF_MEMORY);
    assert_eq!(huge.freeze().unwrap_err().code(), ErrorCode::OUT_OF_MEMORY);
    Ok(())
}

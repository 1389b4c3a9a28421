# SPDX-License-Identifier: Apache-2.0
"""Products on the device, by the plugin's own kernels and by cuBLASLt (a simulated one, which
computes what its documentation says of layouts, without a device). Whole numbers are exact in any
order."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import libdl as dl
import numpy as np
import pytest

REAL = [dl.float16, dl.bfloat16, dl.float32, dl.float64]
COMPLEX = [dl.complex64, dl.complex128]
WHOLE = [dl.uint8, dl.uint16, dl.uint32, dl.uint64, dl.int8, dl.int16, dl.int32, dl.int64]

pytestmark = pytest.mark.skipif(not dl.cuda.is_available(), reason="no device, nor a simulated one")


def numbers(shape, dtype, seed) -> dl.Tensor:
    """Small enough that every sum is exact in bfloat16."""
    made = np.random.default_rng(seed).integers(-2, 3, shape)
    if dtype in COMPLEX:
        return dl.tensor(made + 1j * np.roll(made, 1)).to(dtype)
    return dl.tensor(made).to(dtype)


def both(call, *tensors) -> None:
    on_cpu, on_device = call(*tensors), call(*[x.to("cuda") for x in tensors])
    assert str(on_device.device) == "cuda:0"
    assert on_device.dtype == on_cpu.dtype
    assert dl.equal(on_device.cpu(), on_cpu), f"{on_device.cpu()} and {on_cpu}"


SHAPES = [(1, 1, 1), (5, 7, 3), (64, 64, 16), (65, 17, 66), (1, 30, 9), (9, 30, 1)]


@pytest.mark.parametrize("dtype", REAL + COMPLEX + WHOLE, ids=str)
def test_every_dtype_and_shape(dtype):
    for m, k, n in SHAPES:
        both(dl.matmul, numbers((m, k), dtype, 1), numbers((k, n), dtype, 2))
    both(dl.matmul, numbers((3, 5, 7), dtype, 1), numbers((3, 7, 4), dtype, 2))
    both(dl.matmul, numbers((7,), dtype, 1), numbers((7, 4), dtype, 2))
    both(dl.matmul, numbers((4, 7), dtype, 1), numbers((7,), dtype, 2))


@pytest.mark.parametrize("dtype", [dl.float32, dl.float16, dl.complex128, dl.int32], ids=str)
def test_operands_may_be_strided_any_way(dtype):
    x, y = numbers((12, 14), dtype, 3), numbers((14, 12), dtype, 4)
    both(lambda x, y: x @ y, x, y)
    both(lambda x, y: y.t() @ x.t(), x, y)
    both(lambda x, y: x @ x.t(), x, y)
    both(lambda x, y: x[::2, ::2] @ y[1::2, ::3], x, y)
    both(lambda x, y: x[3:, 2:9] @ y[2:9, 5:], x, y)
    both(lambda x, y: x.flip(0) @ y.flip(1), x, y)
    both(lambda x, y: x[0].expand(5, 14) @ y[:, :1].expand(14, 4), x, y)
    both(lambda x, y: x[:, :1] @ y[:1], x, y)


@pytest.mark.parametrize("dtype", [dl.float32, dl.bfloat16, dl.int64], ids=str)
def test_batches_may_be_strided_and_shared(dtype):
    x, y = numbers((4, 6, 5), dtype, 5), numbers((4, 5, 3), dtype, 6)
    both(lambda x, y: x[::2] @ y[1::2], x, y)
    both(lambda x, y: x.permute(1, 0, 2) @ y[:1].expand(6, 5, 3), x, y)
    both(lambda x, y: x @ y[0], x, y)
    both(lambda x, y: x[:1].expand(4, 6, 5) @ y, x, y)
    both(lambda x, y: x.permute(2, 1, 0) @ y.permute(1, 0, 2), x, y)


@pytest.mark.parametrize("dtype", [*REAL, dl.complex64], ids=str)
def test_a_bias_is_added_to_every_row(dtype):
    x, y = numbers((6, 5), dtype, 8), numbers((7, 5), dtype, 9)
    bias = numbers((14,), dtype, 10)
    both(lambda x, y, b: dl.nn.functional.linear(x, y, b[:7]), x, y, bias)
    both(lambda x, y, b: dl.nn.functional.linear(x, y, b[::2]), x, y, bias)
    both(lambda x, y, b: dl.nn.functional.linear(x, y[:1], b[3:4]), x, y, bias)
    both(lambda x, y, b: dl.addmm(b[:7], x, y.t()), x, y, bias)


def test_nothing_to_sum_gives_zero_and_nothing_to_give_is_no_error():
    for m, k, n in [(3, 0, 4), (0, 3, 4), (3, 4, 0), (0, 0, 0)]:
        both(dl.matmul, dl.zeros(m, k), dl.zeros(k, n))


def test_many_squares_take_the_large_tiles():
    x, y = numbers((900, 3), dl.float32, 11), numbers((3, 1100), dl.float32, 12)
    both(dl.matmul, x, y)


def test_float32_is_summed_as_float32():
    """Each of k products and sums rounds by 2^-24 of what has been summed so far, on either
    side."""
    generator = np.random.default_rng(13)
    x, y = (generator.standard_normal(s).astype("f4") for s in [(20, 700), (700, 30)])
    got = (dl.tensor(x).to("cuda") @ dl.tensor(y).to("cuda")).cpu().numpy()
    exact = x.astype("f8") @ y.astype("f8")
    bound = 700 * 2.0**-24 * (np.abs(x).astype("f8") @ np.abs(y).astype("f8"))
    assert (np.abs(got - exact) <= bound).all()


def simulated():
    path = os.environ.get("LIBDL_CUDA_DRIVER")
    return ctypes.CDLL(path) if path else None


@pytest.mark.skipif(simulated() is None, reason="a device has the library or not")
def test_the_library_is_given_layouts_that_mean_the_same():
    if "LIBDL_SIMULATED_BLAS" in os.environ:
        x, y = numbers((6, 5), dl.float32, 1).to("cuda"), numbers((5, 7), dl.float32, 2).to("cuda")
        before = simulated().libdl_simulated_products()
        x @ y
        assert simulated().libdl_simulated_products() == before + 1
        return
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__],
        env={**os.environ, "LIBDL_SIMULATED_BLAS": "1"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.skipif(simulated() is None, reason="a device has the library or not")
def test_without_the_library_the_own_kernels_serve():
    if "LIBDL_SIMULATED_BLAS" in os.environ:
        pytest.skip("the library is there")
    launches = simulated().libdl_simulated_launches
    before = launches(b"matmul_f32")
    (dl.ones(3, 3, device="cuda") @ dl.ones(3, 3, device="cuda")).cpu()
    assert launches(b"matmul_f32") == before + 1

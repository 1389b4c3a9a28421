# SPDX-License-Identifier: Apache-2.0
"""What is computed in the dtype that memory holds gives what the wider dtype gives."""

import libdl
import numpy as np
import pytest

SHAPES = ((1, 1), (3, 5), (2, 130), (250, 63), (64, 64), (1, 400), (1000, 3), (5000, 17))


def sample(shape, dtype, seed=0):
    x = np.random.default_rng(seed).integers(-300, 300, shape)
    if dtype in (libdl.float16, libdl.bfloat16, libdl.complex64):
        y = libdl.from_numpy(x / 103).to(dtype)
        return y * (1 + 0.5j) if dtype == libdl.complex64 else y
    return libdl.from_numpy(x).to(dtype)


@pytest.mark.parametrize("dtype", [libdl.uint8, libdl.int8, libdl.int16, libdl.int32], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_extrema_of_narrow_integers(shape, dtype):
    x = sample(shape, dtype)
    for y in (x, x.t(), x[:, ::2], x[1:] if shape[0] > 1 else x):
        for name in ("amax", "amin"):
            for dim in ((0,), (1,), (0, 1)):
                found = getattr(libdl, name)(y, dim)
                assert found.dtype == dtype
                wanted = getattr(libdl, name)(y.to(libdl.int64), dim)
                assert libdl.equal(found.to(libdl.int64), wanted), (name, dim)


@pytest.mark.parametrize("dtype", [libdl.bool, libdl.uint8, libdl.int8], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_truths_of_bytes(shape, dtype):
    x = sample(shape, dtype)
    x[0] = 0
    x[:, 0] = 2
    for y in (x, x.t(), x[:, ::2], x[:0]):
        for name in ("all", "any"):
            for dim in (None, 0, 1):
                if dim is None:
                    found, wanted = (getattr(libdl, name)(z) for z in (y, y.to(libdl.float32)))
                else:
                    found, wanted = (getattr(libdl, name)(z, dim) for z in (y, y.to(libdl.float32)))
                assert libdl.equal(found.to(libdl.int64), wanted.to(libdl.int64)), (name, dim)


@pytest.mark.parametrize(
    ("dtype", "wide"),
    [
        (libdl.float16, libdl.float32),
        (libdl.bfloat16, libdl.float32),
        (libdl.complex64, libdl.complex128),
    ],
    ids=str,
)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_round_once(shape, dtype, wide):
    x = sample(shape, dtype)
    for y in (x, x.t(), x[:, ::2], x[:, 1:], x[:0]):
        for dim in ((0,), (1,), (0, 1)):
            wanted = y.to(wide).sum(dim).to(dtype)
            assert libdl.equal(y.sum(dim), wanted), dim


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "norm", "amax", "std"])
def test_a_transposed_tensor_is_reduced_by_its_logical_indices(name):
    x = libdl.from_numpy(np.random.default_rng(1).normal(size=(7, 300, 40)))
    for order in ((2, 1, 0), (1, 0, 2), (0, 2, 1)):
        y = x.permute(order)
        assert libdl.equal(getattr(libdl, name)(y), getattr(libdl, name)(y.contiguous())), order


@pytest.mark.parametrize("size", [12, 25, 64, 70])
@pytest.mark.parametrize(
    "dtype", [libdl.uint8, libdl.bfloat16, libdl.float32, libdl.complex64], ids=str
)
def test_transposed_operands(size, dtype):
    """In blocks, the last of which overlap, and in rows that are joined or not."""
    for columns in (16, 40, 64, 129):
        x, y = (sample((columns, size), dtype, seed).t() for seed in (1, 2))
        wanted = x.contiguous() + y.contiguous()
        assert libdl.equal(x + y, wanted)
        assert libdl.equal(x + y.contiguous(), wanted)
        out = libdl.empty(columns, size, dtype=dtype).t()
        assert libdl.equal(libdl.add(x.contiguous(), y, out=out), wanted)
        wanted = x.contiguous()[:, 1:14] == y.contiguous()[:, 1:14]
        assert libdl.equal(x[:, 1:14] == y[:, 1:14], wanted)


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "ne"])
def test_comparisons_in_place_write_numbers(name):
    for dtype in (
        libdl.float16,
        libdl.bfloat16,
        libdl.float32,
        libdl.float64,
        libdl.int64,
        libdl.int32,
        libdl.uint8,
        libdl.complex64,
    ):
        if dtype == libdl.complex64 and name not in ("eq", "ne"):
            continue
        x = sample((37, 29), dtype, 1)
        y = x.clone()
        y[::3] = sample((13, 29), dtype, 2)
        wanted = getattr(libdl, name)(x, y)
        for other in (y, y.t().contiguous().t()):
            found = getattr(x.clone(), name + "_")(other)
            assert found.dtype == dtype
            assert libdl.equal(found, wanted.to(dtype))


def test_rests_of_zero_and_infinity_beside_others():
    """fmod goes to the C library only for quotients of 2^52 and more."""
    inf, nan = float("inf"), float("nan")
    x = libdl.tensor([7.5, inf, -3.0, 5.0, nan, 2.0, -0.0, -inf] * 3, dtype=libdl.float64)
    y = libdl.tensor([2.0, 3.0, inf, 0.0, 1.0, nan, 4.0, inf] * 3, dtype=libdl.float64)
    wanted = [1.5, nan, -3.0, nan, nan, nan, -0.0, nan] * 3
    found = libdl.fmod(x, y).tolist()
    assert [str(v) for v in found] == [str(v) for v in wanted]
    x[3], y[3] = 1e300, 3.0
    assert libdl.fmod(x, y)[3].item() == 1e300 % 3.0
    assert str(libdl.fmod(x, y)[2].item()) == "-3.0"

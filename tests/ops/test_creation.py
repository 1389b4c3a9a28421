# SPDX-License-Identifier: Apache-2.0
"""Creation against NumPy, and random numbers by their seed, bounds and moments."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import harness
import libdl

SHAPES = [(), (1,), (5,), (2, 3), (3, 1, 2), (0,), (2, 0, 3)]
DTYPES = {libdl.float64: np.float64, libdl.float32: np.float32, libdl.int64: np.int64,
          libdl.int32: np.int32, libdl.uint8: np.uint8, libdl.bool: np.bool_}


@pytest.mark.parametrize(("shape", "dtype"), list(itertools.product(SHAPES, DTYPES)))
def test_filled(shape, dtype):
    for made, wanted in [(libdl.zeros(shape, dtype=dtype), np.zeros(shape)),
                         (libdl.ones(shape, dtype=dtype), np.ones(shape)),
                         (libdl.full(shape, 1, dtype=dtype), np.ones(shape))]:
        found = made.numpy()
        assert found.dtype == DTYPES[dtype]
        np.testing.assert_array_equal(found, wanted.astype(DTYPES[dtype]), strict=True)
        for like in (libdl.zeros_like(made), libdl.ones_like(made), libdl.full_like(made, 1)):
            assert like.shape == made.shape and like.dtype == dtype
    assert libdl.empty(shape, dtype=dtype).shape == libdl.Size(shape)


@pytest.mark.parametrize("make", [
    pytest.param(f, marks=harness.marks(f.__name__, "zero_dim_array"))
    for f in (libdl.tensor,)])
def test_zero_dim_array_keeps_its_dtype(make):
    for dtype, wanted in DTYPES.items():
        assert make(np.array(1, dtype=wanted)).dtype == dtype


@pytest.mark.parametrize("span", [(5,), (0,), (2, 7), (-3, 3, 2), (9, 1, -3), (0, 1, 0.1), (1.5,),
                                  (-1, 1, 0.25), (3, 3), (0, 100, 7)])
def test_arange(span):
    np.testing.assert_allclose(libdl.arange(*span, dtype=libdl.float64).numpy(),
                               np.arange(*span, dtype=np.float64), rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 10, 101])
def test_linspace_and_eye(steps):
    np.testing.assert_allclose(libdl.linspace(-1.0, 3.0, steps, dtype=libdl.float64).numpy(),
                               np.linspace(-1.0, 3.0, steps), rtol=1e-15, atol=1e-15)
    for columns in (0, 1, steps):
        np.testing.assert_array_equal(libdl.eye(steps, columns).numpy(), np.eye(steps, columns))


REJECTED = [
    (lambda: libdl.zeros((-1,)), (ValueError, RuntimeError), ("zeros", "size")),
    (lambda: libdl.ones((2**62, 4)), (ValueError, RuntimeError, MemoryError), ("ones",)),
    (lambda: libdl.arange(0, 3, 0), (ValueError, RuntimeError), ("arange", "step")),
    (lambda: libdl.arange(0, 3, -1), (ValueError, RuntimeError), ("arange", "step")),
    (lambda: libdl.linspace(0, 1, -1), (ValueError, RuntimeError), ("linspace", "steps")),
    (lambda: libdl.eye(-1), (ValueError, RuntimeError), ("eye", "n")),
    (lambda: libdl.randint(3, 3, (2,)), (ValueError, RuntimeError), ("randint", "high")),
    (lambda: libdl.randperm(-1), (ValueError, RuntimeError), ("randperm", "n")),
]


@pytest.mark.parametrize(("call", "error", "words"), [
    pytest.param(*r, id=r[2][0] + str(i), marks=harness.marks(r[2][0], "rejects"))
    for i, r in enumerate(REJECTED)])
def test_rejects(call, error, words):
    with pytest.raises(error) as caught:
        call()
    for word in words:
        assert word in str(caught.value), f"{word!r} is not in: {caught.value}"


# name: what makes n numbers, their mean, their variance, and the bounds they lie in
DRAWS = {
    "rand": (lambda n: libdl.rand(n, dtype=libdl.float64), 0.5, 1 / 12, (0, 1)),
    "randn": (lambda n: libdl.randn(n, dtype=libdl.float64), 0, 1, (-9, 9)),
    "randint": (lambda n: libdl.randint(-2, 5, (n,)), 1, 4, (-2, 4)),
    "bernoulli": (lambda n: libdl.bernoulli(libdl.full((n,), 0.3)), 0.3, 0.21, (0, 1)),
    "uniform_": (lambda n: libdl.empty(n).uniform_(-1, 3), 1, 16 / 12, (-1, 3)),
    "normal_": (lambda n: libdl.empty(n).normal_(2, 3), 2, 9, (-30, 30)),
    "rand_like": (lambda n: libdl.rand_like(libdl.empty(n)), 0.5, 1 / 12, (0, 1)),
    "dropout": (lambda n: libdl.nn.functional.dropout(libdl.ones(n), 0.25), 1, 1 / 3, (0, 1.3334)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws(name):
    draw, mean, variance, (low, high) = DRAWS[name]
    n = 40_000
    libdl.manual_seed(7)
    first, second = draw(n).numpy(), draw(n).numpy()
    libdl.manual_seed(7)
    np.testing.assert_array_equal(draw(n).numpy(), first)
    assert np.any(first != second)
    assert low <= first.min() and first.max() <= high
    # Five standard errors: passed by chance in all but one of two million correct generators.
    assert abs(first.mean() - mean) < 5 * math.sqrt(variance / n)
    assert abs(first.var() - variance) < 5 * math.sqrt(3 / n) * max(variance, 0.1)
    for size in (0, 1, 7):
        assert draw(size).numel() == size


def test_randperm():
    for n in (0, 1, 2, 10, 1000):
        assert sorted(libdl.randperm(n).tolist()) == list(range(n))


def test_threads_do_not_change_the_bits():
    drawn = []
    before = libdl.get_num_threads()
    for threads in (1, 2, 3):
        libdl.set_num_threads(threads)
        libdl.manual_seed(1)
        drawn.append(libdl.randn(300_000).numpy())
    libdl.set_num_threads(before)
    assert all(np.array_equal(drawn[0], d) for d in drawn)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_likes(shape, dtype):
    """empty_like and the random likes take shape and dtype from their input, or a dtype of theirs."""
    x = libdl.zeros(shape, dtype=dtype)
    made = [libdl.empty_like(x), libdl.empty_like(x, dtype=libdl.float16),
            libdl.rand_like(x, dtype=libdl.float64), libdl.randn_like(x, dtype=libdl.float32)]
    wanted = [dtype, libdl.float16, libdl.float64, libdl.float32]
    if dtype != libdl.bool:
        made.append(libdl.randint_like(x, 2, 5))
        wanted.append(dtype)
        assert set(np.unique(made[-1].numpy())) <= {2, 3, 4}
    for y, d in zip(made, wanted, strict=True):
        assert y.shape == x.shape and y.dtype == d
    assert libdl.all((made[2] >= 0) & (made[2] < 1))


@pytest.mark.parametrize("draw", [libdl.rand_like, libdl.randn_like])
def test_likes_refuse_integers(draw):
    with pytest.raises(TypeError, match=rf"{draw.__name__}.*int64"):
        draw(libdl.zeros(2, dtype=libdl.int64))


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 1000])
@pytest.mark.parametrize("dtype", [libdl.float64, libdl.float32, libdl.int64], ids=str)
def test_every_step_of_arange_is_its_own(dtype, count):
    """Element i is start + i step, rounded once each: no sum of steps."""
    start, step = (5, 3) if dtype == libdl.int64 else (0.7, 0.1)
    found = libdl.arange(start, start + (count - 0.5) * step if count else start, step, dtype=dtype)
    wanted = [start + i * step for i in range(count)]
    assert found.tolist() == libdl.tensor(wanted, dtype=dtype).tolist()

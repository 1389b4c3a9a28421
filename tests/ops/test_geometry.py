# SPDX-License-Identifier: Apache-2.0
"""Shapes over strides of every kind, dimensions of size 1 among them, whose strides say nothing:
reshape, view and flatten, elementwise operators, sums and copies against NumPy."""

from __future__ import annotations

import random

import numpy as np
import pytest

import libdl

ROUNDS = 40


def pieces(n: int, draw: random.Random) -> list[int]:
    """Sizes whose product is n, ones among them."""
    sizes: list[int] = []
    while n > 1:
        choices = [k for k in range(2, n + 1) if n % k == 0]
        sizes.append(draw.choice(choices))
        n //= sizes[-1]
    for _ in range(draw.randint(0, 2)):
        sizes.insert(draw.randint(0, len(sizes)), 1)
    return sizes


def laid_out(draw: random.Random):
    """The same view of the same numbers, of libdl and of NumPy."""
    shape = [draw.choice([1, 1, 2, 3, 4]) for _ in range(draw.randint(1, 5))]
    a = np.arange(float(np.prod(shape))).reshape(shape)
    x = libdl.from_numpy(a.copy())
    for _ in range(draw.randint(0, 3)):
        d = draw.randrange(a.ndim)
        how = draw.choice(["permute", "narrow", "one", "step", "expand", "flip"])
        if how == "permute":
            order = draw.sample(range(a.ndim), a.ndim)
            a, x = a.transpose(order), x.permute(order)
        elif how == "narrow":
            n = draw.randint(1, a.shape[d])
            a, x = np.take(a, range(n), d), x.narrow(d, 0, n)
        elif how == "one":
            k = draw.randrange(a.shape[d])
            a, x = np.take(a, [k], d), x.narrow(d, k, 1)
        elif how == "step":
            key = (slice(None),) * d + (slice(None, None, 2),)
            a, x = a[key], x[key]
        elif how == "expand" and a.shape[d] == 1:
            size = [*a.shape]
            size[d] = 2
            a, x = np.broadcast_to(a, size), x.expand(size)
        elif how == "flip":
            a, x = np.flip(a, d), x.flip(d)
    return a, x


@pytest.mark.parametrize("seed", range(20))
def test_views_of_views(seed):
    draw = random.Random(seed)
    for _ in range(ROUNDS):
        a, x = laid_out(draw)
        shape = pieces(a.size, draw)
        np.testing.assert_array_equal(x.numpy(), a)
        np.testing.assert_array_equal(x.reshape(shape).numpy(), a.reshape(shape), strict=True)
        np.testing.assert_array_equal(x.flatten().numpy(), a.reshape(-1), strict=True)
        try:
            seen = x.view(shape)
        except ValueError:
            seen = x.contiguous().view(shape)
        else:
            assert seen.data_ptr() == x.data_ptr()
        np.testing.assert_array_equal(seen.numpy(), a.reshape(shape), strict=True)


@pytest.mark.parametrize("seed", range(20))
def test_elements_and_sums(seed):
    draw = random.Random(1000 + seed)
    for _ in range(ROUNDS):
        a, x = laid_out(draw)
        d = draw.randrange(a.ndim)
        np.testing.assert_array_equal((x + x[..., :1]).numpy(), a + a[..., :1], strict=True)
        np.testing.assert_array_equal(x.sum(d).numpy(), a.sum(d))  # whole numbers: exact
        np.testing.assert_array_equal(x.clone().numpy(), a, strict=True)
        np.testing.assert_array_equal(x.cumsum(d).numpy(), a.cumsum(d), strict=True)
        np.testing.assert_array_equal(libdl.cat([x, x], d).numpy(), np.concatenate([a, a], d))


@pytest.mark.parametrize("seed", range(10))
def test_a_view_keeps_its_gradient(seed):
    """Numbers that went through a view get their own weights back."""
    draw = random.Random(2000 + seed)
    for _ in range(ROUNDS // 2):
        a, _ = laid_out(draw)
        n, d = draw.randint(1, 3), draw.randrange(-a.ndim - 1, a.ndim + 1)
        parts = [libdl.from_numpy(a.copy()).requires_grad_() for _ in range(n)]
        joined = libdl.stack(parts, d)
        w = np.random.default_rng(seed).normal(size=tuple(joined.shape))
        found = libdl.autograd.grad(joined, parts, libdl.from_numpy(w.copy()))
        for i, g in enumerate(found):
            np.testing.assert_array_equal(g.numpy(), np.take(w, i, d))


@pytest.mark.parametrize("shape", [(1000, 17), (37, 1201), (5, 700, 19), (300, 300), (2000, 7, 9)])
def test_what_threads_share(shape):
    """Arrays that end within a thread's part and within a row of it; whole numbers: exact."""
    a = (np.arange(np.prod(shape)) % 1013).astype(np.float32).reshape(shape)
    x = libdl.from_numpy(a.copy())
    across = x.permute(*reversed(range(a.ndim)))
    np.testing.assert_array_equal(across.contiguous().numpy(), a.T)
    np.testing.assert_array_equal((across + libdl.from_numpy(a.T.copy())).numpy(), 2 * a.T)
    for d, size in enumerate(shape):
        np.testing.assert_array_equal(x.sum(d).numpy(), a.sum(d))
        index = np.random.default_rng(d).integers(0, size, shape)
        found = libdl.gather(x, d, libdl.from_numpy(index))
        np.testing.assert_array_equal(found.numpy(), np.take_along_axis(a, index, d))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("width", [1, 2, 15, 16, 17, 33, 100])
def test_rows_that_move(dtype, width):
    """Parts of rows, rows side by side and rows turned around, of every width and size."""
    x = np.arange(3 * 5 * width).reshape(3, 5, width).astype(dtype)
    y = libdl.tensor(x)
    for found, wanted in [
        (y.flip(2), x[:, :, ::-1]),
        (y.flip(1), x[:, ::-1]),
        (y.flip((0, 2)), x[::-1, :, ::-1]),
        (libdl.cat([y, y], 2), np.concatenate([x, x], 2)),
        (libdl.stack([y, y], 1), np.stack([x, x], 1)),
        (y[:, 1:4, width // 2 :].contiguous(), x[:, 1:4, width // 2 :]),
        (y.roll(1, 2), np.roll(x, 1, 2)),
    ]:
        np.testing.assert_array_equal(found.numpy(), wanted)

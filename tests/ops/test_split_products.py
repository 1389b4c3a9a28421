# SPDX-License-Identifier: Apache-2.0
"""Convolutions with one tap, and layers, as large products: in parts where there is a matrix unit
(docs/numerics.md). tests/core/split_products_test.cc tries the products themselves."""

import os
import subprocess
import sys

import pytest

import libdl
import libdl.nn.functional as F

# A sum of k numbers is rounded at the size of its parts; with independent signs far less than k
# times. Vectors need up to 5 units, tiles up to 2, of 2^-24 times the sum of absolute products.
UNITS = 8 * 2.0**-24


def normal(*shape, seed):
    return libdl.randn(*shape, generator=libdl.Generator().manual_seed(seed))


def gradients(x, weight, bias, dy, compute):
    leaves = [t.detach().requires_grad_() for t in (x, weight, bias)]
    y = compute(*leaves)
    return [y, *libdl.autograd.grad(y, leaves, dy)]


def expect_exact(found, x, weight, bias, dy, compute):
    exact = gradients(*(t.double() for t in (x, weight, bias, dy)), compute)
    sizes = gradients(*(t.double().abs() for t in (x, weight, bias, dy)), compute)
    for got, want, size in zip(found, exact, sizes, strict=True):
        assert ((got.double() - want).abs() <= UNITS * size).all()


@pytest.mark.parametrize(("images", "c", "k", "side"), [(8, 128, 256, 14), (3, 320, 288, 19)])
def test_a_convolution_with_one_tap_and_its_gradients(images, c, k, side):
    x, weight, bias = (
        normal(images, c, side, side, seed=1),
        normal(k, c, 1, 1, seed=2),
        normal(k, seed=3),
    )
    dy = normal(images, k, side, side, seed=4)
    found = gradients(x, weight, bias, dy, F.conv2d)
    expect_exact(found, x, weight, bias, dy, F.conv2d)
    innermost = x.contiguous(memory_format=libdl.channels_last)
    wide = F.pad(innermost, (1, 2, 3, 4))[:, :, 3:-4, 1:-2]  # rows that are not adjacent
    before = libdl.get_num_threads()
    for threads, other in ((1, x), (2, innermost), (3, wide)):
        libdl.set_num_threads(threads)
        again = gradients(other, weight, bias, dy, F.conv2d)
        assert all(libdl.equal(a, b) for a, b in zip(found, again, strict=True))
    libdl.set_num_threads(before)


def test_a_layer_and_its_gradients():
    x, weight, bias = normal(700, 300, seed=1), normal(400, 300, seed=2), normal(400, seed=3)
    dy = normal(700, 400, seed=4)
    for _ in range(3):  # panels of a matrix that is used again are kept
        expect_exact(gradients(x, weight, bias, dy, F.linear), x, weight, bias, dy, F.linear)


def test_numbers_that_tiles_cannot_hold():
    x, weight = normal(300, 256, seed=1), normal(288, 256, seed=2)
    x[40, 7], x[80, 9], x[120, 11] = float("inf"), float("nan"), 3e-42
    y = F.linear(x, weight)
    assert libdl.equal(y[40], weight[:, 7].sign() * float("inf"))
    assert y[80].isnan().all()
    rest = [i for i in range(300) if i not in (40, 80)]
    assert y[rest].isfinite().all()


def test_it_can_be_left_out():
    """Without it, and on machines without a matrix unit, a row has the same bits in any product."""
    program = (
        "import libdl\n"
        "g = libdl.Generator().manual_seed(1)\n"
        "a, b = (libdl.randn(512, 512, generator=g) for _ in range(2))\n"
        "print(libdl.equal((a @ b)[:32], a[:32] @ b))"
    )
    environment = os.environ | {"LIBDL_DISABLE": "split_products"}
    run = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout == "True\n"

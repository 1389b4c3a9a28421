# SPDX-License-Identifier: Apache-2.0
"""Winograd's algorithm for windows of 3 x 3 and 5 x 5: what it computes, when it is used, and that
it can be left out. A float64 convolution, which is always summed directly, is the reference."""

import os
import subprocess
import sys

import pytest

import libdl
from libdl.nn import functional as F
from libdl.utils import set_provider_enabled

# Of the largest value. The errors of values with a standard deviation of 1 have one of 8e-7
# (docs/numerics.md), and of some 10^5 of them none is further than six times that from 0.
TOLERANCE = 5e-6


def drawn(*shape):
    return libdl.randn(*shape, generator=libdl.Generator().manual_seed(sum(shape)))


def results(x, w, b, padding, g):
    """The convolution and its gradients by x, w and b."""
    leaves = [t.clone().requires_grad_() for t in (x, w, b)]
    y = F.conv2d(*leaves, padding=padding)
    y.backward(g)
    return [y.detach(), *(leaf.grad for leaf in leaves)]


# Batch, channels, height and width, channels of the result, padding: sizes that are no multiples of
# a tile's four pixels, images that are cut off or larger than the window allows, channels that are
# no multiple of a panel or of a block of 64, several chunks, and sums over several sets of tiles.
SHAPES = [
    (3, 32, 21, 22, 48, 1),
    (3, 80, 19, 17, 32, 0),
    (1, 16, 47, 30, 16, (2, 1)),
    (4, 144, 13, 15, 112, 1),
    (9, 64, 20, 23, 64, 3),
    (1, 256, 26, 27, 64, (0, 1, 1, 0)),
    (3, 256, 27, 26, 512, 1),
]
# Weights that are large beside the images: channels that are multiples of a panel and of a block,
# and such that are not.
LARGE_WEIGHTS = [(2, 128, 14, 13, 160, 1), (4, 144, 13, 15, 112, 1), (1, 112, 19, 18, 96, 0)]


@pytest.fixture
def direct():
    """Calls a function with Winograd's algorithm left out."""

    def call(function, *arguments):
        set_provider_enabled("winograd", False)
        try:
            return function(*arguments)
        finally:
            set_provider_enabled("winograd", True)

    return call


def operands(n, c, h, w, k, padding, taps=3):
    sides = padding if isinstance(padding, tuple) else (padding,)
    top, bottom, left, right = {1: sides * 4, 2: (sides * 2)[:1] * 2 + sides[1:] * 2}.get(
        len(sides), sides
    )
    size = h + top + bottom - taps + 1, w + left + right - taps + 1
    weights = drawn(k, c, taps, taps) / c**0.5 / taps
    return drawn(n, c, h, w), weights, drawn(k), padding, drawn(n, k, *size)


@pytest.mark.parametrize("taps", [3, 5])
@pytest.mark.parametrize("shape", [*SHAPES, *LARGE_WEIGHTS])
def test_results_are_those_of_the_direct_sum(shape, taps, direct):
    given = operands(*shape, taps)
    wanted = results(*(t.double() if isinstance(t, libdl.Tensor) else t for t in given))
    found, plain = results(*given), direct(results, *given)
    for a, exact in zip(found, wanted):
        assert a.shape == exact.shape
        assert float((a - exact).abs().max()) <= TOLERANCE * float(exact.abs().max())
    # All but the bias's gradient went another way.
    assert [libdl.equal(a, b) for a, b in zip(found, plain)] == [False, False, False, True]


@pytest.mark.parametrize("taps", [3, 5])
@pytest.mark.parametrize("shape", [(5, 96, 30, 29, 80, 1), *LARGE_WEIGHTS])
def test_the_bits_do_not_depend_on_the_number_of_threads(shape, taps):
    before, seen = libdl.get_num_threads(), []
    given = operands(*shape, taps)
    try:
        for threads in (1, 2, 3):
            libdl.set_num_threads(threads)
            seen.append(results(*given))
    finally:
        libdl.set_num_threads(before)
    for other in seen[1:]:
        assert all(libdl.equal(a, b) for a, b in zip(seen[0], other))


@pytest.mark.parametrize("taps", [3, 5])
def test_the_bits_do_not_depend_on_how_the_image_lies(taps):
    x, w, b, padding, g = operands(2, 48, 25, 26, 32, 1, taps)
    lies = x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
    wide = libdl.zeros(2, 48, 30, 40)[:, :, 2:27, 3:29].copy_(x)
    for other in (lies, wide):
        for p, q in zip(results(x, w, b, padding, g), results(other, w, b, padding, g)):
            assert libdl.equal(p, q)


@pytest.mark.parametrize("taps", [3, 5])
@pytest.mark.parametrize("shape", LARGE_WEIGHTS)
def test_the_bits_do_not_depend_on_how_large_weights_lie(shape, taps):
    x, w, b, padding, g = operands(*shape, taps)
    innermost = w.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
    swapped = w.permute(1, 0, 2, 3).contiguous().permute(1, 0, 2, 3)
    for other in (innermost, swapped):
        for p, q in zip(results(x, w, b, padding, g), results(x, other, b, padding, g)):
            assert libdl.equal(p, q)


@pytest.mark.parametrize("taps", [3, 5])
def test_the_bits_of_an_image_do_not_depend_on_how_many_there_are(taps):
    """With eight, values of the weights are made where they are used; with nine, before."""
    images = {3: 8, 5: 2}[taps]
    x, w, b, padding, g = operands(images + 1, 128, 14, 14, 128, taps // 2, taps)
    for p, q in zip(
        results(x, w, b, padding, g)[:2], results(x[:images], w, b, padding, g[:images])[:2]
    ):
        assert libdl.equal(p[:images], q)


@pytest.mark.parametrize(("taps", "reach"), [(3, 4), (5, 6)])
def test_a_pixel_does_not_depend_on_those_far_away(taps, reach):
    """Infinity and NaN stay within a tile's reach, and so does what a fault in borders would
    add."""
    x, w = drawn(1, 32, 40, 40), drawn(32, 32, taps, taps)
    y = F.conv2d(x, w, padding=taps // 2)
    x[0, 3, 20, 20] = libdl.inf
    z = F.conv2d(x, w, padding=taps // 2)
    far = libdl.ones(40, 40, dtype=libdl.bool)
    far[20 - reach : 20 + reach, 20 - reach : 20 + reach] = False
    assert libdl.equal(z[..., far], y[..., far])
    assert not z[0, :, 19:22, 19:22].isfinite().any()


def test_small_images_strides_and_windows_go_the_usual_way(direct):
    for x, w, how in [
        (drawn(1, 64, 8, 8), drawn(64, 64, 3, 3), {"padding": 1}),
        (drawn(2, 32, 40, 40), drawn(32, 32, 3, 3), {"stride": 2}),
        (drawn(2, 32, 40, 40), drawn(32, 32, 3, 3), {"dilation": 2}),
        (drawn(2, 32, 40, 40), drawn(32, 16, 3, 3), {"groups": 2}),
        (drawn(2, 32, 40, 40), drawn(32, 32, 3, 2), {}),
        (drawn(2, 24, 40, 40), drawn(32, 24, 3, 3), {}),
        (drawn(2, 32, 40, 40), drawn(32, 32, 7, 7), {}),
        (drawn(2, 32, 40, 40), drawn(32, 32, 5, 3), {}),
    ]:
        assert libdl.equal(F.conv2d(x, w, **how), direct(lambda: F.conv2d(x, w, **how)))


PROGRAM = """
import libdl, libdl.nn.functional as F
g = libdl.Generator().manual_seed(3)
for k, c, side in ((32, 32, 40), (96, 112, 18)):
    x, w = libdl.randn(1, c, side, side, generator=g), libdl.randn(k, c, 3, 3, generator=g)
    y, exact = F.conv2d(x, w), F.conv2d(x.double(), w.double())
    print(float((y - exact).abs().max() / exact.abs().max()))
    print(float(y[0, 0, 0, 0]).hex(), float(y.sum()).hex())
"""


def run(**environment):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | environment,
        check=True,
        capture_output=True,
        text=True,
    )
    errors, bits = done.stdout.splitlines()[::2], done.stdout.splitlines()[1::2]
    assert len(errors) == 2 and all(float(error) <= TOLERANCE for error in errors)
    return bits


def test_the_environment_leaves_it_out_and_chooses_the_processor():
    usual = run()
    without = run(LIBDL_DISABLE="winograd")
    assert all(a != b for a, b in zip(usual, without))
    assert run(LIBDL_CPU="avx2") == usual
    run(LIBDL_CPU="baseline")  # multiplies and adds without fma, so with other bits


ROUNDED = """
import libdl, libdl.nn.functional as F
g = libdl.Generator().manual_seed(3)
for dtype in (libdl.float16, libdl.bfloat16):
    for taps, k, c, side in ((3, 32, 32, 40), (5, 32, 32, 40), (3, 96, 112, 18), (5, 96, 112, 18)):
        shapes = (1, c, side, side), (k, c, taps, taps)
        x, w = (libdl.randn(*shape, generator=g).to(dtype) for shape in shapes)
        a, b = x.clone().requires_grad_(), w.clone().requires_grad_()
        c, d = x.float().requires_grad_(), w.float().requires_grad_()
        y, z = F.conv2d(a, b), F.conv2d(c, d)
        dy = libdl.randn(*y.shape, generator=g).to(dtype)
        y.backward(dy), z.backward(dy.float())
        for found, wanted in ((y, z), (a.grad, c.grad), (b.grad, d.grad)):
            print(libdl.equal(found, wanted.to(dtype)))
"""


def test_in_16_bits_it_is_that_of_float32_rounded():
    """Without the matrix unit, which sums in an order of its own."""
    done = subprocess.run(
        [sys.executable, "-c", ROUNDED],
        env=os.environ | {"LIBDL_CPU": "avx2"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["True"] * 24

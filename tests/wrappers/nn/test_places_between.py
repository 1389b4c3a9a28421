# SPDX-License-Identifier: Apache-2.0
"""Values at places between pixels: neighbours that lie together in memory are read at once, and
others one by one, with the same bits."""

import pytest

import libdl
from libdl.nn import functional as F


def drawn(*shape, dtype):
    return libdl.randn(*shape, generator=libdl.Generator().manual_seed(sum(shape))).to(dtype)


def last(t):
    return t.movedim(1, -1).contiguous().movedim(-1, 1)


SHAPES = [
    ((2, 9, 10, 7), (2, 11, 13, 2)),
    ((1, 3, 6, 1), (1, 5, 4, 2)),
    ((1, 2, 1, 8), (1, 9, 9, 2)),
    ((2, 3, 4, 5, 6), (2, 3, 5, 7, 3)),
]


@pytest.mark.parametrize("dtype", [libdl.float32, libdl.float64], ids=str)
@pytest.mark.parametrize(("shape", "places"), SHAPES)
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample_of_any_layout(dtype, shape, places, mode, padding):
    x, grid = drawn(*shape, dtype=dtype), drawn(*places, dtype=dtype)

    def run(x, grid):
        x, grid = x.requires_grad_(), grid.clone().requires_grad_()
        y = F.grid_sample(x, grid, mode, padding, align_corners=False)
        y.backward(drawn(*y.shape, dtype=y.dtype))
        return [t.detach().contiguous() for t in (y, x.grad, grid.grad)]

    found = run(x.clone(), grid)
    for a, b in zip(found, run(last(x), grid), strict=True):
        assert libdl.equal(a, b)
    if mode != "nearest":  # whose choice hangs on the last digit
        for a, b in zip(found, run(x.double(), grid.double()), strict=True):
            assert float((a - b).abs().max()) <= 1e-4 * float(b.abs().max() + 1)


@pytest.mark.parametrize("dtype", [libdl.float32, libdl.float64], ids=str)
@pytest.mark.parametrize("factor", [2.0, 0.4, 1.7])
@pytest.mark.parametrize("mode", ["linear", "bilinear", "bicubic", "trilinear", "area"])
def test_interpolate_along_lines_and_beside_them(dtype, factor, mode):
    shape = {"linear": (3, 4, 300), "trilinear": (2, 4, 3, 4, 40)}.get(mode, (2, 4, 9, 41))
    x = drawn(*shape, dtype=dtype)

    def run(x):
        x = x.requires_grad_()
        y = F.interpolate(x, scale_factor=factor, mode=mode)
        y.backward(drawn(*y.shape, dtype=y.dtype))
        return [t.detach().contiguous() for t in (y, x.grad)]

    found = run(x.clone())
    for a, b in zip(found, run(last(x)), strict=True):
        assert libdl.equal(a, b)
    for a, b in zip(found, run(x.double()), strict=True):
        # A place is known to float32's digits: of 500 to 3e-5.
        assert float((a - b).abs().max()) <= 1e-4 * float(b.abs().max() + 1)

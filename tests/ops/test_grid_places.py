# SPDX-License-Identifier: Apache-2.0
"""Bilinear grid_sample by vectors of places: numbers that are none, far outside or on the edge, few
and many places, and images and grids that lie differently in memory."""

import math

import libdl
import pytest
from libdl.nn import functional as F

EDGES = [
    -1.0,
    1.0,
    -1.5,
    1.5,
    0.0,
    -0.0,
    1e30,
    -1e30,
    math.inf,
    -math.inf,
    math.nan,
    0.999999,
    2.0**31,
    -(2.0**31),
    0.3,
]


def single(x, dtype):
    return float(libdl.tensor(x, dtype=dtype))


# By the formula, in double precision: where a coordinate lies, and the image there.
def place(x, size, align, border):
    at = (x + 1) / 2 * (size - 1) if align else ((x + 1) * size - 1) / 2
    if border:
        at = min(max(at, 0.0), size - 1.0) if at == at else 0.0
    return at


def sampled(image, x, y, align, border):
    height, width = len(image), len(image[0])
    px, py = place(x, width, align, border), place(y, height, align, border)
    if not (math.isfinite(px) and math.isfinite(py)):
        return None
    total, left, top = 0.0, math.floor(px), math.floor(py)
    for i in (0, 1):
        for j in (0, 1):
            if 0 <= top + i < height and 0 <= left + j < width:
                weight = abs(1 - i - (py - top)) * abs(1 - j - (px - left))
                total += weight * image[top + i][left + j]
    return total


@pytest.mark.parametrize("dtype", [libdl.float32, libdl.float64], ids=str)
@pytest.mark.parametrize("border", [False, True])
@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("size", [(1, 1), (1, 5), (4, 1), (5, 7)])
def test_values_at_the_edges(size, align, border, dtype):
    image = libdl.arange(size[0] * size[1], dtype=dtype).reshape(size) + 1
    pairs = [(x, y) for x in EDGES for y in EDGES]
    grid = libdl.tensor(pairs, dtype=dtype).reshape(1, len(EDGES), len(EDGES), 2)
    found = (
        F.grid_sample(
            image[None, None],
            grid,
            padding_mode="border" if border else "zeros",
            align_corners=align,
        )
        .flatten()
        .tolist()
    )
    for (x, y), value in zip(pairs, found):
        expected = sampled(image.tolist(), single(x, dtype), single(y, dtype), align, border)
        if expected is not None:
            assert value == pytest.approx(expected, rel=1e-4, abs=1e-4), (x, y)
        elif not math.isnan(value):  # where weights are none, so are the sums of pixels inside
            assert value == 0


# One place, one vector, and one block of them, more or less.
@pytest.mark.parametrize("dtype", [libdl.float32, libdl.float64], ids=str)
@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 130])
def test_places_do_not_depend_on_their_neighbours(count, dtype):
    libdl.manual_seed(count)
    image = libdl.randn(2, 3, 6, 5, dtype=dtype, requires_grad=True)
    grid = (libdl.rand(2, 1, count, 2, dtype=dtype) * 3 - 1.5).requires_grad_()
    dy = libdl.randn(2, 3, 1, count, dtype=dtype)
    y = F.grid_sample(image, grid, align_corners=False)
    dimage, dgrid = libdl.autograd.grad(y, (image, grid), dy)
    total = libdl.zeros_like(image)
    for i in range(count):
        one = F.grid_sample(image, grid[:, :, i : i + 1], align_corners=False)
        assert libdl.equal(one, y[..., i : i + 1])
        part, slope = libdl.autograd.grad(one, (image, grid), dy[..., i : i + 1])
        assert libdl.equal(slope[:, :, i], dgrid[:, :, i])
        total += part
    assert libdl.allclose(total, dimage, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_memory_layouts(padding, mode):
    libdl.manual_seed(3)
    image, grid = libdl.randn(2, 3, 9, 8), libdl.rand(2, 7, 11, 2) * 3 - 1.5
    dy = libdl.randn(2, 3, 7, 11)

    def answers(x, g, d):
        x, g = x.detach().requires_grad_(), g.detach().requires_grad_()
        y = F.grid_sample(x, g, mode, padding, False)
        return [y, *libdl.autograd.grad(y, (x, g), d)]

    expected = answers(image, grid, dy)

    def turned(x, a, b):
        return x.transpose(a, b).contiguous().transpose(a, b)

    last = libdl.channels_last
    images = [
        image.contiguous(memory_format=last),
        turned(image, 2, 3),
        libdl.cat((image, image), 3)[..., :8],
    ]
    grids = [
        grid.permute(3, 0, 1, 2).contiguous().permute(1, 2, 3, 0),
        turned(grid, 1, 2),
        libdl.cat((grid, grid), 2)[:, :, :11],
    ]
    dys = [dy.contiguous(memory_format=last), dy, turned(dy, 2, 3)]
    for others in zip(images, grids, dys):
        for one, other in zip(expected, answers(*others)):
            assert libdl.equal(one, other)


def test_gradients_of_infinity_leave_pixels_outside_alone():
    image = libdl.ones(1, 1, 4, 4, requires_grad=True)
    grid = libdl.tensor([[[[-1.0, -1.0], [5.0, 5.0]]]], requires_grad=True)
    y = F.grid_sample(image, grid, align_corners=False)
    dimage, dgrid = libdl.autograd.grad(y, (image, grid), libdl.full((1, 1, 1, 2), math.inf))
    assert dimage[0, 0, 0, 0] == math.inf and (dimage.flatten()[1:] == 0).all()
    assert dgrid[0, 0, 1].tolist() == [0, 0]

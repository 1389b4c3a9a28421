# SPDX-License-Identifier: Apache-2.0
"""Convolutions whose result has few channels, such as a picture, and the gradients of pictures:
they multiply first and add where taps lie (kernels/cpu/conv/shifted.h)."""

import numpy as np
import pytest

import libdl
from cases_conv import convolved, spread
from layers import Layer, check_guarded, check_threads, ones_and_twos

# n, c, image, k, window, stride, padding, dilation, groups; of either the input or the output there
# are few channels.
LAYERS = {
    "to a picture": Layer(2, 24, (9, 11), 3, (3, 3), (1, 1), (1, 1), (1, 1)),
    "from a picture": Layer(2, 3, (20, 21), 40, (7, 7), (2, 2), (3, 3), (1, 1)),
    "one pixel a window": Layer(3, 16, (5, 6), 2, (1, 1), (1, 1), (0, 0), (1, 1)),
    "several bands": Layer(2, 16, (150, 70), 3, (3, 3), (1, 1), (1, 1), (1, 1)),
    "taps in parts": Layer(1, 17, (30, 33), 5, (9, 8), (1, 1), (4, 3), (1, 1)),
    "dilated": Layer(1, 32, (17, 14), 4, (3, 3), (1, 1), (2, 3), (2, 3)),
    "strided and dilated": Layer(2, 2, (19, 23), 16, (3, 4), (3, 2), (2, 1), (2, 1)),
    "padded beyond the image": Layer(1, 16, (4, 3), 2, (3, 3), (1, 1), (5, 6), (1, 1)),
    "a window larger than the image": Layer(1, 16, (2, 3), 2, (6, 5), (1, 1), (3, 2), (1, 1)),
    "groups": Layer(2, 48, (8, 9), 6, (3, 3), (1, 1), (1, 1), (1, 1), 3),
    "more than a block of channels": Layer(1, 700, (6, 7), 8, (3, 3), (1, 1), (1, 1), (1, 1)),
    "a line": Layer(2, 20, (9000,), 1, (31,), (1,), (15,), (1,)),
    "a dilated line": Layer(2, 20, (301,), 3, (4,), (1,), (3,), (5,)),
    "from a strided line": Layer(2, 2, (400,), 33, (10,), (5,), (2,), (1,)),
    "one line of an image": Layer(2, 16, (1, 40), 2, (3, 3), (1, 1), (1, 1), (1, 1)),
    "a volume": Layer(2, 18, (5, 6, 7), 2, (3, 2, 3), (1, 1, 1), (1, 0, 1), (1, 1, 1)),
    "from a volume": Layer(1, 1, (6, 7, 8), 16, (2, 3, 3), (2, 1, 2), (1, 1, 0), (1, 2, 1)),
}
# How far a sum in float may be from the exact one is told by its dtype's last place, and by how
# its terms, of both signs, add up: by 1,000 of them at most sqrt(1000) of these places are met.
PLACES = {libdl.float64: 2**-52, libdl.float32: 2**-23, libdl.bfloat16: 2**-8, libdl.float16: 2**-11}


def exact(layer, tensors, dy):
    """Output and the gradients of input and weights, tap by tap in float64."""
    x, w, b = (t.double().numpy() for t in tensors)
    how = (layer.stride, layer.padding, layer.dilation, layer.groups)
    y = convolved(x, w, b, *how)
    dy = dy.double().numpy()
    rest = [size + 2 * p - d * (t - 1) - 1 - s * (out - 1) for size, p, d, t, s, out in
            zip(layer.image, layer.padding, layer.dilation, layer.window, layer.stride, y.shape[2:],
                strict=True)]  # fmt: skip
    dx = spread(dy, w, None, layer.stride, layer.padding, rest, layer.groups, layer.dilation)
    return y, dx, weights_gradient(layer, x, dy)


def weights_gradient(layer, x, dy):
    """The rows of a batch are summed over: inputs convolved with the output's gradient."""
    n, g = layer.n, layer.groups
    x = x.reshape(n, g, -1, *layer.image).swapaxes(0, 2)  # [c, g, n]
    dy = dy.reshape(n, g, -1, *dy.shape[2:]).swapaxes(0, 1)  # [g, n, k]
    parts = [convolved(x[:, i], dy[i].swapaxes(0, 1), None, layer.dilation, layer.padding, layer.stride)
             for i in range(g)]  # fmt: skip
    dw = np.stack(parts, 1).transpose(1, 2, 0, *range(3, x.ndim))  # [c, g, k] to [g, k, c]
    dw = dw.reshape(layer.k, layer.c // g, *dw.shape[3:])
    return dw[(..., *(slice(size) for size in layer.window))]


@pytest.mark.parametrize("dtype", PLACES, ids=lambda dtype: str(dtype).removeprefix("libdl."))
@pytest.mark.parametrize("name", LAYERS)
def test_results_are_those_of_sums_tap_by_tap(name, dtype):
    layer = LAYERS[name]
    tensors = layer.operands(dtype)
    y, dx, dw, _ = layer.results(tensors, ones_and_twos)
    place = PLACES[dtype]
    for found, wanted in zip((y, dx, dw), exact(layer, tensors, ones_and_twos(y)), strict=True):
        # 16-bit results are sums in float32, rounded once.
        limit = abs(wanted) * place + abs(wanted).max() * min(place, 2**-23) * 32
        assert found.dtype == dtype and found.shape == wanted.shape
        assert (abs(found.double().numpy() - wanted) <= limit).all()


@pytest.mark.parametrize("name", LAYERS)
def test_bits_do_not_depend_on_threads_or_on_how_operands_lie(name):
    check_threads(LAYERS[name], LAYERS[name].operands(libdl.float32))


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("name", LAYERS)
def test_nothing_around_the_operands_is_read(name, at_end):
    check_guarded(LAYERS[name], LAYERS[name].operands(libdl.float32), at_end)


def test_a_part_of_an_image_is_convolved_like_a_copy_of_it():
    layer = Layer(2, 24, (9, 11), 3, (3, 3), (1, 1), (1, 1), (1, 1))
    x, w, b = layer.operands(libdl.float32)
    whole = libdl.randn(2, 24, 15, 17)
    whole[:, :, 3:12, 4:15] = x
    for view in (whole[:, :, 3:12, 4:15], whole.movedim(1, -1).contiguous().movedim(-1, 1)[:, :, 3:12, 4:15]):
        assert libdl.equal(layer.convolve(view, w, b), layer.convolve(x, w, b))


def test_infinities_and_nan_stay_where_their_windows_are():
    x = libdl.zeros(1, 16, 6, 6)
    x[0, 3, 0, 0], x[0, 5, 5, 5] = float("inf"), float("nan")
    y = libdl.conv2d(x, libdl.ones(2, 16, 3, 3), padding=1)[0, 0].numpy()
    wanted = np.zeros((6, 6), np.float32)
    wanted[:2, :2], wanted[4:, 4:] = np.inf, np.nan
    assert np.array_equal(y, wanted, equal_nan=True)

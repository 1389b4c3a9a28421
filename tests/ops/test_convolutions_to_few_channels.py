# SPDX-License-Identifier: Apache-2.0
"""Convolutions whose result has few channels, such as a picture, and the gradients of pictures:
they multiply first and add where taps lie (kernels/cpu/conv/few_channels/shifted.h), or, with one
tap, read the image as it lies (few_channels.h). Those from few channels read windows where they
overlap (spanned.h), and those whose window is the whole image are one product."""

import numpy as np
import pytest

import libdl
from layers import PLACES, Layer, check_exact, check_guarded, check_threads

# n, c, image, k, window, stride, padding, dilation, groups; of either the input or the output there
# are few channels.
LAYERS = {
    "to a picture": Layer(2, 24, (9, 11), 3, (3, 3), (1, 1), (1, 1), (1, 1)),
    "from a picture": Layer(2, 3, (20, 21), 40, (7, 7), (2, 2), (3, 3), (1, 1)),
    "from each pixel of a picture": Layer(2, 3, (40, 41), 40, (5, 3), (1, 1), (2, 0), (1, 2)),
    "from a sound": Layer(2, 1, (9000,), 16, (31,), (1,), (15,), (1,)),
    "from each voxel": Layer(2, 2, (6, 7, 8), 16, (2, 3, 3), (1, 1, 1), (1, 1, 0), (1, 2, 1)),
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
    "one tap to one channel": Layer(2, 400, (17, 19), 1, (1, 1), (1, 1), (0, 0), (1, 1)),
    "one tap to as many as are few": Layer(1, 19, (16, 33), 8, (1, 1), (1, 1), (0, 0), (1, 1)),
    "one tap for each voxel": Layer(
        2, 21, (3, 4, 5), 2, (1, 1, 1), (1, 1, 1), (0, 0, 0), (1, 1, 1)
    ),
    "one tap along a line": Layer(2, 16, (300,), 3, (1,), (1,), (0,), (1,)),
    "one tap for every other pixel": Layer(2, 20, (7, 9), 2, (1, 1), (2, 2), (0, 0), (1, 1)),
    "one tap and a border": Layer(2, 20, (7, 9), 2, (1, 1), (1, 1), (1, 1), (1, 1)),
    "one pixel and one tap": Layer(2, 20, (1, 1), 2, (1, 1), (1, 1), (0, 0), (1, 1)),
    "from one channel to one": Layer(2, 1, (30, 33), 1, (11, 11), (1, 1), (0, 0), (1, 1)),
    "from a picture to a picture": Layer(2, 3, (40, 61), 3, (3, 3), (1, 1), (1, 1), (1, 1)),
    "from a long line": Layer(1, 2, (2000,), 5, (9,), (2,), (4,), (1,)),
    "from eight channels": Layer(2, 8, (9, 22), 19, (5, 3), (2, 1), (2, 3), (1, 2)),
    "from groups of two": Layer(2, 6, (9, 22), 12, (3, 3), (1, 1), (2, 1), (2, 1), 3),
    "the whole of an image": Layer(3, 5, (4, 3), 7, (4, 3), (1, 1), (0, 0), (1, 1)),
    "the whole of one image": Layer(1, 40, (2, 3), 30, (2, 3), (1, 1), (0, 0), (1, 1)),
    "the whole of a volume": Layer(2, 3, (2, 3, 2), 4, (2, 3, 2), (2, 1, 1), (0, 0, 0), (1, 1, 1)),
    "from a volume": Layer(1, 1, (6, 7, 8), 16, (2, 3, 3), (2, 1, 2), (1, 1, 0), (1, 2, 1)),
}


@pytest.mark.parametrize("dtype", PLACES, ids=lambda dtype: str(dtype).removeprefix("libdl."))
@pytest.mark.parametrize("name", LAYERS)
def test_results_are_those_of_sums_tap_by_tap(name, dtype):
    check_exact(LAYERS[name], dtype)


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
    for view in (
        whole[:, :, 3:12, 4:15],
        whole.movedim(1, -1).contiguous().movedim(-1, 1)[:, :, 3:12, 4:15],
    ):
        assert libdl.equal(layer.convolve(view, w, b), layer.convolve(x, w, b))


def test_infinities_and_nan_stay_where_their_windows_are():
    x = libdl.zeros(1, 16, 6, 6)
    x[0, 3, 0, 0], x[0, 5, 5, 5] = float("inf"), float("nan")
    y = libdl.conv2d(x, libdl.ones(2, 16, 3, 3), padding=1)[0, 0].numpy()
    wanted = np.zeros((6, 6), np.float32)
    wanted[:2, :2], wanted[4:, 4:] = np.inf, np.nan
    assert np.array_equal(y, wanted, equal_nan=True)

# SPDX-License-Identifier: Apache-2.0
"""Convolutions in groups of 2, 4 and 8 channels, as ResNeXt has them, which are computed by vectors
that hold whole groups (kernels/cpu/conv/depthwise/grouped_rows.h)."""

import os
import subprocess
import sys

import pytest

import libdl
from layers import PLACES, Layer, check_exact, check_guarded, check_threads

# n, c, image, k, window, stride, padding, dilation, groups
LAYERS = {
    "pairs": Layer(2, 38, (9, 11), 38, (3, 3), (1, 1), (1, 1), (1, 1), 19),
    "fours": Layer(2, 36, (12, 21), 36, (3, 3), (1, 1), (1, 1), (1, 1), 9),
    "eights": Layer(1, 48, (9, 40), 48, (3, 3), (1, 1), (1, 1), (1, 1), 6),
    "fewer channels than a vector": Layer(2, 8, (6, 7), 8, (3, 3), (1, 1), (1, 1), (1, 1), 2),
    "strided": Layer(2, 32, (13, 14), 32, (3, 3), (2, 2), (1, 1), (1, 1), 8),
    "strided by more than the window": Layer(
        1, 16, (11, 10), 16, (2, 1), (3, 2), (0, 0), (1, 1), 2
    ),
    "dilated and strided": Layer(2, 24, (15, 16), 24, (3, 4), (2, 3), (2, 1), (2, 1), 6),
    "one pixel a window": Layer(3, 64, (5, 6), 64, (1, 1), (1, 1), (0, 0), (1, 1), 16),
    "padded beyond the image": Layer(1, 16, (2, 3), 16, (3, 3), (1, 1), (5, 4), (1, 1), 4),
    "a window larger than the image": Layer(1, 16, (2, 3), 16, (6, 5), (1, 1), (3, 2), (1, 1), 8),
    "many channels": Layer(1, 520, (5, 6), 520, (3, 3), (1, 1), (1, 1), (1, 1), 130),
    "a line": Layer(2, 40, (101,), 40, (5,), (2,), (2,), (1,), 10),
    "a volume": Layer(1, 16, (4, 5, 6), 16, (3, 2, 3), (1, 2, 1), (1, 0, 1), (1, 1, 2), 4),
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


@pytest.mark.parametrize("cpu", ["avx2", "baseline"])
def test_processors_with_shorter_vectors_compute_the_same(cpu):
    """Where a group does not fit a vector, it is a product of its own."""
    code = (
        "import sys, libdl; sys.path.insert(0, sys.argv[1])\n"
        "import test_grouped_convolutions as t\n"
        "for layer in t.LAYERS.values(): t.check_exact(layer, libdl.float32)"
    )
    command = [sys.executable, "-B", "-c", code, os.path.dirname(__file__)]
    subprocess.run(command, env={**os.environ, "LIBDL_CPU": cpu}, check=True)

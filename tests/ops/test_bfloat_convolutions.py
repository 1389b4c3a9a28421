# SPDX-License-Identifier: Apache-2.0
"""Convolutions of bfloat16, which have ways of their own on processors with a matrix unit: windows
that are gathered, single pixels that are rows of a matrix, steps of 32 values that taps share."""

import os
import subprocess
import sys

import pytest

import libdl
from layers import Layer, check_guarded, check_threads, ones_and_twos

# n, c, image, k, window, stride, padding, dilation, groups
SHAPES = {
    "one pixel a window": (2, 64, (7, 9), 40, (1, 1), (1, 1), (0, 0), (1, 1), 1),
    "every second pixel": (2, 33, (8, 9), 32, (1, 1), (2, 2), (0, 0), (1, 1), 1),
    "three channels": (3, 3, (20, 21), 64, (7, 7), (2, 2), (3, 3), (1, 1), 1),
    "taps share steps": (1, 24, (12, 17), 48, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    "k in three parts": (2, 160, (8, 7), 72, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    "columns in three parts": (1, 40, (5, 6), 600, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    "groups": (2, 96, (7, 7), 64, (3, 3), (1, 1), (1, 1), (1, 1), 2),
    "dilated": (1, 32, (11, 12), 32, (3, 3), (1, 1), (2, 2), (2, 2), 1),
    "dilated and strided": (1, 16, (13, 12), 24, (3, 2), (2, 3), (2, 1), (2, 1), 1),
    "wider than high": (1, 32, (3, 50), 16, (1, 5), (1, 2), (0, 2), (1, 1), 1),
    "a line": (3, 48, (70,), 40, (4,), (3,), (2,), (1,), 1),
    "a volume": (1, 20, (5, 6, 7), 33, (3, 2, 3), (1, 2, 1), (1, 0, 1), (1, 1, 1), 1),
    "more pixels than are gathered at once": (
        2,
        32,
        (40, 41),
        32,
        (3, 3),
        (1, 1),
        (1, 1),
        (1, 1),
        1,
    ),
}


def layer(name):
    return Layer(*SHAPES[name])


@pytest.mark.parametrize("name", SHAPES)
def test_sums_are_in_float32_and_rounded_once(name):
    tensors = layer(name).operands(libdl.bfloat16)
    found = layer(name).results(tensors, ones_and_twos)
    exact = layer(name).results([t.double() for t in tensors], ones_and_twos)
    for y, e in zip(found, exact, strict=True):
        assert y.dtype == libdl.bfloat16
        # Half a unit in the last place of bfloat16 is at most 2^-8 of a number; sums of float32, of
        # which the longest has some 10,000 terms, err by less than 2^-16 of the largest.
        limit = e.abs() * (2**-8 + 2**-16) + e.abs().max() * 2**-16
        assert bool(((y.double() - e).abs() <= limit).all())


@pytest.mark.parametrize("name", SHAPES)
def test_bits_do_not_depend_on_threads_or_on_how_operands_lie(name):
    check_threads(layer(name), layer(name).operands(libdl.bfloat16))


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("name", SHAPES)
def test_nothing_around_the_operands_is_read(name, at_end):
    check_guarded(layer(name), layer(name).operands(libdl.bfloat16), at_end)


def test_without_the_matrix_unit_they_are_the_same_but_for_rounding():
    """LIBDL_CPU=avx512 leaves the unit unused; on machines without one, both ways are the same."""
    code = (
        "import sys, libdl; sys.path.insert(0, sys.argv[1]); import test_bfloat_convolutions as t\n"
        "layer = t.layer('k in three parts')\n"
        "results = layer.results(layer.operands(t.libdl.bfloat16), t.ones_and_twos)\n"
        "print([y.float().sum().item() for y in results])"
    )
    sums = []
    for cpu in ("", "avx512"):
        environment = {**os.environ, **({"LIBDL_CPU": cpu} if cpu else {})}
        command = [sys.executable, "-B", "-c", code, os.path.dirname(__file__)]
        told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        sums.append([float(x) for x in told.stdout.strip()[1:-1].split(",")])
    # Each sum has some 10,000 elements of size 1 to 100, each within half of 2^-8 of itself.
    assert sums[0] == pytest.approx(sums[1], rel=2e-3, abs=10)

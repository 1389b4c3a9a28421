# SPDX-License-Identifier: Apache-2.0
"""The functions composed in Python do what PyTorch's do: the same programs, and its answers."""

import json
import pathlib

import pytest
from wrappers import seen_composed
from wrappers.answers import answer_of, first_difference

import libdl

ANSWERS = json.loads((pathlib.Path(__file__).parent / "seen_composed.json").read_text())


@pytest.mark.parametrize("program", seen_composed.PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_pytorch(program):
    assert first_difference(answer_of(program, libdl), ANSWERS[program.__name__]) == ""


@pytest.mark.parametrize("bounds, low, high", [((10,), 0, 9), ((2, 5), 2, 4)])
def test_random_integers(bounds, low, high):
    libdl.manual_seed(1)
    drawn = libdl.empty(1000).random_(*bounds)
    assert (drawn.min().item(), drawn.max().item()) == (low, high)  # all but once in 10^30


def test_random_integers_without_bounds_fill_the_dtype():
    libdl.manual_seed(1)
    assert libdl.empty(4000, dtype=libdl.uint8).random_().max().item() == 255
    assert libdl.empty(4000).random_().max().item() <= 2**24


def test_special_has_pytorchs_names():
    x = libdl.tensor([0.3, 0.9], dtype=libdl.float64)
    assert libdl.allclose(libdl.special.ndtri(libdl.special.ndtr(x)), x)
    assert libdl.allclose(libdl.special.expit(libdl.special.logit(x)), x)
    assert libdl.equal(libdl.special.gammaln(x), libdl.lgamma(x))

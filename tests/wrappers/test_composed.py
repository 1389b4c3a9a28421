# SPDX-License-Identifier: Apache-2.0
"""The functions composed in Python do what PyTorch's do: the same programs, and its answers."""

import pytest
from answered import Stored
from wrappers import seen_composed

import libdl

SEEN = Stored(seen_composed)


@pytest.mark.parametrize("program", seen_composed.PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_pytorch(program):
    SEEN.check(program, libdl)


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


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda x: libdl.take(x, libdl.tensor([6])), r"take: argument 2 \(index\) holds 6"),
        (lambda x: x.take(libdl.tensor([0, -7])), "wanted -6 to 5"),
        (lambda x: x.put_(libdl.tensor([6]), libdl.ones(1)), r"put_: argument 2 \(index\) holds 6"),
        (
            lambda x: libdl.tensordot(x, x, ([2], [0])),
            r"tensordot: argument 3 \(dims\) names 2, wanted -2 to 1",
        ),
        (lambda x: libdl.tensordot(x, x, ([0], [-3])), r"tensordot: argument 3 \(dims\) names -3"),
    ],
)
def test_places_and_dimensions_out_of_range_are_refused(call, told):
    x = libdl.zeros(2, 3)
    with pytest.raises(IndexError, match=told):
        call(x)
    assert x.sum().item() == 0


def test_more_dimensions_than_there_are_cannot_be_summed():
    with pytest.raises(ValueError, match=r"tensordot: argument 3 \(dims\) is 3, wanted 0 to 2"):
        libdl.tensordot(libdl.ones(2, 3), libdl.ones(2, 3), 3)
    assert libdl.tensordot(libdl.ones(2, 3), libdl.ones(2, 3), 2).item() == 6


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64"])
def test_a_dimension_that_one_operand_of_integers_has_alone_is_summed_in_int64(dtype):
    """As PyTorch, which multiplies the other operand in int64 then, and whose tensordot does
    not."""
    dtype = getattr(libdl, dtype)
    a, b = libdl.full((2, 3), 100, dtype=dtype), libdl.tensor([1, 2], dtype=dtype)
    for equation, operands in (("ij,k->ik", (a, b)), ("k,ij->ik", (b, a))):
        product = libdl.einsum(equation, *operands)
        assert product.dtype == libdl.int64 and product.tolist() == [[300, 600], [300, 600]]
    one = libdl.full((1, 1, 1), 2, dtype=dtype)
    product = libdl.tensordot(one, libdl.full((2, 1, 2), 3, dtype=dtype), ([0, 1], [2, 0]))
    assert product.dtype == dtype and product.tolist() == [[24]]

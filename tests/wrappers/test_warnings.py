# SPDX-License-Identifier: Apache-2.0
"""The library's warnings reach warnings.warn at the caller's line; a filter may make errors of
them, after which the operator's result is given back."""

import inspect
import warnings

import pytest

import libdl
from libdl import _C

SIZE = 128  # a matrix that is packed when it is multiplied by a second time


def multiply(times, product=libdl.mm):
    w, x = libdl.ones(SIZE, SIZE), libdl.ones(64, SIZE)
    for _ in range(times):
        product(x, w)


def here():
    return inspect.currentframe().f_back.f_lineno


def test_a_conversion_is_told_at_its_line():
    w, x = libdl.ones(SIZE, SIZE), libdl.ones(64, SIZE)
    with warnings.catch_warnings(record=True) as told, libdl.check_copies():
        warnings.simplefilter("always")
        for _ in range(3):
            x @ w
            line = here() - 1
    (one,) = told
    assert one.category is libdl.ConversionWarning and issubclass(one.category, UserWarning)
    assert (one.filename, one.lineno) == (__file__, line)
    assert one.message.code == _C.LIBDL_WARNING_CONVERSION
    assert str(one.message).startswith(f"matmul: packed {SIZE * SIZE * 4} bytes")


def test_the_line_is_the_programs_also_behind_modules():
    layer, x = libdl.nn.Linear(SIZE, SIZE), libdl.ones(64, SIZE)
    with warnings.catch_warnings(record=True) as told, libdl.check_copies(), libdl.no_grad():
        warnings.simplefilter("always")
        for _ in range(3):
            layer(x)
            line = here() - 1
    assert [(t.filename, t.lineno) for t in told] == [(__file__, line)]


def test_nothing_is_told_outside():
    before = _C.conversions()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        multiply(3)
        with libdl.check_copies(), libdl.check_copies(False):
            multiply(3)
    assert _C.conversions() == before + 2


def into(x, w):
    return libdl.mm(x, w, out=libdl.empty(64, SIZE))


@pytest.mark.parametrize(
    "product", [libdl.mm, into, lambda x, w: x @ w, libdl.nn.functional.linear]
)
def test_a_filter_makes_an_error_of_it(product):
    with warnings.catch_warnings(), libdl.check_copies():
        warnings.simplefilter("error", libdl.ConversionWarning)
        multiply(1, product)
        with pytest.raises(libdl.ConversionWarning, match="packed"):
            multiply(2, product)
        assert libdl.ones(2).add(1).tolist() == [2, 2]  # nothing is left over


def test_an_error_inside_backward():
    x = libdl.ones(64, SIZE, requires_grad=True)
    w = libdl.ones(SIZE, SIZE)
    with warnings.catch_warnings(), libdl.check_copies():
        warnings.simplefilter("error", libdl.ConversionWarning)
        y = (x @ w).sum()
        y.backward(retain_graph=True)
        with pytest.raises(libdl.ConversionWarning, match="packed"):
            y.backward(retain_graph=True)  # it packs what it multiplies by a second time
        y.backward()
    assert libdl.equal(x.grad, libdl.full((64, SIZE), 3.0 * SIZE))


def test_it_decorates():
    @libdl.check_copies()
    def decorated():
        multiply(2)

    with pytest.warns(libdl.ConversionWarning):
        decorated()


def test_repeated_lines_are_told_once_by_default():
    with warnings.catch_warnings(record=True) as told, libdl.check_copies():
        warnings.simplefilter("default")
        for _ in range(3):
            multiply(2)
    assert len(told) == 1

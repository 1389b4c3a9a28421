# SPDX-License-Identifier: Apache-2.0
"""The dtype of a result of two: the wider of one category, the higher of two; a 0-d tensor or a
number counts only by its category."""

import numpy as np
import pytest

import libdl

PAIRS = [
    ("bool", "bool", "bool"),
    ("bool", "uint8", "uint8"),
    ("uint8", "int8", "int16"),
    ("uint8", "int32", "int32"),
    ("int16", "int64", "int64"),
    ("int64", "float16", "float16"),
    ("int64", "bfloat16", "bfloat16"),
    ("float16", "bfloat16", "float32"),
    ("float16", "float32", "float32"),
    ("float32", "float64", "float64"),
    ("bool", "float32", "float32"),
    ("float32", "complex64", "complex64"),
    ("float64", "complex64", "complex128"),
    ("int64", "complex64", "complex64"),
]


@pytest.mark.parametrize(("one", "other", "wanted"), PAIRS)
def test_pairs(one, other, wanted):
    a = libdl.ones(3).to(getattr(libdl, one))
    b = libdl.ones(3).to(getattr(libdl, other))
    wanted = getattr(libdl, wanted)
    assert libdl.promote_types(a.dtype, b.dtype) == wanted
    for x, y in ((a, b), (b, a)):
        assert libdl.mul(x, y).dtype == wanted
        assert libdl.cat([x, y]).dtype == wanted
        assert libdl.eq(x, y).dtype == libdl.bool and bool(libdl.eq(x, y).all())


@pytest.mark.parametrize(
    ("tensor", "number", "wanted"),
    [
        ("float16", 2.0, "float16"),
        ("int64", 2.0, "float32"),
        ("int8", 300, "int8"),
        ("bool", 2, "int64"),
        ("uint8", True, "uint8"),
        ("float32", 1j, "complex64"),
        ("float64", 1j, "complex128"),
        ("float32", np.float64(2.0), "float32"),
    ],
)
def test_numbers(tensor, number, wanted):
    x = libdl.ones(3).to(getattr(libdl, tensor))
    assert libdl.result_type(x, number) == getattr(libdl, wanted)
    assert (x * number).dtype == getattr(libdl, wanted)


@pytest.mark.parametrize(
    ("tensor", "scalar", "wanted"),
    [
        ("float16", "float64", "float16"),
        ("int8", "int64", "int8"),
        ("int64", "float64", "float64"),
        ("bool", "int32", "int32"),
        ("float32", "complex128", "complex64"),
    ],
)
def test_zero_dim(tensor, scalar, wanted):
    x = libdl.ones(3).to(getattr(libdl, tensor))
    s = libdl.ones(()).to(getattr(libdl, scalar))
    assert (x + s).dtype == (s + x).dtype == getattr(libdl, wanted)


# The steps are taken in the dtype of all three: none of two of them, which may round or wrap.
@pytest.mark.parametrize(
    ("operands", "wanted", "sum_", "quotient"),
    [
        ((("float64",), ("int64", 2), ("float32",)), "float64", 40250.25, 201.24875156054932),
        ((("float32", 2), ("float64",), ("int64", 2)), "float32", 40250.25, 201.25125122070312),
        ((("float32",), ("float16",), ("int64", 2)), "float32", 40250.25, 201.25125122070312),
        ((("float32", 2), ("float16", 2), ("float16", 2)), "float32", 40300.3125, 201.25),
        ((("float32", 2), ("uint8", 2), ("uint8", 2)), "float32", 40200.25, 201.25),
    ],
)
def test_three_operands(operands, wanted, sum_, quotient):
    def filled(dtype: str, *shape: int):
        return libdl.full(shape, 200.25 if dtype[0] == "f" else 200, dtype=getattr(libdl, dtype))

    for function, number in ((libdl.addcmul, sum_), (libdl.addcdiv, quotient)):
        made = function(*(filled(*operand) for operand in operands))
        assert made.dtype == getattr(libdl, wanted) and made.tolist() == [number] * 2


def test_a_quotient_of_integers_takes_large_0d_operands_as_they_are():
    large = libdl.tensor(1 << 40)
    of_shorts = libdl.tensor([2, -1], dtype=libdl.int16)
    wanted = [1.5 * 2**40, 0.0]
    assert libdl.addcdiv(large, large, of_shorts).tolist() == wanted
    assert libdl.addcdiv(large, large, of_shorts, out=libdl.empty(2)).tolist() == wanted


@pytest.mark.parametrize(("into", "other"), [("int64", "float32"), ("float32", "complex64")])
def test_in_place_does_not_lose_a_category(into, other):
    x, y = libdl.ones(3).to(getattr(libdl, into)), libdl.ones(3).to(getattr(libdl, other))
    with pytest.raises((TypeError, RuntimeError, ValueError), match="add"):
        x.add_(y)
    assert x.tolist() == [1, 1, 1]

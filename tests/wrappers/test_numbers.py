# SPDX-License-Identifier: Apache-2.0
"""Tensors in Python's number protocol."""

import operator

import numpy
import pytest

import libdl

BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.lt,
    operator.le,
    operator.eq,
    operator.ne,
    operator.gt,
    operator.ge,
]
INTEGER = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
VALUES = [1.5, 2.0, 3.25, 0.5]


@pytest.mark.parametrize("op", BINARY)
def test_tensor_with_tensor(op):
    a, b = libdl.tensor(VALUES), libdl.tensor(VALUES[::-1])
    wanted = op(numpy.array(VALUES, dtype="f4"), numpy.array(VALUES[::-1], dtype="f4"))
    numpy.testing.assert_allclose(op(a, b).numpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize(
    "number",
    [2, 0.5, True, numpy.float64(1.5), numpy.int64(3), numpy.float32(0.25), numpy.bool_(True)],
)
def test_number_on_either_side(op, number):
    a = libdl.tensor(VALUES)
    plain = numpy.array(VALUES, dtype="f4")
    value = number.item() if hasattr(number, "item") else number
    for found, wanted in ((op(a, number), op(plain, value)), (op(number, a), op(value, plain))):
        assert isinstance(found, libdl.Tensor)
        numpy.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("op", INTEGER)
def test_integers(op):
    a, b = libdl.tensor([5, 6, 7]), libdl.tensor([1, 2, 3])
    wanted = op(numpy.array([5, 6, 7]), numpy.array([1, 2, 3]))
    assert op(a, b).tolist() == wanted.tolist()
    assert op(a, 2).tolist() == op(numpy.array([5, 6, 7]), 2).tolist()


@pytest.mark.parametrize("op", [operator.neg, operator.abs, operator.pos])
def test_unary(op):
    assert op(libdl.tensor([-1.0, 2.0])).tolist() == op(numpy.array([-1.0, 2.0])).tolist()


def test_invert():
    assert (~libdl.tensor([True, False])).tolist() == [False, True]
    assert (~libdl.tensor([0, 5])).tolist() == [-1, -6]


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ipow"])
def test_in_place_keeps_the_object(name):
    op = getattr(operator, name)
    a = libdl.tensor(VALUES)
    alias, object_before, version = a.view(4), a, a._version
    a = op(a, 2)
    assert a is object_before
    assert a._version > version
    wanted = op(numpy.array(VALUES, dtype="f4"), numpy.float32(2))
    numpy.testing.assert_allclose(alias.numpy(), wanted, rtol=1e-6)


def test_promotion_by_kind_of_number():
    assert (libdl.tensor([1]) + 1).dtype is libdl.int64
    assert (libdl.tensor([1]) + 1.0).dtype is libdl.float32
    assert (libdl.tensor([True]) + 1).dtype is libdl.int64
    assert (libdl.tensor([1.0], dtype=libdl.float16) + 1.0).dtype is libdl.float16
    assert (libdl.tensor([1.0]) + 1j).dtype is libdl.complex64
    assert (libdl.tensor([1], dtype=libdl.uint8) / 2).dtype is libdl.float32


def test_out_of_numbers():
    assert int(libdl.tensor(3.7)) == 3
    assert float(libdl.tensor(3)) == 3.0
    assert complex(libdl.tensor(1 + 2j)) == 1 + 2j
    assert bool(libdl.tensor([0.0])) is False
    assert list(range(5))[libdl.tensor(2)] == 2
    assert [1, 2, 3][libdl.tensor([1])] == 2
    assert f"{libdl.tensor(1.23456):.2f}" == "1.23"
    assert round(libdl.tensor(2.0).item()) == 2


def test_what_has_no_single_value():
    with pytest.raises(RuntimeError, match="ambiguous"):
        bool(libdl.tensor([1, 2]))
    with pytest.raises(RuntimeError, match="2 elements"):
        libdl.tensor([1, 2]).item()
    with pytest.raises(TypeError, match="index"):
        [1, 2][libdl.tensor(1.0)]


@pytest.mark.parametrize("other", ["text", [1, 2], {}, object()])
def test_wrong_operands(other):
    with pytest.raises(TypeError):
        libdl.tensor([1.0]) + other
    with pytest.raises(TypeError):
        other - libdl.tensor([1.0])


def test_comparison_with_none():
    x = libdl.tensor([1.0])
    assert (x == None) is False  # noqa: E711
    assert (x != None) is True  # noqa: E711


def test_matmul():
    a, b = numpy.arange(6.0).reshape(2, 3), numpy.arange(12.0).reshape(3, 4)
    found = libdl.from_numpy(a) @ libdl.from_numpy(b)
    numpy.testing.assert_allclose(found.numpy(), a @ b)
    with pytest.raises(TypeError):
        libdl.ones(2, 2) @ 3


def test_identity_hash():
    a, b = libdl.ones(2), libdl.ones(2)
    assert len({a, b, a}) == 2
    assert {a: 1}[a] == 1


def test_shape_errors_are_runtime_and_value_errors():
    for kind in (RuntimeError, ValueError, libdl.ShapeError):
        with pytest.raises(kind) as caught:
            libdl.ones(2, 3) + libdl.ones(4)
    assert caught.value.operator == "add"
    assert caught.value.argument == 2
    assert caught.value.argument_name == "other"
    assert "[4]" in str(caught.value) and "[2, 3]" in str(caught.value)

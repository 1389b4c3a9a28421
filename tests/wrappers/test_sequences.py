# SPDX-License-Identifier: Apache-2.0
"""Tensors of nested lists, and tolist(). The answers are those that PyTorch 2.15 gave."""

import math

import numpy as np
import pytest

import libdl


def one(value):
    return libdl.tensor([value])


@pytest.mark.parametrize(
    ("data", "dtype", "values"),
    [
        ([], libdl.float32, []),
        ([[]], libdl.float32, [[]]),
        ([[], []], libdl.float32, [[], []]),
        ([1, True, 2.5], libdl.float32, [1, 1, 2.5]),
        ([True, 2], libdl.int64, [1, 2]),
        ((1, 2), libdl.int64, [1, 2]),
        ([(1, 2), [3, 4]], libdl.int64, [[1, 2], [3, 4]]),
        ([1, 2j], libdl.complex64, [1, 2j]),
        ([[1.0, 2.0], [3.0, 4j]], libdl.complex64, [[1, 2], [3, 4j]]),
        ([2**63 - 1, -(2**63)], libdl.int64, [2**63 - 1, -(2**63)]),
        # tensors of one element are numbers, whatever their dimensions
        ([[one(1.0)], [one(2.0)]], libdl.float32, [[1], [2]]),
        ([one(1.0), one(2.0)], libdl.float32, [1, 2]),
        ([libdl.tensor([[1.0]]), one(2.0)], libdl.float32, [1, 2]),
        ([one(1.0), 2.0], libdl.float32, [1, 2]),
        ([one(1), one(2.5)], libdl.float32, [1, 2.5]),
        ([one(True), one(False)], libdl.bool, [True, False]),
        ([np.array([1.0]), np.array([2.0])], libdl.float64, [[1], [2]]),
        (range(3), libdl.int64, [0, 1, 2]),
        (bytearray(b"ab"), libdl.int64, [97, 98]),
    ],
)
def test_of_lists(data, dtype, values):
    found = libdl.tensor(data)
    assert found.dtype is dtype and found.tolist() == values
    assert found.is_leaf and found._base is None


@pytest.mark.parametrize(
    ("data", "dtype", "values"),
    [
        ([1.9, -1.9, True], libdl.int64, [1, -1, 1]),
        ([1.5, 2], libdl.int32, [1, 2]),
        ([-1, 255], libdl.uint8, [255, 255]),
        ([-128, 127.9], libdl.int8, [-128, 127]),
        ([0.5, 0, 2], libdl.bool, [True, False, True]),
        ([True, 2], libdl.float64, [1, 2]),
        ([1.1], libdl.float64, [1.1]),
        ([0.1], libdl.float16, [0.0999755859375]),
        ([1.1], libdl.bfloat16, [1.1015625]),
        ([1e39], libdl.float32, [math.inf]),
        ([1.0, 2], libdl.complex64, [1, 2]),
        ([2**64 - 1], libdl.uint64, [2**64 - 1]),
        ([65535], libdl.uint16, [65535]),
        ([1.5], float, [1.5]),
    ],
)
def test_of_lists_as_a_dtype(data, dtype, values):
    found = libdl.tensor(data, dtype=dtype)
    assert found.tolist() == values
    assert found.dtype is (libdl.float64 if dtype is float else dtype)


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        ([300], libdl.uint8),
        ([-300], libdl.uint8),
        ([128], libdl.int8),
        ([2**31], libdl.int32),
        ([math.nan], libdl.int64),
        ([math.inf], libdl.int32),
        ([1e30], libdl.int64),
        ([2**63], None),
        ([2**64], None),
        ([70000.0], libdl.int16),
    ],
)
def test_numbers_that_do_not_fit(data, dtype):
    with pytest.raises(RuntimeError, match="does not fit into .*int.* without overflow"):
        libdl.tensor(data, dtype=dtype)


@pytest.mark.parametrize(
    "data",
    [
        [None, 1],
        [[1, "a"]],
        [object()],
        object(),
        {},
        {"a": 1},
        {1, 2},
        iter([1]),
        "a",
        b"ab",
        None,
        [{1: 2}],
    ],
)
def test_what_is_no_number(data):
    with pytest.raises(TypeError, match="tensor: found a .*, wanted numbers"):
        libdl.tensor(data)


@pytest.mark.parametrize("data", [[[1, 2], [3]], [[1, 2], 3], [1, [2]], [libdl.ones(2), 3.0]])
def test_uneven_lists(data):
    with pytest.raises(ValueError, match="tensor: found a"):
        libdl.tensor(data)


def test_a_list_that_requires_grad_is_a_leaf():
    x = libdl.tensor([1.0, 2.0], requires_grad=True)
    assert x.is_leaf and x.requires_grad
    for change in (lambda: x.add_(1), lambda: x[:1].add_(1), lambda: x.__setitem__(0, 1.0)):
        with pytest.raises(RuntimeError, match="leaf"):
            change()


def test_long_lists():
    values = [i / 7 for i in range(1000)]
    assert libdl.tensor(values, dtype=libdl.float64).tolist() == values
    assert libdl.tensor([values, values]).shape == (2, 1000)
    assert libdl.arange(1000).tolist() == list(range(1000))


def test_to_lists():
    x = libdl.arange(6.0).view(2, 3)
    assert x.t().tolist() == [[0, 3], [1, 4], [2, 5]] and x[:, ::2].tolist() == [[0, 2], [3, 5]]
    assert x[0, :2].expand(3, 2).tolist() == [[0, 1]] * 3
    assert libdl.ones(2, 0).tolist() == [[], []] and libdl.ones(0, 2).tolist() == []
    assert libdl.tensor(3).tolist() == 3 and type(libdl.tensor(True).tolist()) is bool
    assert libdl.tensor([1 + 2j]).tolist() == [1 + 2j]
    assert libdl.tensor([1.5], dtype=libdl.bfloat16, requires_grad=True).tolist() == [1.5]
    for dtype in (
        libdl.uint8,
        libdl.int8,
        libdl.int16,
        libdl.uint16,
        libdl.int32,
        libdl.uint32,
        libdl.int64,
        libdl.uint64,
    ):
        assert libdl.tensor([[1, 100]], dtype=dtype).tolist() == [[1, 100]]


def test_lengths_may_be_numbers_of_numpy():
    x = libdl.arange(6.0).reshape(3, 2, 1)
    packed = libdl.nn.utils.rnn.pack_padded_sequence(x, np.array([3, 1]))
    assert packed.batch_sizes.tolist() == [2, 1, 1] and packed.data.flatten().tolist() == [
        0,
        1,
        2,
        4,
    ]

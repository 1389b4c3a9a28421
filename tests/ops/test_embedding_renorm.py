# SPDX-License-Identifier: Apache-2.0
"""embedding_renorm_: rows of a table that are too long are shortened in place."""

import math

import pytest

import libdl
from libdl.nn import functional as F


def table(dtype=libdl.float64):
    return libdl.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0], [0.0, 0.0]], dtype=dtype)


@pytest.mark.parametrize("p, norms", [(2.0, (5, 10)), (1.0, (7, 14)), (math.inf, (4, 8))])
@pytest.mark.parametrize("dtype", [libdl.float64, libdl.float32, libdl.bfloat16])
def test_rows_that_are_named_and_long_are_shortened(p, norms, dtype):
    x = table(dtype)
    indices = libdl.tensor([[0, 3], [2, 0]], dtype=libdl.int32)
    assert libdl.embedding_renorm_(x, indices, 1.0, p) is x
    rounding = 1e-2 if dtype is libdl.bfloat16 else 1e-6
    for row, norm in zip((0, 2), norms):
        assert libdl.allclose(x[row], table(dtype)[row] / norm, rtol=rounding)
    assert libdl.equal(x[1::2], table(dtype)[1::2])


def test_a_table_that_requires_grad_gets_no_history():
    x = table().requires_grad_()
    libdl.embedding_renorm_(x, libdl.tensor([0]), 1.0, 2.0)
    assert x.is_leaf and x.grad_fn is None and x._version > 0
    before = x._version
    libdl.embedding_renorm_(x, libdl.tensor([0, 1]), 2.0, 2.0)
    assert x._version == before  # there was nothing to shorten


@pytest.mark.parametrize(
    "error, told, call",
    [
        (
            IndexError,
            "2 (indices) holds 4",
            lambda: libdl.embedding_renorm_(table(), libdl.tensor([0, 4]), 1.0, 2.0),
        ),
        (
            (ValueError, RuntimeError),
            "1 (input) has shape [3]",
            lambda: libdl.embedding_renorm_(libdl.ones(3), libdl.tensor([0]), 1.0, 2.0),
        ),
        (
            (TypeError, RuntimeError),
            "1 (input) is int64",
            lambda: libdl.embedding_renorm_(table().long(), libdl.tensor([0]), 1.0, 2.0),
        ),
    ],
)
def test_what_is_refused_changes_nothing(error, told, call):
    with pytest.raises(error) as caught:
        call()
    assert f"embedding_renorm_: argument {told}" in str(caught.value)


def test_embedding_tells_its_own_arguments():
    with pytest.raises(IndexError, match=r"embedding: argument 1 \(input\) holds 4"):
        F.embedding(libdl.tensor([4]), table(), max_norm=1.0)

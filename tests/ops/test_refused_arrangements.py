# SPDX-License-Identifier: Apache-2.0
"""What arrangements, sequences and products refuse by themselves, where an operator that they are
made of would refuse it in other words, or not at all."""

import math

import pytest

import libdl

X = libdl.ones(2, 3)
INDEX = libdl.zeros(1, 3, dtype=libdl.int64)


def scattered(dtype, word):
    return libdl.scatter_reduce(X.to(dtype), 0, INDEX, libdl.ones(1, 3).to(dtype), word)


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (
            lambda: libdl.diag_embed(X, 2**63 - 1),
            OverflowError,
            r"argument 2 \(offset\) is 9223372036854775807, wanted a result of fewer than 2\^63 "
            r"elements",
        ),
        (
            lambda: libdl.tensor_split(libdl.ones(()), 2),
            ValueError,
            r"tensor_split: argument 1 \(input\) is 0-d, wanted a tensor with dimensions",
        ),
        (
            lambda: libdl.tensor_split(libdl.ones(()), (1,)),
            ValueError,
            r"tensor_split: argument 1 \(input\) is 0-d, wanted a tensor with dimensions",
        ),
        (lambda: libdl.arange(0, 3, 0), ValueError, r"argument 3 \(step\) is 0.* finite and not 0"),
        (lambda: libdl.arange(0, 3, math.inf), ValueError, r"argument 3 \(step\) is inf"),
        (
            lambda: libdl.tril_indices(2**33, 2**31, 2**40),
            OverflowError,
            r"argument 1 \(row\) is 8589934592, wanted fewer than 2\^62 elements",
        ),
        (
            lambda: libdl.cross(X, libdl.ones(4, 3)),
            ValueError,
            r"cross: argument 2 \(other\) has shape \[4, 3\], wanted one that broadcasts with "
            r"\[2, 3\]",
        ),
        (
            lambda: libdl.linalg.cross(X, libdl.ones(4, 3)),
            ValueError,
            r"\[4, 3\], wanted one that broad",
        ),
        (
            lambda: scattered(libdl.complex64, "amax"),
            TypeError,
            r"1 \(input\) is complex64, wanted another",
        ),
        (
            lambda: scattered(libdl.bool, "mean"),
            TypeError,
            r"1 \(input\) is bool, wanted a dtype that has",
        ),
    ],
)
def test_a_call_is_refused_in_its_own_words(call, error, told):
    with pytest.raises(error, match=told):
        call()

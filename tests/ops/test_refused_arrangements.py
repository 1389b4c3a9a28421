# SPDX-License-Identifier: Apache-2.0
"""What arrangements, sequences and products refuse by themselves, where an operator that they are
made of would refuse it in other words, or not at all."""

import pytest

import libdl
from refusals import refusals

X = libdl.ones(2, 3)
INDEX = libdl.zeros(1, 3, dtype=libdl.int64)


def scattered(dtype, word):
    return libdl.scatter_reduce(X.to(dtype), 0, INDEX, libdl.ones(1, 3).to(dtype), word)


TOLD = """
libdl.diag_embed(X, 2**63 - 1)
    # OverflowError: argument 2 (offset) is 9223372036854775807, wanted a result of fewer than 2^63
    #    elements
libdl.tensor_split(libdl.ones(()), 2)
    # ValueError: tensor_split: argument 1 (input) is 0-d, wanted a tensor with dimensions
libdl.tensor_split(libdl.ones(()), (1,))
    # ValueError: tensor_split: argument 1 (input) is 0-d, wanted a tensor with dimensions
libdl.arange(0, 3, 0)
    # ValueError: argument 3 (step) is 0 ... finite and not 0
libdl.arange(0, 3, math.inf)
    # ValueError: argument 3 (step) is inf
libdl.tril_indices(2**33, 2**31, 2**40)
    # OverflowError: argument 1 (row) is 8589934592, wanted fewer than 2^62 elements
libdl.cross(X, libdl.ones(4, 3))
    # ValueError: cross: argument 2 (other) has shape [4, 3], wanted one that broadcasts with [2, 3]
libdl.linalg.cross(X, libdl.ones(4, 3))
    # ValueError: [4, 3], wanted one that broad
scattered(libdl.complex64, "amax")
    # TypeError: 1 (input) is complex64, wanted another
scattered(libdl.bool, "mean")
    # TypeError: 1 (input) is bool, wanted a dtype that has
"""


@pytest.mark.parametrize("reject", refusals(TOLD, globals()))
def test_a_call_is_refused_in_its_own_words(reject):
    with pytest.raises(reject.error) as caught:
        reject.call()
    assert all(word in str(caught.value) for word in reject.words)

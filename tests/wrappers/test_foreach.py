# SPDX-License-Identifier: Apache-2.0
"""_foreach functions return, write and refuse what PyTorch's do."""

import pytest
from answered import Stored
from wrappers import seen_foreach

import libdl

SEEN = Stored(seen_foreach)


@pytest.mark.parametrize("call", seen_foreach.CALLS)
def test_lists_are_computed_as_in_pytorch(call):
    SEEN.compare(call, seen_foreach.answered(libdl, call))


def test_gradients_pass_through():
    x = [libdl.ones(2, requires_grad=True), libdl.ones(3, requires_grad=True)]
    sum(y.sum() for y in libdl._foreach_mul(x, [2.0, 3.0])).backward()
    assert [v.grad.tolist() for v in x] == [[2.0] * 2, [3.0] * 3]


def test_an_unknown_one_is_an_attribute_error():
    assert not hasattr(libdl, "_foreach_absent")


def test_an_error_names_function_and_list():
    message = r"^_foreach_add_: other has 1 elements, wanted 2"
    with pytest.raises(RuntimeError, match=message):
        libdl._foreach_add_([libdl.ones(1)] * 2, [libdl.ones(1)])


def test_a_clone_has_memory_of_its_own():
    x = [libdl.ones(2), libdl.ones(3)]
    assert not {y.data_ptr() for y in libdl._foreach_clone(x)} & {y.data_ptr() for y in x}

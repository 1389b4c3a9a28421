# SPDX-License-Identifier: Apache-2.0
"""_foreach functions return, write and refuse what PyTorch's do."""

import json
from pathlib import Path

import numpy
import pytest
from wrappers import seen_foreach

import libdl

ANSWERS = json.loads(Path(__file__).with_name("seen_foreach.json").read_text())


@pytest.mark.parametrize("call", list(seen_foreach.every_call()))
def test_lists_are_computed_as_in_pytorch(call):
    found, wanted = seen_foreach.answered(libdl, call), ANSWERS[call]
    if isinstance(wanted, str):
        assert found == wanted
        return
    kind, values, after = found
    assert kind == wanted[0]
    for (dtype, numbers), (wanted_dtype, wanted_numbers) in zip(values, wanted[1], strict=True):
        assert dtype == wanted_dtype
        # float32: a few units in the last place, since functions are rounded differently
        numpy.testing.assert_allclose(numbers, wanted_numbers, rtol=1e-6, atol=1e-7)
    for numbers, wanted_numbers in zip(after, wanted[2], strict=True):
        numpy.testing.assert_allclose(numbers, wanted_numbers, rtol=1e-6, atol=1e-7)


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

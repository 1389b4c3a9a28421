# SPDX-License-Identifier: Apache-2.0
"""Trees of utils._pytree: PyTorch's answers to the same programs, and libdl's own classes."""

import ast
import re
import subprocess
import sys

import pytest
from answered import Stored

import libdl
from libdl.utils import _pytree as pytree
from wrappers.utils import seen_pytree

SEEN = Stored(seen_pytree)


def as_in_311(answer):
    """With the repr that an OrderedDict had before Python 3.12."""
    if isinstance(answer, str):
        pairs = lambda m: f"OrderedDict({list(ast.literal_eval(m[1]).items())!r})"  # noqa: E731
        return re.sub(r"OrderedDict\((\{.*?\})\)", pairs, answer)
    return [as_in_311(part) for part in answer] if isinstance(answer, list) else answer


@pytest.mark.parametrize("program", seen_pytree.PROGRAMS, ids=lambda p: p.__name__)
def test_trees_are_those_of_pytorch(program):
    SEEN.check(program, libdl, shown=as_in_311)


def test_trees_are_there_without_an_import_of_their_own():
    code = "import libdl; print(libdl.utils._pytree.tree_leaves([1, (2,)]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[1, 2]\n"


def test_a_pair_of_values_and_indices_is_a_node_and_keeps_its_class():
    pair = libdl.tensor([[1.0, 3.0]]).max(1)
    doubled = pytree.tree_map(lambda x: x * 2, pair)
    assert type(doubled) is type(pair)
    assert doubled.values.item() == 6 and doubled.indices.item() == 2


def test_an_error_says_what_was_found_and_wanted():
    spec = pytree.tree_structure({"a": 1})
    with pytest.raises(ValueError, match=r"found the keys \['b'\], wanted \['a'\]"):
        spec.flatten_up_to({"b": 1})
    with pytest.raises(ValueError, match="found a list, wanted a dict"):
        spec.flatten_up_to([1])
    with pytest.raises(ValueError, match="found 2 leaves, wanted 1 for TreeSpec"):
        pytree.tree_unflatten([1, 2], spec)

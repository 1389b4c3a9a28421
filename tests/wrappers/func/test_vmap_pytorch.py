# SPDX-License-Identifier: Apache-2.0
"""vmap answers as PyTorch's: the same programs, and its stored answers or kinds of error."""

import pytest
from answered import Stored
from wrappers.func import seen_vmap

import libdl

SEEN = Stored(seen_vmap)


@pytest.fixture(scope="module")
def found():
    return seen_vmap.answers(libdl)


def test_every_program_has_an_answer(found):
    assert found.keys() == SEEN[""].keys() and len(found) > 100


@pytest.mark.parametrize("program", SEEN[""])
def test_as_in_pytorch(program, found):
    SEEN.compare(program, found[program])

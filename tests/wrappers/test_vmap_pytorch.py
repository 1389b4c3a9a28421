# SPDX-License-Identifier: Apache-2.0
"""vmap answers as PyTorch's: the same programs, and its stored answers or kinds of error."""

import json
import math
import pathlib

import pytest
from wrappers import seen_vmap

import libdl

ANSWERS = json.loads(pathlib.Path(seen_vmap.__file__).with_suffix(".json").read_text())


def near(a, b):
    """Equal, numbers up to a few roundings of float32, which some programs compute in."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(near, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(near(a[key], b[key]) for key in a)
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9)
    return a == b


@pytest.fixture(scope="module")
def found():
    return json.loads(json.dumps(seen_vmap.answers(libdl)))


def test_every_program_has_an_answer(found):
    assert found.keys() == ANSWERS.keys() and len(found) > 100


@pytest.mark.parametrize("program", ANSWERS)
def test_as_in_pytorch(program, found):
    assert near(found[program], ANSWERS[program]), (found[program], ANSWERS[program])

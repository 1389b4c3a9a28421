# SPDX-License-Identifier: Apache-2.0
"""Modules do what PyTorch's do: the same programs, and its answers."""

import json
import pathlib
import warnings

import pytest
from wrappers import seen_module_calls, seen_modules

import libdl

PROGRAMS = [*seen_modules.PROGRAMS, *seen_module_calls.PROGRAMS]
HERE = pathlib.Path(__file__).parent
ANSWERS = {
    **json.loads((HERE / "seen_modules.json").read_text()), **json.loads((HERE / "seen_module_calls.json").read_text())
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_in_pytorch(program):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = json.loads(json.dumps(program(libdl)))
    assert answer == ANSWERS[program.__name__]

# SPDX-License-Identifier: Apache-2.0
"""Modules do what PyTorch's do: the same programs, and its answers."""

import pytest
from answered import Stored
from wrappers.nn import seen_module_calls, seen_modules

import libdl

CASES = [
    pytest.param(stored, program, id=program.__name__)
    for stored in map(Stored, (seen_modules, seen_module_calls))
    for program in stored.module.PROGRAMS
]


@pytest.mark.parametrize("stored, program", CASES)
def test_as_in_pytorch(stored, program):
    stored.check(program, libdl, ignored=True)

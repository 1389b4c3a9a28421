# SPDX-License-Identifier: Apache-2.0
"""Tracing: PyTorch's graphs and code of the same programs, and what is libdl's own."""

import json
from pathlib import Path

import pytest
from wrappers import seen_fx
from wrappers.answers import answer_of, first_difference

import libdl
from libdl import fx

SEEN = json.loads(Path(__file__).with_name("seen_fx.json").read_text())


@pytest.mark.parametrize("program", seen_fx.PROGRAMS, ids=lambda p: p.__name__)
def test_graphs_are_those_of_pytorch(program):
    assert not first_difference(answer_of(program, libdl), SEEN[program.__name__])

# SPDX-License-Identifier: Apache-2.0
"""Graphs that are made, changed, run and rewritten: PyTorch's answers to the same programs, and
what is libdl's own."""

import json
from pathlib import Path

import pytest
from wrappers import seen_fx_graphs
from wrappers.answers import answer_of, first_difference

import libdl

SEEN = json.loads(Path(__file__).with_name("seen_fx_graphs.json").read_text())


@pytest.mark.parametrize("program", seen_fx_graphs.PROGRAMS, ids=lambda p: p.__name__)
def test_graphs_behave_as_in_pytorch(program):
    assert not first_difference(answer_of(program, libdl), SEEN[program.__name__])

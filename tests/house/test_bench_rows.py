# SPDX-License-Identifier: Apache-2.0
"""Every operator has a row of make bench, or a reason why it has none, and what is written from
its card runs. PyTorch is not needed."""

import sys
from pathlib import Path

import pytest

import libdl

FOLDER = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture(scope="module")
def bench():
    sys.path.insert(0, str(FOLDER))
    import cases
    import cases_operators

    yield cases_operators
    sys.path.remove(str(FOLDER))
    assert cases.CASES is cases_operators.CASES


def test_every_operator_has_a_row_or_a_reason(bench):
    assert [operator.name for operator in bench.without_row()] == []


def test_reasons_are_of_operators_without_a_row(bench):
    names = {operator.name: bench.names_of(operator) for operator in bench.operators()}
    assert set(bench.REASONS) <= set(names)
    measured = bench.measured()
    assert [name for name in bench.REASONS if names[name] & measured] == []


def test_an_operator_without_a_row_is_told(bench, monkeypatch):
    name = next(name for name in bench.CASES if name.startswith("erfcx "))
    monkeypatch.delitem(bench.CASES, name)
    assert [operator.name for operator in bench.without_row()] == ["erfcx"]


def test_rows_from_cards_run(bench):
    rows = [name for name in bench.CASES if bench.FROM_CARD in name]
    assert len(rows) > 300
    for name in rows:
        bench.CASES[name](libdl)()

# SPDX-License-Identifier: Apache-2.0
"""Programs that once ended otherwise than PyTorch's, with PyTorch's answers: tests/oracle found,
cut down and stored them."""

from __future__ import annotations

import pathlib
import sys

import pytest

import libdl

ORACLE = pathlib.Path(__file__).parents[1] / "oracle"
sys.path.append(str(ORACLE))

import stored  # noqa: E402
from case import Stage  # noqa: E402
from compare import coarsest, differences  # noqa: E402

CASES = sorted((ORACLE / "found").glob("*.txt"))


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_answers_as_pytorch(path: pathlib.Path) -> None:
    case, wanted = stored.read(path)
    found = Stage(libdl).run(case["lines"], case["forward"])
    # docs/coming-from-pytorch.md: fewer warnings; a case that tells of them wants them.
    some = [
        difference
        for difference in differences(wanted, found, coarsest(case["lines"]))
        if difference.aspect != "warning" or "warn" in case["told"]
    ]
    assert not some, "\n".join([*case["lines"], *map(str, some)])


def test_a_case_is_a_plain_program() -> None:
    """Nothing in a stored line is drawn: numbers are written out."""
    for path in CASES:
        text = "\n".join(stored.read(path)[0]["lines"])
        assert "make(" not in text and "indices(" not in text, path.name

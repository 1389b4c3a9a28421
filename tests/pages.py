# SPDX-License-Identifier: Apache-2.0
"""The blocks of the documents, and whether a program prints what its page shows."""

import re

import pytest

BLOCK = re.compile(r"^```(\w+) *(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")


def blocks(page: str, language: str) -> list[str]:
    return [m[3] for m in BLOCK.finditer(page) if m[1] == language]


def check_output(shown: str, printed: str, rel: float, abs: float) -> None:
    """Equal line by line, except that numbers with a decimal point may differ a little."""
    mine, theirs = shown.splitlines(), printed.splitlines()
    assert [NUMBER.sub("#", line) for line in mine] == [NUMBER.sub("#", line) for line in theirs]
    for of_page, of_program in zip(mine, theirs, strict=True):
        numbers = [float(x) for x in NUMBER.findall(of_program)]
        assert numbers == pytest.approx(
            [float(x) for x in NUMBER.findall(of_page)], rel=rel, abs=abs
        )

# SPDX-License-Identifier: Apache-2.0
"""docs/tutorial.md shows what its program prints, and the pictures that it draws."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/tutorial.md").read_text()
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tutorial")
    command = [sys.executable, "-B", ROOT / "examples/tutorial.py",
               ROOT / "data/digits.safetensors", folder]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout, folder


def test_the_page_shows_what_the_program_prints(run):
    shown = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    shown_lines = [line for block in shown for line in block.splitlines()]
    printed = run[0].splitlines()
    assert [NUMBER.sub("#", line) for line in shown_lines] == [
        NUMBER.sub("#", line) for line in printed
    ]
    for mine, theirs in zip(shown_lines, printed, strict=True):
        numbers = [float(x) for x in NUMBER.findall(theirs)]
        # Losses of a training differ a little where processors round otherwise.
        assert numbers == pytest.approx([float(x) for x in NUMBER.findall(mine)], rel=0.1, abs=0.02)


def test_the_pages_pictures_are_those_that_the_program_draws(run):
    named = set(re.findall(r"\]\(pictures/(\w+\.png)\)", PAGE))
    assert named == {path.name for path in run[1].glob("*.png")}
    assert all((ROOT / "docs/pictures" / name).stat().st_size < 40_000 for name in named)


def test_every_block_of_the_page_is_in_the_order_of_the_program():
    program = (ROOT / "examples/tutorial.py").read_text()
    places = [program.index(code) for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)]
    assert places == sorted(places)

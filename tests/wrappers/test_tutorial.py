# SPDX-License-Identifier: Apache-2.0
"""docs/tutorial.md shows what its program prints, and the pictures that it draws."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import blocks, check_output

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/tutorial.md").read_text()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tutorial")
    command = [sys.executable, "-B", ROOT / "examples/tutorial.py",
               ROOT / "data/digits.safetensors", folder]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout, folder


def test_the_page_shows_what_the_program_prints(run):
    # Losses of a training differ a little where processors round otherwise.
    check_output("".join(blocks(PAGE, "text")), run[0], rel=0.1, abs=0.02)


def test_the_pages_pictures_are_those_that_the_program_draws(run):
    pytest.importorskip("matplotlib")
    named = set(re.findall(r"\]\(pictures/(\w+\.png)\)", PAGE))
    assert named == {path.name for path in run[1].glob("*.png")}
    assert all((ROOT / "docs/pictures" / name).stat().st_size < 40_000 for name in named)


def test_every_block_of_the_page_is_in_the_order_of_the_program():
    program = (ROOT / "examples/tutorial.py").read_text()
    places = [program.index(code) for code in blocks(PAGE, "python")]
    assert places == sorted(places)

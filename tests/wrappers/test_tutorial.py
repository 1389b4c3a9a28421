# SPDX-License-Identifier: Apache-2.0
"""docs/tutorial.md: each block pasted in order into an interpreter that was just started prints
what the page shows, and draws its pictures; the program beside it consists of the same blocks."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import BLOCK, blocks, check_output

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/tutorial.md").read_text()
# What a terminal does with a pasted block: a line at a time, and a new line at its end. What is
# printed is kept for each block; values of expressions are not echoed, errors end it.
PASTED = """
import code, contextlib, io, json, sys

sys.displayhook = lambda value: None
console, printed = code.InteractiveConsole(), []
for block in json.loads(sys.argv[1]):
    said, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
        for line in [*block.splitlines(), ""]:
            console.push(line)
    if errors.getvalue():
        raise SystemExit(block + errors.getvalue())
    printed.append(said.getvalue())
print(json.dumps(printed))
"""


def run(folder: Path, *words: object) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "MPLBACKEND": "Agg",
    }
    done = subprocess.run(
        [sys.executable, "-B", *map(str, words)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def pasted(tmp_path_factory):
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("pasted")
    return json.loads(run(folder, "-c", PASTED, json.dumps(blocks(PAGE, "python")))), folder


def shown() -> list[str]:
    """What the page shows under each block of Python; nothing under most."""
    found: list[str] = []
    for language, _, content in BLOCK.findall(PAGE):
        if language == "python":
            found.append("")
        else:
            found[-1] += content
    return found


def test_each_block_prints_what_the_page_shows_below_it(pasted):
    assert sum(bool(text) for text in shown()) > 7
    # Losses of a training differ a little where processors round otherwise.
    for wanted, printed in zip(shown(), pasted[0], strict=True):
        check_output(wanted, printed, rel=0.1, abs=0.05)


def test_the_pages_pictures_are_those_that_its_blocks_draw(pasted):
    named = set(re.findall(r"\]\(pictures/(\w+\.png)\)", PAGE))
    assert named == {path.name for path in pasted[1].glob("*.png")}
    assert all((ROOT / "docs/pictures" / name).stat().st_size < 40_000 for name in named)


def test_a_block_that_does_not_stand_alone_is_seen(tmp_path):
    for block in (
        "print(y)\n",
        "for i in [1]:\n    pass\nprint(i)\n",
        "def f():\n    x = 1\n\n    return x\n",
    ):
        with pytest.raises(AssertionError, match="Error"):
            run(tmp_path, "-c", PASTED, json.dumps([block]))


def test_the_program_consists_of_the_pages_blocks(tmp_path):
    pytest.importorskip("matplotlib")
    program = (ROOT / "examples/tutorial.py").read_text()
    places = [program.index(code) for code in blocks(PAGE, "python")]
    assert places == sorted(places)
    check_output("".join(shown()), run(tmp_path, ROOT / "examples/tutorial.py"), rel=0.1, abs=0.05)

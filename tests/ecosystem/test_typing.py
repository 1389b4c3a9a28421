# SPDX-License-Identifier: Apache-2.0
"""A user's program for type checkers: it runs, and mypy --strict finds nothing in it, but the
errors of another. What pyright says of it is tests/gates/pyright.py."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import libdl

PROGRAM = Path(__file__).with_name("typed_program.py")
WRONG = """
import libdl as torch

torch.softmaxx(torch.ones(2))  # no such function
torch.ones(2).no_such  # no such attribute
torch.zeros("3")  # no size
x: int = torch.ones(2).sum()  # a tensor
"""


def mypy(path: Path, cache: Path) -> str:
    where = str(Path(libdl.__file__).parent.parent)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary"]
    done = subprocess.run(
        [*command, f"--cache-dir={cache}", path],
        text=True,
        timeout=300,
        capture_output=True,
        env={**os.environ, "MYPYPATH": where},
    )
    assert not done.stderr, done.stderr
    return done.stdout


def test_the_program_runs():
    runpy.run_path(str(PROGRAM), run_name="__main__")


def test_mypy_strict_has_nothing_to_say_and_finds_errors(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    assert mypy(PROGRAM, tmp_path) == ""
    told = mypy(wrong, tmp_path).splitlines()
    assert [int(line.split(":")[1]) for line in told if ": error:" in line] == [4, 5, 6, 7]

# SPDX-License-Identifier: Apache-2.0
"""tests/gates/stubs.py BUILD: mypy --strict reads the examples and a user's program, as
tests/ecosystem/test_typing.py does, but needs no library: the generators' output is enough."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    programs = [
        *sorted((ROOT / "examples").glob("*.py")),
        ROOT / "tests/ecosystem/typed_program.py",
    ]
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        "--ignore-missing-imports",
        f"--cache-dir={build / 'mypy'}",
        *programs,
    ]
    return subprocess.run(command, env={**os.environ, "MYPYPATH": str(build / "python")}).returncode


if __name__ == "__main__":
    sys.exit(main())

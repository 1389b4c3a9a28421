# SPDX-License-Identifier: Apache-2.0
"""The museum's programs of this version import every function: imports.py BUILD.

They are those of tests/capi and of tests/museum/meaning, which tests/museum/collect keeps.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Each with its reason.
LEFT_OUT: dict[str, str] = {}


def imported(program: Path) -> set[str]:
    command = ["nm", "-D", "--undefined-only", str(program)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].partition("@")[0] for line in text.splitlines()}


def main() -> int:
    build = Path(sys.argv[1])
    promise = (ROOT / "tests/abi/promise.txt").read_text().splitlines()
    symbols = {line.split()[0] for line in promise if " -> " in line}
    programs = [*sorted((build / "tests/capi").glob("capi_*")), build / "tests/museum/meaning"]
    found = set().union(*(imported(program) for program in programs))
    missing = sorted(symbols - found - LEFT_OUT.keys())
    for name in missing:
        print(f"imports: no program of the museum calls {name}: tests/capi/defaults.c is the place "
              "for what it answers", file=sys.stderr)
    print(f"imports: {len(symbols & found)} of {len(symbols)} functions, by {len(programs)} programs")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

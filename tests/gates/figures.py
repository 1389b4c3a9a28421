# SPDX-License-Identifier: Apache-2.0
"""The table that `make attack` ends with; every line that belongs to it has to be there.

    python tests/gates/figures.py FILE [--threads]

FILE is what the steps appended to LIBDL_FIGURES, "what<tab>value" a line. --threads: only what
`make attack-threads` finds.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

# How each line begins that has to be there. Instruction sets that this machine lacks have none.
THREADS = ("calls of 8 threads, thread sanitizer",)
EXPECTED = (
    "bad arguments, one at a time",
    "every n-th allocation fails",
    "random sequences of calls",
    "libFuzzer, safetensors",
    "libFuzzer, DLPack import",
    "libFuzzer, calls of operators",
    "checks left out, one at a time",
    "safetensors, every truncation",
    "safetensors, every byte of a header",
    "files in Python, mutated",
    "kill -9 while a file is saved",
    "memory held for allocations of 16 B to 16 MB",
    "page faults of 100 steady training steps",
    "largest float32 error where 1 ulp is promised, baseline",
    "largest float64 error where 2 ulp are promised, baseline",
    "largest error of float16, all inputs, baseline",
    "largest error of bfloat16, all inputs, baseline",
    "planted ABI breaks",
    "old programs on this library",
    *THREADS,
)


def figure(what: str, value: str) -> None:
    """Appends a line where LIBDL_FIGURES names a file."""
    if path := os.environ.get("LIBDL_FIGURES"):
        with open(path, "a", encoding="utf-8") as table:
            table.write(f"{what}\t{value}\n")


def main() -> int:
    expected = THREADS if "--threads" in sys.argv else EXPECTED
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    lines = [line.partition("\t") for line in text.splitlines()]
    width = max((len(what) for what, _, _ in lines), default=0)
    for what, _, value in lines:
        print(f"{what:<{width}}  {value}")
    told = [what for what, _, _ in lines]
    missing = [begin for begin in expected if not any(what.startswith(begin) for what in told)]
    for wanted in missing:
        print(f"figures: nothing was told of: {wanted}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

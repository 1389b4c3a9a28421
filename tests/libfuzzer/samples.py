# SPDX-License-Identifier: Apache-2.0
"""Writes tests/samples for the libFuzzer target that calls operators: a word for each argument.

python3 tests/libfuzzer/samples.py --headers include/libdl --out FILE.cc
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests/samples")]

import rows  # noqa: E402
from operators import read_operators  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--headers", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    lines = ["// Written by tests/libfuzzer/samples.py.", '#include "tests/libfuzzer/pool.h"']
    lines += ["namespace libfuzzer {", "const Sample kSamples[] = {"]
    for operator in read_operators(options.headers):
        words = [rows.operator_words(operator, argument)[0] for argument in operator.arguments]
        lines.append(f'    {{"{operator.name}", {{{", ".join(map(json.dumps, words))}}}}},')
    lines += ["};", "}  // namespace libfuzzer"]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Writes the doors, the C++ entries and the operator table from the public headers.

    python3 tools/generate.py --headers include/libdl --out build/generated

Files whose contents would not change are left alone, so that a change in one header compiles one
file again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from doors import door_source
from entries import entry_header, entry_source
from function_parameters import function_parameters_text
from headers import HeaderError
from op_table import op_ids, op_table_source
from operators import OPERATOR_HEADERS, Operator, read_operators
from steps import doors_text, entries_text, read_steps


def write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--headers", type=Path, required=True, help="folder of the public headers")
    parser.add_argument("--out", type=Path, required=True, help="folder for the C++ sources")
    options = parser.parse_args()
    try:
        operators = read_operators(options.headers)
    except HeaderError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    write_sources(options.out, operators)
    names = (operator.name for operator in operators)
    parameters = function_parameters_text(options.headers, names)
    write(options.out / "function_parameters.cc", parameters)
    steps, defaults = read_steps(options.headers)
    write(options.out / "door_optim.cc", doors_text(steps, defaults))
    write(options.out / "entries" / "optim.h", entries_text(steps))
    return 0


def write_sources(out: Path, operators: list[Operator]) -> None:
    (out / "entries").mkdir(parents=True, exist_ok=True)
    for header in OPERATOR_HEADERS:
        own = [operator for operator in operators if operator.header == header]
        write(out / f"door_{header}.cc", door_source(header, own))
        write(out / "entries" / f"{header}.h", entry_header(header, own))
        write(out / "entries" / f"{header}.cc", entry_source(header, own))
    write(out / "op_ids.h", op_ids(operators))
    write(out / "op_table.cc", op_table_source(operators))


if __name__ == "__main__":
    sys.exit(main())

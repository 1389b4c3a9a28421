# SPDX-License-Identifier: Apache-2.0
"""Writes the doors and the operator table from the public headers.

    python3 tools/generate.py --headers include/libdl --ops libdl/ops --out build/generated

Files whose contents would not change are left alone, so that a change in one header compiles one
file again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cpp import Found, find_functions, find_implementation, prototype
from doors import door_source
from headers import HeaderError
from op_table import op_ids, op_table_source
from operators import OPERATOR_HEADERS, Operator, read_operators


def write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def report_missing(missing: list[Operator], functions: dict[str, list[Found]], level: str) -> None:
    """Names what is declared with another signature, and the rest where it is an error."""
    unknown = []
    for operator in missing:
        others = [f"{f.prototype} in {f.header}" for f in functions.get(operator.name, [])]
        if others or level == "error":
            known = f"; there is {', '.join(others)}" if others else ""
            print(f"{level}: libdl/ops has no {prototype(operator)}{known}", file=sys.stderr)
        else:
            unknown.append(operator.name)
    if unknown:
        print(f"{level}: {len(unknown)} operators have no C++ function", file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--headers", type=Path, required=True, help="folder of the public headers")
    parser.add_argument("--ops", type=Path, help="libdl/ops; by default beside --headers")
    parser.add_argument("--out", type=Path, help="folder for the C++ sources")
    parser.add_argument("--python", type=Path, help="file for the Python layer")
    parser.add_argument("--strict", action="store_true", help="a missing operator is an error")
    options = parser.parse_args()
    try:
        operators = read_operators(options.headers)
    except HeaderError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    functions = find_functions(options.ops or options.headers.parent.parent / "libdl/ops")
    found = {o.name: find_implementation(o, functions) for o in operators}
    present = [o for o in operators if found[o.name]]
    missing = [o for o in operators if not found[o.name]]
    report_missing(missing, functions, "error" if options.strict else "warning")
    if missing and options.strict:
        return 1
    if options.out:
        write_sources(options.out, present, {name: f for name, f in found.items() if f})
    return 0


def write_sources(out: Path, operators: list[Operator], found: dict[str, Found]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for header in OPERATOR_HEADERS:
        own = [operator for operator in operators if operator.header == header]
        includes = sorted({found[operator.name].header for operator in own})
        write(out / f"door_{header}.cc", door_source(header, own, includes))
    includes = sorted({found[operator.name].header for operator in operators})
    write(out / "op_ids.h", op_ids(operators))
    write(out / "op_table.cc", op_table_source(operators, includes))


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Writes what type checkers and editors read of the generated Python layer.

    python3 tools/python_stubs.py --headers include/libdl --out DIR

    _tensor_operators.pyi   class TensorOperators: the methods and properties, for Tensor to inherit
    _functions.pyi          the functions of the package libdl
    _functional.pyi         those of libdl.nn.functional
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from headers import HeaderError
from operators import Operator, read_operators
from python_layer import Form, definition, forms_of, signature_of

HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# Written by tools/python_stubs.py from include/libdl.
import builtins
from collections.abc import Sequence
from typing import NamedTuple, overload

from ._types import DeviceLike, DType, Generator, Number, Tensor, TensorLike

class _ValuesIndices(NamedTuple):
    values: Tensor
    indices: Tensor
"""


def _stub(name: str, forms: list[Form], indent: str) -> str:
    """One def, or one overload a form; forms that look alike to a checker are written once."""
    seen: set[str] = set()
    lines = []
    for form in forms:
        text = definition(name, form, ["..."])
        if ", ".join(signature_of(form)) in seen:
            continue
        seen.add(", ".join(signature_of(form)))
        lines.append(text)
    decorator = "@overload\n" if len(lines) > 1 else ""
    text = "\n".join(decorator + line for line in lines)
    return "\n".join(indent + line for line in text.split("\n"))


def functions(operators: list[Operator], flag: str) -> str:
    return HEAD + "\n" + "\n".join(_stub(n, f, "") for n, f in forms_of(operators, flag).items())


def tensor_operators(operators: list[Operator]) -> str:
    lines = [HEAD, "class TensorOperators:"]
    for flag in ("method", "inplace"):
        lines += [_stub(n, f, "    ") for n, f in forms_of(operators, flag).items()]
    for name, forms in forms_of(operators, "property").items():
        lines.append("    @property\n" + _stub(name, forms, "    "))

    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--headers", type=Path, required=True, help="folder of the public headers")
    parser.add_argument("--out", type=Path, required=True, help="folder of the stubs")
    options = parser.parse_args()
    try:
        operators = read_operators(options.headers)
    except HeaderError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "_tensor_operators.pyi").write_text(tensor_operators(operators) + "\n")
    (options.out / "_functions.pyi").write_text(functions(operators, "function") + "\n")
    (options.out / "_functional.pyi").write_text(functions(operators, "functional") + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

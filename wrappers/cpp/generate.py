# SPDX-License-Identifier: Apache-2.0
"""Writes libdl.hpp: libdl.hpp.in and its parts, with the operators as the headers say them.

python3 wrappers/cpp/generate.py --headers include/libdl --out build/generated/cpp
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))

from operators import Argument, Operator, read_operators  # noqa: E402
from typed import Typed, sentences  # noqa: E402

_NAMES = {"bernoulli_fill": "bernoulli"}


def default_value(argument: Argument, default: str) -> str:
    if default == "None":
        return "Dtype::none" if argument.kind == "dtype" else "{}"
    if argument.kind in ("tensor", "ints") and argument.nullable:
        return "{}"  # the library's own default
    if argument.kind == "bool":
        return default.lower()
    if argument.kind == "string":
        return '"' + default.strip("'") + '"'
    if argument.kind == "ints":
        return f"{{{default.strip('()')}}}"
    return default


def parameters(typed: Typed, defaults: bool) -> list[str]:
    """C++ wants defaults at the end: one in front of what must be given is not written."""
    parts: list[str] = []
    still = defaults
    for argument in reversed(typed.arguments):
        default = typed.default(argument)
        still = still and default is not None
        text = f"{argument.filled(argument.row.hpp)} {argument.name}"
        parts.insert(0, f"{text} = {default_value(argument, default or '')}" if still else text)
    return parts


def comment(typed: Typed, into: str = "") -> list[str]:
    parts = sentences(typed, "absent")
    if into:
        return [f"/// {into}"]
    lines = textwrap.wrap(parts[0][1], 90)
    for name, text in parts[1:-2]:
        lines += textwrap.wrap(
            f"@param {name} {text}"
            if name in {a.name for a in typed.arguments}
            else f"{name}: {text}",
            90,
            subsequent_indent="  ",
        )
    for name, text in parts[-2:]:
        lines += textwrap.wrap(f"{name}: {text}", 90, subsequent_indent="  ")
    return [f"/// {line}" for line in lines]


def passed(typed: Typed) -> list[str]:
    own = ["get()"] if typed.receiver else []
    return own + [a.filled(a.row.hpp_passed) for a in typed.arguments]


def new_form(typed: Typed) -> list[str]:
    operator = typed.operator
    results = operator.results
    types = [r.row.hpp[0] for r in results]
    result = types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"
    const = " const" if typed.receiver else ""
    prefix = "" if typed.receiver else "inline "
    head = f"{prefix}{result} {operator.name}({', '.join(parameters(typed, True))}){const} {{"
    taken = [r.row.hpp[2].format(x=f"{r.name}_") for r in results]
    value = taken[0] if len(taken) == 1 else f"{{{', '.join(taken)}}}"
    outputs = [f"&{r.name}_" for r in results]
    return [
        *comment(typed),
        head,
        *(f"  {r.row.hpp[1]} {r.name}_{{}};" for r in results),
        f"  check(::libdl_{operator.name}({', '.join([*passed(typed), *outputs])}));",
        f"  return {value};",
        "}",
    ]


def inplace_form(typed: Typed) -> list[str]:
    """The tensor itself; of a temporary, whose end is near, a further reference."""
    name = _NAMES.get(typed.name, typed.name)
    text = comment(typed) if typed.overwrites else comment(typed, f"{name} in place.")
    lines = []
    for said, result, of in (
        (text, "const Tensor&", "&"),
        ([f"/// {name}_ of a temporary."], "Tensor", "&&"),
    ):
        lines += [
            *said,
            f"{result} {name}_({', '.join(parameters(typed, True))}) const {of} {{",
            f"  check(::libdl_{typed.name}_into({', '.join([*passed(typed), 'get()'])}));",
            "  return *this;",
            "}",
        ]
    return lines


def into_form(typed: Typed) -> list[str]:
    destinations = [f"const Tensor& {d}" for d in typed.destinations]
    const, prefix = (" const", "") if typed.receiver else ("", "inline ")
    head = f"{prefix}void {typed.name}_into({', '.join(parameters(typed, False) + destinations)})"
    arguments = [*passed(typed), *(f"{d}.get()" for d in typed.destinations)]
    return [
        *comment(typed, f"{typed.name} into a tensor that exists."),
        f"{head}{const} {{",
        f"  check(::libdl_{typed.name}_into({', '.join(arguments)}));",
        "}",
    ]


def forms(operator: Operator) -> list[str]:
    typed = Typed(operator)
    lines: list[str] = []
    if operator.has_new:
        lines += [*new_form(typed), ""]
    if typed.overwrites or typed.inplace:
        lines += [*inplace_form(typed), ""]
    if operator.has_into and not typed.overwrites:
        lines += [*into_form(typed), ""]
    return lines


def constants(header: Path, prefix: str) -> str:
    """The enumerators of one prefix, in small letters."""
    names = re.findall(rf"^  {prefix}(\w+) = ", header.read_text(encoding="utf-8"), re.MULTILINE)
    return ",\n  ".join(f"{spelled(name.lower())} = {prefix}{name}" for name in names)


def spelled(name: str) -> str:
    """C++ keeps the word bool for itself."""
    return "boolean" if name == "bool" else name


def whole_template() -> str:
    """libdl.hpp.in with its parts, each for a line "@FILE@" and without its licence's line."""

    def text(part: re.Match[str]) -> str:
        return (HERE / part[1]).read_text(encoding="utf-8").partition("\n\n")[2]

    frame = (HERE / "libdl.hpp.in").read_text(encoding="utf-8")
    return re.sub(r"^@(\w+\.hpp\.in)@\n", text, frame, flags=re.MULTILINE)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--headers", type=Path, required=True, help="folder of the public headers")
    parser.add_argument("--out", type=Path, required=True, help="folder for libdl.hpp")
    options = parser.parse_args()
    operators = read_operators(options.headers)
    is_method = {o.name: Typed(o).receiver is not None or Typed(o).overwrites for o in operators}
    methods = [line for o in operators if is_method[o.name] for line in forms(o)]
    functions = [line for o in operators if not is_method[o.name] for line in forms(o)]
    text = whole_template()
    for mark, content in (
        ("@DTYPES@", constants(options.headers / "dtype.h", "LIBDL_DTYPE_")),
        ("@ERRORS@", constants(options.headers / "error.h", "LIBDL_ERROR_")),
        ("@METHODS@", textwrap.indent("\n".join(methods).rstrip(), "  ")),
        ("@FUNCTIONS@", "\n".join(functions).rstrip()),
    ):
        if text.count(mark) != 1:
            raise SystemExit(f"the template has {mark} {text.count(mark)} times, wanted once")
        text = text.replace(mark, content)
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "libdl.hpp"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Writes the calls and the attacks of tests/attack from the public headers.

    python3 tests/attack/generate.py --headers include/libdl --out build/tests/attack

calls.c has every function behind one signature; attacks.txt has, for each, the call as it is meant
(H) and one bad argument a line (A). The meant values stand in meant.py, what is bad about an
argument follows from its kind and from the words that the header describes it with.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

import bad  # noqa: E402
import meant  # noqa: E402
from headers import Function, Parameter, read_headers  # noqa: E402
from operators import OPERATOR_HEADERS, Argument, Operator, read_operators  # noqa: E402


def callbacks(folder: Path) -> set[str]:
    """The typedefs of pointers to functions."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.h")))
    return set(re.findall(r"typedef [^;{}]*\(\*(\w+)\)\(", text))


def cast(parameter: Parameter, k: int, pointers_to_functions: set[str]) -> str:
    kind = re.sub(r"\bLIBDL_\w+ ?", "", parameter.type)
    if "(*)" in kind or kind in pointers_to_functions:
        return f"({kind})a[{k}].fn"
    if kind.endswith("*"):
        return f"({kind})a[{k}].p"
    if kind == "double":
        return f"a[{k}].f"
    return f"({kind})a[{k}].i"


def source(functions: list[Function], pointers_to_functions: set[str]) -> str:
    parts = ['/* Written by tests/attack/generate.py. */\n#include "calls.h"\n']
    for f in functions:
        arguments = ", ".join(cast(p, k, pointers_to_functions) for k, p in enumerate(f.parameters))
        unused = "" if f.parameters else "  (void)a;\n"
        call = f"return {f.name}({arguments});"
        if f.result != "libdl_error *":
            call = f"(void){f.name}({arguments});\n  return NULL;"
        parts.append(f"static libdl_error *call_{f.name}(const Raw *a) {{\n{unused}  {call}\n}}\n")
    entries = "".join(f'  {{"{f.name}", call_{f.name}}},\n' for f in functions)
    parts.append(f"const Function attack_functions[] = {{\n{entries}}};")
    parts.append(f"const int32_t attack_function_count = {len(functions)};\n")
    return "\n".join(parts)


# -- operators ---------------------------------------------------------------------------------


def operator_lines(operator: Operator, into: bool) -> list[str]:
    words: list[str] = []
    first: dict[str, int] = {}  # an argument's first C parameter
    for argument in operator.arguments:
        first[argument.name] = len(words)
        words += meant.words_of(operator, argument)
    behind = len(words)
    name = f"libdl_{operator.name}" + ("_into" if into else "")
    lines: list[str] = []

    def attack(argument: str, number: int, fault: str, others: list[str],
               changes: dict[int, str]) -> None:  # fmt: skip
        told = "\t".join(f"{k}={word}" for k, word in changes.items())
        lines.append(f"A\t{argument}\t{number}\t{fault}\t{','.join(others)}\t{told}")

    tensors = [a.name for a in operator.arguments if a.kind in ("tensor", "tensors")]
    for number, argument in enumerate(operator.arguments, 1):
        for fault in bad.faults(operator, argument, words[first[argument.name]]):
            others = fault.partners
            if fault.relation:
                others = [n for n in tensors if n != argument.name] + others
            if into and argument.kind == "ints" and len(fault.words) == 2:
                others = [*others, "dst"]  # which does not have that shape either
            changes = {first[argument.name] + k: word for k, word in fault.words}
            attack(argument.name, number, fault.name, others, changes)
    outputs = destinations(operator) if into else [result.name for result in operator.results]
    for k, output in enumerate(outputs):
        number = len(operator.arguments) + 1 + k
        if not into:
            words.append(f"out:{bad.RESULT_HANDLES.get(operator.results[k].kind, 'plain')}")
            attack(output, number, "null", [], {behind + k: "null"})
            continue
        model = f"dst:{k}" if operator.has_new else "like:" + meant.DESTINATION
        words.append(model)
        for fault in bad.destination_faults(operator):
            attack(output, number, fault, [], {behind + k: f"{model}/{fault}"})
    head = "\t".join(["H", operator.header, name, *words])
    return [head, *lines]


def destinations(operator: Operator) -> list[str]:
    if len(operator.results) == 1:
        return ["dst"]
    return [f"{result.name}_dst" for result in operator.results]


# -- other functions ---------------------------------------------------------------------------


def plain_lines(header: str, function: Function) -> list[str]:
    words = meant.CALLS[function.name]
    if len(words) != len(function.parameters):
        raise function.error(f"meant.py gives {len(words)} parameters")
    lines = ["\t".join(["H", header, function.name, *words])]
    for k, parameter in enumerate(function.parameters):
        for fault, word in bad.plain_faults(function, k, words):
            name, *others = bad.blamed(function, k)
            # Names alone are checked: a pointer and its count are one argument, or two.
            lines.append(f"A\t{name}\t0\t{fault}\t{','.join(others)}\t{k}={word}")
    return lines


# -- functions without an error ------------------------------------------------------------------


def getter_lines(header: str, function: Function) -> list[str]:
    """What asks a handle answers NULL and handles of other kinds; what gives one up takes NULL."""
    handle = function.parameters[0]
    words = ["null"] + [bad.other_word(parameter) for parameter in function.parameters[1:]]
    lines = ["\t".join(["G", header, function.name, handle.name, "null", *words])]
    if handle.type.startswith("const ") and function.name not in meant.NULL_ALONE:
        kind = "kind" if "generator" not in handle.type else "t:f64:2,3#kind"
        lines.append("\t".join(["G", header, function.name, handle.name, "kind", kind, *words[1:]]))
    if handle.type == "const libdl_tensor *":
        lines.append(
            "\t".join(["G", header, function.name, handle.name, "emptied", "emptied", *words[1:]])
        )
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--headers", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    functions: list[Function] = []
    lines: list[str] = []
    for operator in read_operators(options.headers):
        lines += operator_lines(operator, False) if operator.has_new else []
        lines += operator_lines(operator, True) if operator.has_into else []
    for header in read_headers(options.headers):
        getters = [
            f for f in header.functions
            if f.result != "libdl_error *" and f.parameters and bad.is_handle(f.parameters[0])
        ]  # fmt: skip
        functions += getters
        for getter in getters:
            lines += getter_lines(header.path.stem, getter)
        fallible = [f for f in header.functions if f.result == "libdl_error *"]
        if header.path.stem in OPERATOR_HEADERS:
            functions += fallible
            continue
        for function in fallible:
            if function.name in meant.NOT_YET:
                continue
            if function.name not in meant.CALLS:
                raise function.error("stands neither in meant.CALLS nor in meant.NOT_YET")
            functions.append(function)
            lines += plain_lines(header.path.stem, function)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "attack_calls.c").write_text(source(functions, callbacks(options.headers)))
    (options.out / "attacks.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

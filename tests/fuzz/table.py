# SPDX-License-Identifier: Apache-2.0
"""Writes what the fuzzer knows of the library, from the public headers and from tests/samples.

    python3 tests/fuzz/table.py --headers include/libdl --out build/tests/fuzz

fuzz_calls.c has every function, and every helper of host_fixtures.h, behind one signature. fuzz.txt has,
for each (F), its parameters (P), what it is called with (W), what is bad about an argument (B) and,
of operators, how a generic call spells an argument (V).
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [
    str(HERE.parent / "attack"),
    str(HERE.parent / "samples"),
    str(HERE.parents[1] / "tools"),
]

import bad  # noqa: E402
import generate as attack  # noqa: E402
import rows  # noqa: E402
from rows import handle  # noqa: E402
from headers import Function, Parameter, read_headers  # noqa: E402
from operators import OPERATOR_HEADERS, read_operators  # noqa: E402

_FALLIBLE = "libdl_error *"


# -- the calls -----------------------------------------------------------------------------------


def helpers(text: str) -> list[Function]:
    """The functions of host_fixtures.h that are called like the library's."""
    found = []
    for match in re.finditer(r"^FIXTURE_CALL ([^;{(]*?)(\w+)\(([^)]*)\) \{", text, re.MULTILINE):
        parameters = []
        for part in filter(lambda part: part != "void", match[3].split(",")):
            kind, name = re.fullmatch(r"\s*(.*[ *])(\w+)", part).groups()
            parameters.append(Parameter(name, " ".join(kind.split()), frozenset()))
        found.append(
            Function(
                match[2],
                match[1].strip(),
                frozenset(),
                tuple(parameters),
                (),
                HERE / "host_fixtures.h",
                0,
            )
        )
    return found


def thunk(f: Function, pointers_to_functions: set[str]) -> str:
    arguments = ", ".join(
        attack.cast(p, k, pointers_to_functions) for k, p in enumerate(f.parameters)
    )
    unused = "" if f.parameters else "  (void)a;\n"
    keep = f"(void){f.name}({arguments});"
    if f.result.endswith("*") and not f.result.startswith("const "):
        keep = f"result.p = {f.name}({arguments});"
    return (
        f"static Raw call_{f.name}(const Raw *a) {{\n{unused}  Raw result = {{0}};\n  {keep}\n"
        "  return result;\n}\n"
    )


def source(functions: list[Function], pointers_to_functions: set[str]) -> str:
    parts = ["/* Written by tests/fuzz/table.py. */", '#include "calls.h"']
    parts += ["#define FIXTURE_COUNT(name, good) fuzz_count(name, good)"]
    parts += [f'#include "{name}"' for name in attack.FIXTURES]
    parts += ["", *(thunk(f, pointers_to_functions) for f in functions)]
    entries = "".join(f'  {{"{f.name}", call_{f.name}}},\n' for f in functions)
    parts.append(f"const FuzzFunction fuzz_functions[] = {{\n{entries}  {{0, 0}}}};\n")
    parts += attack.fixture_lists("fuzz")
    parts.append("int32_t fuzz_descriptor(void) { return fixture_descriptor(); }\n")
    return "\n".join(parts)


# -- the table -----------------------------------------------------------------------------------


# What the fuzzer has no word for: a context lives within a backward pass.
_SAME = {"buffer": "at:buffer", "recorded": "h:event", "context": "null"}


def converted(word: str) -> str:
    """A word of tests/samples, as the fuzzer spells it."""
    if word.startswith("out:"):
        kind = word.removeprefix("out:")
        return "out:" + (handle(f"libdl_{kind} **") or (kind if kind in rows.KINDS else "plain"))
    return _SAME.get(word, word)


def getter_words(f: Function) -> list[list[str]]:
    """Those of a function without an error: any handle and operator, and the first two numbers."""
    more = {"i:0": ["i:0", "i:1"], "op:neg": ["op:?"], "t:f64:2,3": ["h:tensor"]}
    told = rows.sample(f.name)
    return [
        words if p.name in told else more.get(words[0], words)
        for p, words in zip(f.parameters, rows.function_words(f))
    ]


def lines_of(
    f: Function, words: list[list[str]], faults: list[str], spelled: list[str]
) -> list[str]:
    steals = any("LIBDL_STEALS" in p.words for p in f.parameters)
    gives_up = steals or f.name.endswith("_release")
    result = "fallible" if f.result == _FALLIBLE else "none"
    if "LIBDL_NEW" in f.result_words:
        result = handle(f.result)
    seldom = 0 if f.name.startswith("fixture_") else rows.seldom(f.name)
    lines = [f"F\t{f.name}\t{result}\t{int(gives_up)}\t{seldom}\t{rows.before(f.name)}"]
    lines += [f"P\t{p.type}\t{handle(p.type)}\t{int(p.nullable)}" for p in f.parameters]
    lines.append("\t".join(["W", *("~".join(map(converted, choices)) for choices in words)]))
    return lines + faults + spelled


def faults_of(attack_lines: list[str]) -> list[str]:
    """The changes of tests/attack's lines: '3=null', or several of one argument."""
    found = []
    for line in attack_lines:
        if line.startswith("A"):
            changes = line.split("\t")[5:]
            found.append("\t".join(["B", *changes]))
    return found


def handle_faults(f: Function) -> list[str]:
    """NULL and another kind of handle for the handle of a function without an error."""
    kinds = [(k, handle(p.type)) for k, p in enumerate(f.parameters) if handle(p.type)]
    found = [f"B\t{k}=null" for k, _ in kinds]
    return found + [f"B\t{k}=kind" for k, _ in kinds if f.parameters[k].type.startswith("const ")]


def spelled_lines(operator) -> list[str]:
    """For each argument its kind and its first C parameter."""
    first, lines = 0, []
    for argument in operator.arguments:
        lines.append(f"V\t{argument.kind}\t{first}")
        first += 1 + bool(argument.count)
    return lines


def operator_tables(folder: Path) -> dict[str, tuple[list[str], list[str], list[str]]]:
    found = {}
    for operator in read_operators(folder):
        for into in (False, True):
            if not (operator.has_into if into else operator.has_new):
                continue
            head, *rest = attack.operator_lines(operator, into)
            name, _, *words = head.split("\t")[2:]
            results = f"R\t{operator.name}\t{len(operator.results)}"
            found[name] = (words, faults_of(rest), [results, *spelled_lines(operator)])
    return found


def plain_table(f: Function) -> tuple[list[list[str]], list[str]]:
    faults = rows.bad_words(f)
    if f.result != _FALLIBLE or "LIBDL_NEW" in f.result_words:
        return getter_words(f), [f"B\t{k}={word}" for k, word in faults] + handle_faults(f)
    words = rows.function_words(f)
    first = [choices[0] for choices in words]
    faults += [
        (k, word)
        for k, parameter in enumerate(f.parameters)
        for name, word in bad.plain_faults(f, k, first)
        # Structs that are given up: of a live handle of another kind nothing is.
        if "LIBDL_STEALS" not in parameter.words or not name.startswith("live-")
    ]
    return words, [f"B\t{k}={word}" for k, word in faults]


HELPER_WORDS = {
    "fixture_tensor": ["i:13", "ints:2,3", "i:2", "i:0", "out:tensor"],
    "fixture_loss": ["leaf:f64:2,3", "out:tensor"],
    "fixture_sparse": ["t:f64:2,3", "out:tensor"],
    "fixture_custom": ["leaf:f64:2,3", "out:tensor"],
    "fixture_emptied": ["out:tensor"],
    "fixture_read_only": ["i:13", "ints:2,3", "i:2", "out:tensor"],
    "fixture_dlpack": ["i:0", "out:dlpack"],
    "fixture_dlpack_old": ["i:0", "out:dlpack_old"],
    "fixture_dlpack_release": ["h:dlpack"],
    "fixture_dlpack_old_release": ["h:dlpack_old"],
    "fixture_end": [],
    "fixture_end_process": [],
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--headers", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    functions: list[Function] = []
    lines: list[str] = []
    operators = operator_tables(options.headers)
    for header in read_headers(options.headers):
        for f in header.functions:
            functions.append(f)
            if header.path.stem in OPERATOR_HEADERS:
                words, faults, spelled = operators[f.name]
                lines += lines_of(f, [[word] for word in words], faults, spelled)
            else:
                lines += lines_of(f, *plain_table(f), [])
    for f in helpers(attack.fixture_text()):
        functions.append(f)
        lines += lines_of(f, [[word] for word in HELPER_WORDS[f.name]], [], [])
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "fuzz_calls.c").write_text(
        source(functions, attack.callbacks(options.headers)), encoding="utf-8"
    )
    (options.out / "fuzz.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

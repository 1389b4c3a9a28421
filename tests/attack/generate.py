# SPDX-License-Identifier: Apache-2.0
"""Writes the calls and the attacks of tests/attack from the public headers.

    python3 tests/attack/generate.py --headers include/libdl --out build/tests/attack

calls.c has every function behind one signature; attacks.txt has, for each that returns an error,
the call as it is meant (H) and one bad argument a line (A), and for each that returns none the call
as it is meant (Q) and with what is no such handle (G). The meant values are those of tests/samples;
what is bad about an argument follows from its kind and from the words that the header describes it
with.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "tools"), str(HERE.parent / "samples")]

import bad  # noqa: E402
import rows  # noqa: E402
from function_parameters import number_of  # noqa: E402
from headers import Function, Parameter, read_header, read_headers  # noqa: E402
from operators import OPERATOR_HEADERS, Operator, read_operators  # noqa: E402
from rows import handle  # noqa: E402

# Not called here, each with its reason; every other function is.
NOT_CALLED = {
    "libdl_plugin_open": "what opens stays open: tests/capi/plugins.c does it",
    "libdl_provider_set_enabled": "there is no provider here: tests/capi/plugins.c does it",
    "libdl_memory_describe_live": "refuses without LIBDL_DEBUG_HANDLES: tests/capi/debug_handles.c",
    "libdl_memory_fail_after": "lets allocations fail: what tests/fault_injection does itself",
}


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


# -- what tests/fuzz/host_fixtures.h has: callbacks, structs of them, pointers ----------------------------

FIXTURES = ("../capi/dlpack_structs.h", "host_fixtures.h", "host_fixture_places.h")


def fixture_text() -> str:
    return "".join((HERE.parent / "fuzz" / name).read_text(encoding="utf-8") for name in FIXTURES)


def fixture_lists(prefix: str) -> list[str]:
    """The lists of raw.h in C, behind an #include of the fixtures."""
    text = fixture_text()

    def marked(word: str) -> list[str]:
        return re.findall(rf"^FIXTURE_{word} [^;{{(]*?(\w+)\(", text, re.MULTILINE)

    def named(kind: str, names: list[str], entry: str) -> str:
        entries = "".join(f'  {{"{name}", {entry.format(name)}}},\n' for name in names)
        return f"const {kind}[] = {{\n{entries}  {{0, 0}}}};\n"

    made = "".join(
        f"static void *make_{name}(int32_t k) {{ return {name}(fixtures + k); }}\n"
        for name in marked("MADE")
    )
    return [
        named(f"FixtureCallback {prefix}_callbacks", marked("CALLBACK"), "(void (*)(void)){0}"),
        made,
        named(f"FixtureMade {prefix}_made", marked("MADE"), "make_{0}"),
        named(f"FixturePlace {prefix}_places", marked("PLACE"), "{0}"),
        f"void *{prefix}_fixture(int32_t k) {{ return fixtures + k; }}",
        f"int32_t *{prefix}_destroyed(int32_t k) {{ return &fixtures[k].destroyed; }}\n",
    ]


# -- the calls -----------------------------------------------------------------------------------


def source(functions: list[Function], pointers_to_functions: set[str]) -> str:
    parts = ["/* Written by tests/attack/generate.py. */", '#include "calls.h"']
    parts += [f'#include "../fuzz/{name}"' for name in FIXTURES]
    entries = ""
    for f in functions:
        arguments = ", ".join(cast(p, k, pointers_to_functions) for k, p in enumerate(f.parameters))
        unused = "" if f.parameters else "  (void)a;\n"
        fallible = f.result == "libdl_error *" and "LIBDL_NEW" not in f.result_words
        result = "error" if fallible else ""
        if "LIBDL_NEW" in f.result_words:
            result = handle(f.result)
        call = f"return {f.name}({arguments});"
        if not result:
            call = f"(void){f.name}({arguments});\n  return NULL;"
        parts.append(f"static void *call_{f.name}(const Raw *a) {{\n{unused}  {call}\n}}\n")
        entries += f'  {{"{f.name}", call_{f.name}, "{result}", {int(fallible)}}},\n'
    parts.append(f"const Function attack_functions[] = {{\n{entries}}};")
    parts.append(f"const int32_t attack_function_count = {len(functions)};\n")
    parts += fixture_lists("attack")
    parts.append(
        "void *attack_foreign(int unversioned, int which) {\n"
        "  struct DLManagedTensorVersioned *managed = NULL;\n"
        "  struct DLManagedTensor *old = NULL;\n"
        "  fixture_drop(unversioned ? fixture_dlpack_old(which, &old)\n"
        "                         : fixture_dlpack(which, &managed));\n"
        "  return unversioned ? (void *)old : (void *)managed;\n}\n"
        "int32_t attack_descriptor(void) { return fixture_descriptor(); }\n"
        "void attack_restore(void) {\n  fixture_end();\n  fixture_end_process();\n}\n"
    )
    return "\n".join(parts)


# -- operators ---------------------------------------------------------------------------------


def operator_lines(operator: Operator, into: bool) -> list[str]:
    words: list[str] = []
    first: dict[str, int] = {}  # an argument's first C parameter
    for argument in operator.arguments:
        first[argument.name] = len(words)
        words += rows.operator_words(operator, argument)
    behind = len(words)
    name = f"libdl_{operator.name}" + ("_into" if into else "")
    lines: list[str] = []

    def attack(
        argument: str, number: int, fault: str, others: list[str], changes: dict[int, str]
    ) -> None:
        told = "\t".join(f"{k}={word}" for k, word in changes.items())
        lines.append(f"A\t{argument}\t{number}\t{fault}\t{','.join(others)}\t{told}")

    tensors = [a.name for a in operator.arguments if a.kind in ("tensor", "tensors", "updated")]
    for number, argument in enumerate(operator.arguments, 1):
        for fault in bad.faults(operator, argument, words[first[argument.name]]):
            others = fault.partners
            if fault.relation:
                others = [n for n in tensors if n != argument.name] + others
            shaped = argument.kind == "ints" and len(fault.words) == 2
            counted = argument.kind == "int" and fault.name == "most"
            if into and (shaped or counted or fault.name.startswith("shape-")):
                others = [*others, "dst"]  # which does not have that shape either
            changes = {first[argument.name] + k: word for k, word in fault.words}
            attack(argument.name, number, fault.name, others, changes)
    outputs = destinations(operator) if into else [result.name for result in operator.results]
    for k, output in enumerate(outputs):
        number = len(operator.arguments) + 1 + k
        if not into:
            words.append(_place("out:" + bad.RESULT_HANDLES.get(operator.results[k].kind, "plain")))
            attack(output, number, "null", [], {behind + k: "null"})
            continue
        model = f"dst:{k}" if operator.has_new else "like:" + rows.DESTINATION
        words.append(model)
        for fault in bad.destination_faults(operator):
            attack(output, number, fault, [], {behind + k: f"{model}/{fault}"})
    head = "\t".join(["H", operator.header, name, "-", *words])
    return [head, *lines]


def destinations(operator: Operator) -> list[str]:
    if len(operator.results) == 1:
        return ["dst"]
    return [f"{result.name}_dst" for result in operator.results]


# -- other functions ---------------------------------------------------------------------------

# The fuzzer's words for what follows from the operator that it chooses.
_GENERIC = {
    "op:call": "op:neg",
    "op:into": "op:neg",
    "op:?": "op:neg",
    "values": "values:t:f64:2,3",
    "count": "i:1",
    "results": "out:value",
    "result": "out:value",
    "dsts": "list:!t:f64:2,3",
}


def words_of(function: Function) -> list[str]:
    """The sample; handles that are given up, each a new one."""
    first = [words[0] for words in rows.function_words(function)]
    first = [_GENERIC.get(word, word) for word in first]
    gives_up = function.name.endswith("_release")
    for k, parameter in enumerate(function.parameters):
        if gives_up or "LIBDL_STEALS" in parameter.words and first[k].startswith("h:"):
            first[k] = "up:" + handle(parameter.type)
    return first


def _place(word: str) -> str:
    kind = word.removeprefix("out:")
    return "out:" + (handle(kind + " **") or kind)


def _before(function: Function) -> str:
    """What is called first, with its words: "libdl_interceptor_push fn:look_on ..."."""
    name = rows.before(function.name)
    if not name:
        return "-"
    header = read_header(function.path)
    first = next(f for f in header.functions if f.name == name)
    return " ".join([name, *words_of(first)])


_MANAGED = {
    "libdl_tensor_from_dlpack": "dlpack",
    "libdl_tensor_from_dlpack_unversioned": "dlpack_old",
}


def told_faults(function: Function, k: int) -> list[tuple[str, str]]:
    """What the samples tell; of foreign tensors every bad one of host_fixture_places.h."""
    words = [word for j, word in rows.bad_words(function) if j == k]
    managed = _MANAGED.get(function.name)
    if f"h:bad_{managed}" in words:
        return [(f"foreign{n}", f"foreign:{managed},{n}") for n in range(1, 16)]
    return [(f"told-{word}", _GENERIC.get(word, word)) for word in words]


def plain_lines(header: str, function: Function) -> list[str]:
    words = words_of(function)
    before = _before(function)
    lines = ["\t".join(["H", header, function.name, before, *words])]
    for k, parameter in enumerate(function.parameters):
        told = told_faults(function, k)
        for fault, word in bad.plain_faults(function, k, words) + told:
            name, *others = bad.blamed(function, k)
            number = number_of(function, k)
            lines.append(f"A\t{name}\t{number}\t{fault}\t{','.join(others)}\t{k}={word}")
    return lines


# -- functions without an error ------------------------------------------------------------------


def getter_lines(header: str, function: Function) -> list[str]:
    """What asks a handle answers NULL and handles of other kinds; what gives one up takes NULL."""
    meant_line = "\t".join(["Q", header, function.name, "-", *words_of(function)])
    if not function.parameters or not bad.is_handle(function.parameters[0]):
        return [meant_line]
    name = function.parameters[0].name
    words = ["null"] + [bad.other_word(parameter) for parameter in function.parameters[1:]]
    lines = [meant_line, "\t".join(["G", header, function.name, name, "null", *words])]
    handle_type = function.parameters[0].type
    # What returns nothing, or the handle again, tells on the log channel that it did nothing.
    told = (
        "told-"
        if function.result == "void"
        or "LIBDL_NEW" in function.result_words
        and (function.name.endswith("_retain"))
        else ""
    )
    for fault, word in bad.live(bad.kind_of(function.parameters[0])):
        lines.append("\t".join(["G", header, function.name, name, told + fault, word, *words[1:]]))
    if handle_type == "const libdl_tensor *":
        words[0] = "emptied"
        lines.append("\t".join(["G", header, function.name, name, "emptied", *words]))
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--headers", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    functions: list[Function] = []
    lines: list[str] = []
    operators = read_operators(options.headers)
    headers = read_headers(options.headers)
    rows.check(operators, (f for header in headers for f in header.functions))
    for operator in operators:
        lines += operator_lines(operator, False) if operator.has_new else []
        lines += operator_lines(operator, True) if operator.has_into else []
    for header in headers:
        for function in header.functions:
            if function.name in NOT_CALLED:
                continue
            functions.append(function)
            if function.result != "libdl_error *" or "LIBDL_NEW" in function.result_words:
                lines += getter_lines(header.path.stem, function)
            elif header.path.stem not in OPERATOR_HEADERS:
                lines += plain_lines(header.path.stem, function)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "attack_calls.c").write_text(source(functions, callbacks(options.headers)))
    (options.out / "attacks.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Writes the program that knows what every operator means: meaning.c.

    python3 tests/museum/meaning/generate.py --headers include/libdl --out build/tests/museum

Each operator is called, in both forms, as it is meant, once with each argument that may be left out
left out, and once with all of them: what a NULL, a zero count or LIBDL_DTYPE_NONE stands for is as
much a promise as a signature. The answers stand in answers.txt, and in the program; a line of
answers.txt holds for the calls behind it, too, up to the next line or operator.

    build/tests/museum/meaning                compares; 0 if every answer is the stored one
    build/tests/museum/meaning --print        writes the present answers (answers.txt)
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests/samples")]

import rows  # noqa: E402
from operators import Argument, Operator, read_operators  # noqa: E402

ANSWERS = HERE / "answers.txt"
MARK = "  # -> "

# What nobody promises: the values in memory that nobody wrote.
_SHAPE_ALONE = ("empty", "empty_like", "empty_strided")

# The words of an argument that is left out; those of the others are in tests/samples.
_ABSENT = {
    "tensor": ["null"], "updated": ["null"], "int": ["null"], "float": ["null"],
    "generator": ["null"], "device": ["null"], "dtype": ["i:0"], "ints": ["null", "i:0"],
    "string": ["null", "i:-1"],
}


def may_be_absent(argument: Argument) -> bool:
    return argument.kind == "dtype" or argument.kind == "device" or argument.kind == "generator" or (
        argument.nullable and argument.kind in _ABSENT)


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def c_value(word: str) -> str:
    """A word of tests/samples in C."""
    kind, _, rest = word.partition(":")
    if word == "null":
        return "NULL"
    if word == "h:generator":
        return "generator()"
    if kind in ("t", "sparse", "n", "ni", "nc"):
        return f"value({quoted(word)})"
    if kind == "list":
        entries = ", ".join("NULL" if e == "null" else c_value(e) for e in rest.split("|"))
        return f"(const libdl_tensor *const[]){{{entries}}}"
    if kind == "ints":
        return f"(const int64_t[]){{{rest}}}"
    if kind == "ip":
        return f"(const int64_t[]){{{rest}}}"
    if kind == "fp":
        return f"(const double[]){{{rest}}}"
    if kind == "dev":
        return f"&(const libdl_device){{{rest}}}"
    if kind == "s":
        return quoted(rest)
    if kind in ("i", "f"):
        return rest
    raise SystemExit(f"meaning: no C for {word!r}")


def c_values(words: list[str]) -> list[str]:
    values = []
    for word in words:  # C may evaluate them in any order, so those that are written have numbers
        written = sum(value.startswith("updated(") for value in values)
        values.append(f"updated({written}, {quoted(word[1:])})" if word[0] == "!" else c_value(word))
    return values


def variants(operator: Operator) -> list[tuple[str, list[str]]]:
    """Names and C arguments of the calls."""
    as_meant = {a.name: rows.operator_words(operator, a) for a in operator.arguments}
    absent = [a for a in operator.arguments if may_be_absent(a)]
    chosen: list[tuple[str, list[Argument]]] = [("as meant", [])]
    chosen += [(f"without {a.name}", [a]) for a in absent]
    if len(absent) > 1:
        chosen.append(("without any of them", absent))
    found = []
    for name, left_out in chosen:
        words: list[str] = []
        for argument in operator.arguments:
            words += _ABSENT[argument.kind] if argument in left_out else as_meant[argument.name]
        found.append((name, c_values(words)))
    return found


_PLACES = {
    "tensor": ("libdl_tensor *", "NULL", "tell_tensor(r{0});"),
    "tensor_list": ("libdl_tensor_list *", "NULL", "tell_list(r{0});"),
    "bool": ("libdl_bool ", "0", 'tell("%d", (int)r{0});'),
    "int": ("int64_t ", "0", 'tell("%lld", (long long)r{0});'),
    "uint": ("uint64_t ", "0", 'tell("%llu", (unsigned long long)r{0});'),
    "float": ("double ", "0", 'tell_number(r{0});'),
}


def new_case(operator: Operator, arguments: list[str]) -> str:
    places = [_PLACES[r.kind] for r in operator.results]
    declared = "".join(f" {p[0]}r{k} = {p[1]};" for k, p in enumerate(places))
    call = ", ".join([*arguments, *(f"&r{k}" for k in range(len(places)))])
    told = " ".join(p[2].format(k) for k, p in enumerate(places))
    if operator.name in _SHAPE_ALONE:
        told = "tell_shape(r0); libdl_tensor_release(r0);"
    told += " tell_updated();" * any(a.kind == "updated" for a in operator.arguments)
    return f"{{{declared} if (done(libdl_{operator.name}({call}))) {{ {told} }} }}"


def into_case(operator: Operator, arguments: list[str]) -> str:
    count = len(operator.results)
    lines = "".join(f" libdl_tensor *m{k} = NULL;" for k in range(count))
    if operator.has_new:
        call = ", ".join([*arguments, *(f"&m{k}" for k in range(count))])
        lines += f" if (done(libdl_{operator.name}({call}))) {{ again();"
    else:
        lines += f" m0 = libdl_tensor_retain(value({quoted(rows.DESTINATION)})); {{"
    lines += "".join(f" libdl_tensor *const d{k} = like(m{k});" for k in range(count))
    call = ", ".join([*arguments, *(f"d{k}" for k in range(count))])
    told = " ".join(f"{'tell_shape' if operator.name in _SHAPE_ALONE else 'tell_kept'}(d{k});"
                    for k in range(count))
    lines += f" if (done(libdl_{operator.name}_into({call}))) {{ {told} }} }}"
    lines += "".join(f" libdl_tensor_release(m{k});" for k in range(count))
    return "{" + lines + " }"


def read_answers() -> dict[str, str]:
    """By titles, in the order of the file."""
    lines = ANSWERS.read_text(encoding="utf-8").splitlines() if ANSWERS.exists() else []
    return dict(line.split(MARK, 1) for line in lines)


def source(operators: list[Operator]) -> str:
    parts = ["/* Written by tests/museum/meaning/generate.py. */", "static void calls(void) {"]
    stored = read_answers()
    wanted: list[str] = []
    for operator in operators:
        answer = None
        for name, arguments in variants(operator):
            for form, case in (("", new_case), ("_into", into_case)):
                if not (operator.has_into if form else operator.has_new):
                    continue
                title = f"libdl_{operator.name}{form} {name}"
                parts.append(f"  begin({quoted(title)}, {int(answer is None)});")
                answer = stored.pop(title, answer or "")
                wanted.append(title + MARK + answer)
                parts.append(f"  {case(operator, arguments)}")
                parts.append("  end();")
    parts.append("}\n")
    wanted += [title + MARK + answer for title, answer in stored.items()]  # which nothing asks for
    parts.append("static const char *const answers[] = {")
    parts += [f"  {quoted(line)}," for line in wanted]
    parts.append("  NULL};\n")
    return (HERE / "meaning.c.in").read_text(encoding="utf-8").replace(
        "@calls@", "\n".join(parts))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--headers", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    text = source(list(read_operators(options.headers)))
    (options.out / "meaning.c").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

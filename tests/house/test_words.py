# SPDX-License-Identifier: Apache-2.0
"""Identifiers speak the field's language: words that only this house knew are refused."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("libdl", "kernels", "wrappers", "tools")
C_SUFFIXES = (".c", ".cc", ".cu", ".h")

# A word that is part of an identifier of C, C++ or CUDA; the field's; identifiers in which the old
# word is right.
PARTS = {
    "room": ("workspace, scratch, capacity", ""),
    "rooms": ("workspaces", ""),
    "lies": ("layout, strides", ""),
    "lie": ("layout, strides", ""),
    "place": ("position, slot, destination", r"in_?place|^place$"),  # alone only as a verb: VERBS
    "places": ("positions, slots", ""),
    "slope": ("derivative", r"^slope$"),  # leaky relu's: SLOPES
    "slopes": ("derivatives", r"^slopes$"),
    "complaint": ("device error", ""),
    "complaints": ("device errors", ""),
    "complain": ("report an error", ""),
    "turnstile": ("arrival counter", ""),
    "turnstiles": ("arrival counters", ""),
    "grave": ("tombstone", ""),
    "graves": ("tombstones", ""),
    "bury": ("leave a tombstone", ""),
    "carver": ("bump allocator", ""),
    "lent": ("borrowed", ""),
    "standing": ("thread position", ""),
    "refund": ("rollback", r"^refund$|^refund_$"),
    "watch": ("interceptor, hook", r"^watch$"),
    "told": ("shown, reported, expected", ""),
}
# Whole identifiers, in C and as variables of Python.
NAMES = {
    "given": "arguments, options, inputs, values",
    "made": "result, instance, created",
    "told": "text, message, description",
    "asked": "requested",
}
# Variables that are right only as texts: an error tells what was found and what was wanted.
TEXTS = {"found": "result, match, value", "wanted": "expected, requested, needed"}
# Types that have one meaning, and the files that define it.
TYPES = {
    "Rule": ("of a node of the graph", ("libdl/tape/node.h",)),
    "Watch": ("none: InterceptorEntry, MultiGradHook", ()),
    "Form": ("of a storage", ()),
    "Plain": ("none: plain bytes are those that the strides describe", ()),
    "Place": ("none: a position, a slot or a destination", ()),
    "Room": ("none: a workspace", ()),
}
SLOPES = ("unit.cc", "expressions.h")  # negative_slope, as PyTorch calls it

TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|[A-Za-z_]\w*|->|::|\d[\w.']*|\S",
    re.DOTALL,
)
PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# What a declared text may be called `found` or `wanted`: a string, or a Python object that an error
# shows.
TEXT_TYPE = re.compile(r"\b(string|string_view|char|Ref|PyObject|Dims|Dtype|int64_t|__int128)\b")


def tokens(text: str) -> list[tuple[str, int]]:
    """Those of the code, with the number of their line."""
    found = []
    line, last = 1, 0
    for match in TOKEN.finditer(text):
        line += text.count("\n", last, match.start())
        last = match.start()
        if match[0][:2] not in ("//", "/*") and match[0][0] not in "\"'":
            found.append((match[0], line))
    return found


def wrong_in_c(path: str, text: str) -> Iterator[str]:
    words = tokens(text)
    for i, (word, line) in enumerate(words):
        if not word[0].isalpha() and word[0] != "_":
            continue
        before = words[i - 1][0] if i else ""
        after = words[i + 1][0] if i + 1 < len(words) else ""
        for part in {p.lower() for p in PART.findall(word)} & PARTS.keys():
            better, right = PARTS[part]
            if right and re.search(right, word, re.IGNORECASE):
                if word == "place" and after != "(":
                    yield f"{path}:{line}: {word}: {better}"
                if part in ("slope", "slopes") and word == part and not path.endswith(SLOPES):
                    yield f"{path}:{line}: {word}: {better}"
                continue
            yield f"{path}:{line}: {word}: {better}"
        if word in NAMES:
            yield f"{path}:{line}: {word}: {NAMES[word]}"
        if word in TYPES and before in ("struct", "class", "enum", "using") and after != ";":
            meaning, files = TYPES[word]
            if path not in files:
                yield f"{path}:{line}: a type called {word}, whose one meaning is {meaning}"
        if word in TEXTS and after in ("=", ";", ",", ")", "{", "(", "["):
            declared = re.match(r"[A-Za-z_>]", before) and before not in ("return", "else", "case")
            kind = " ".join(w for w, _ in words[max(0, i - 6) : i])
            if declared and not TEXT_TYPE.search(kind):
                yield f"{path}:{line}: {before} {word}: {TEXTS[word]}"


def wrong_in_python(path: str, text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef):
            continue
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                better = NAMES.get(inner.id) or {"found": TEXTS["found"]}.get(inner.id)
                if better:
                    yield f"{path}:{inner.lineno}: {inner.id}: {better}"


def files() -> list[str]:
    return [
        path.relative_to(ROOT).as_posix()
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and "target" not in path.parts
    ]


def wrong() -> list[str]:
    found = []
    for path in files():
        if path.endswith(C_SUFFIXES):
            found += wrong_in_c(path, (ROOT / path).read_text())
        elif path.endswith(".py"):
            found += wrong_in_python(path, (ROOT / path).read_text())
    return found


def test_identifiers_are_the_fields_words():
    found = wrong()
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "planted",
    [
        "struct Room { int x; };",
        "int64_t place = 0;",
        "const Tensor made = f(x);",
        "float winograd_room();",
        "enum class Lies { kRows };",
        "const int found = g();",
        "auto kTurnstile = 1;",
        "struct Rule { int x; };",
    ],
)
def test_a_planted_word_is_seen(planted):
    assert list(wrong_in_c("libdl/ops/planted.cc", planted))


@pytest.mark.parametrize(
    "right",
    [
        "bool in_place_ = false;",
        "void place(int k) {}",
        "// a room, made of places\nint x;",
        'fail("found", "wanted");',
        "const std::string found = g();",
    ],
)
def test_a_right_word_passes(right):
    assert not list(wrong_in_c("libdl/ops/planted.cc", right))


def test_a_planted_variable_of_python_is_seen():
    assert list(wrong_in_python("tools/planted.py", "def f(x):\n    made = x\n    return made\n"))

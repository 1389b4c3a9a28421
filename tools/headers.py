# SPDX-License-Identifier: Apache-2.0
"""Reads the declarations and comments of include/libdl.

This is no C parser: it reads the form that the headers keep to, and names the line of whatever
strays from it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

OWNERSHIP = ("LIBDL_NEW", "LIBDL_BORROWED", "LIBDL_STEALS", "LIBDL_NULLABLE", "LIBDL_NUMBER")


class HeaderError(Exception):
    """A place in a header that does not keep to the form."""

    def __init__(self, path: Path, line: int, message: str):
        super().__init__(f"{path.name}:{line}: {message}")


@dataclass(frozen=True)
class Parameter:
    """One parameter in C: 'LIBDL_NULLABLE const libdl_tensor *alpha'."""

    name: str
    type: str  # without ownership words before it: 'const libdl_tensor *'
    words: frozenset[str]  # ownership words before the type

    @property
    def nullable(self) -> bool:
        return "LIBDL_NULLABLE" in self.words


@dataclass(frozen=True)
class Function:
    """One exported function and the comment above it."""

    name: str
    result: str
    result_words: frozenset[str]
    parameters: tuple[Parameter, ...]
    comment: tuple[str, ...]  # lines without their frame
    path: Path
    line: int

    def error(self, message: str) -> HeaderError:
        return HeaderError(self.path, self.line, f"{self.name}: {message}")


@dataclass
class Header:
    path: Path
    comment: tuple[str, ...] = ()
    functions: list[Function] = field(default_factory=list)
    # What is said of types ("libdl_device"), their members ("libdl_device.type") and constants.
    said: dict[str, tuple[str, ...]] = field(default_factory=dict)


_TOKEN = re.compile(
    r"(?P<doc>/\*\*(?!<).*?\*/)|(?P<comment>/\*.*?\*/)|(?P<directive>^[ \t]*#(?:\\\n|[^\n])*)"
    r"|(?P<api>\bLIBDL_API\b[^;{}]*;)",
    re.DOTALL | re.MULTILINE,
)


def read_header(path: Path) -> Header:
    text = path.read_text(encoding="utf-8")
    header = Header(path)
    comment: tuple[str, ...] = ()
    comment_end = -1
    guard_seen = False
    for token in _TOKEN.finditer(text):
        line = text.count("\n", 0, token.start()) + 1
        if token["doc"]:
            comment = comment_lines(token["doc"])
            comment_end = token.end()
        elif token["directive"]:
            if not guard_seen:
                header.comment, guard_seen = comment, True
            comment = ()
        elif token["api"]:
            # A comment belongs to what follows it directly: nothing but blanks between.
            above = comment if not text[comment_end : token.start()].strip() else ()
            if "\n\n" in text[comment_end : token.start()]:
                above = ()
            header.functions.append(_function(token["api"], above, path, line))
            comment_end = token.end()
    header.said = _said(text)
    return header


_ABOVE_TYPE = re.compile(
    r"(?P<doc>/\*\*(?!<)(?:(?!\*/).)*\*/)\n(?P<typedef>typedef [^;{]*)", re.DOTALL
)
_BODY = re.compile(r"^typedef struct (?P<name>\w+) \{\n(?P<body>.*?)^\}", re.DOTALL | re.MULTILINE)
_BESIDE_MEMBER = re.compile(
    r"(?P<name>\w+)(?:\[\w+\])?;\s*/\*\*<(?P<text>(?:(?!\*/).)*)\*/", re.DOTALL
)
_BESIDE_CONSTANT = re.compile(
    r"\b(?P<name>LIBDL_\w+) = [^,/}]+,?\s*/\*\*<(?P<text>(?:(?!\*/).)*)\*/", re.DOTALL
)


def _said(text: str) -> dict[str, tuple[str, ...]]:
    """Comments above typedefs, and those beside members and constants, each as one line."""
    said: dict[str, tuple[str, ...]] = {}
    for match in _ABOVE_TYPE.finditer(text):
        name = re.search(r"\(\*(\w+)\)\(|(\w+)\s*$", match["typedef"])
        if name:
            said[name[1] or name[2]] = comment_lines(match["doc"])
    for body in _BODY.finditer(text):
        for member in _BESIDE_MEMBER.finditer(body["body"]):
            said[f"{body['name']}.{member['name']}"] = (" ".join(member["text"].split()),)
    for constant in _BESIDE_CONSTANT.finditer(text):
        said[constant["name"]] = (" ".join(constant["text"].split()),)
    return said


def comment_lines(raw: str) -> tuple[str, ...]:
    """The comment's lines without '/**', ' * ' and '*/'."""
    body = raw.removeprefix("/**").removesuffix("*/")
    lines = [re.sub(r"^[ \t]*\*[ ]{0,2}", "", line).rstrip() for line in body.split("\n")]
    lines[0] = lines[0].strip()
    while lines and not lines[-1]:
        lines.pop()
    return tuple(lines)


def _function(text: str, comment: tuple[str, ...], path: Path, line: int) -> Function:
    flat = " ".join(text.split())
    match = re.fullmatch(r"LIBDL_API (?P<result>.*?[ *])(?P<name>libdl_\w+)\((?P<list>.*)\);", flat)
    if not match:
        raise HeaderError(path, line, f"cannot read the declaration '{flat[:60]}'")
    words, result = _take_words(match["result"].strip(), OWNERSHIP + ("LIBDL_NODISCARD",))
    parameters = tuple(
        _parameter(part, path, line) for part in _split(match["list"]) if part != "void"
    )
    names = [parameter.name for parameter in parameters]
    if len(set(names)) != len(names):
        raise HeaderError(path, line, f"{match['name']}: two parameters of one name")
    return Function(match["name"], result, words, parameters, comment, path, line)


def _take_words(text: str, known: tuple[str, ...]) -> tuple[frozenset[str], str]:
    words: set[str] = set()
    while True:
        head, _, rest = text.partition(" ")
        if head not in known:
            return frozenset(words), text
        words.add(head)
        text = rest


def _split(parameters: str) -> list[str]:
    """Splits at commas outside parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(parameters):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(parameters[start:i].strip())
            start = i + 1
    return [*parts, parameters[start:].strip()]


def _parameter(text: str, path: Path, line: int) -> Parameter:
    words, rest = _take_words(text, OWNERSHIP)
    pointer_to_function = re.fullmatch(r"(.*)\(\*(\w+)\)\((.*)\)", rest)
    if pointer_to_function:
        result, name, arguments = pointer_to_function.groups()
        return Parameter(name, f"{result.strip()} (*)({arguments})", words)
    match = re.fullmatch(r"(?P<type>.*[ *])(?P<name>\w+)", rest)
    if not match:
        raise HeaderError(path, line, f"cannot read the parameter '{text}'")
    return Parameter(match["name"], match["type"].strip(), words)


def read_headers(folder: Path) -> list[Header]:
    """All headers of a folder, in the order of their names."""
    return [read_header(path) for path in sorted(folder.glob("*.h"))]

# SPDX-License-Identifier: Apache-2.0
"""Writes the reference: a page a header, the comments as they stand above each declaration.

python3 tools/reference.py --headers include/libdl --out docs/reference
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from headers import Function, Header, read_headers
from operators import OPERATOR_HEADERS

_ENTRY = re.compile(r"(\w+(?:, \w+)*) {2,}(\S.*)")
_SECTION = re.compile(r"(\w[\w ]*): (.*)")


def declaration(function: Function) -> str:
    """The function as C, one parameter a line where it is long."""
    parameters = [
        " ".join([*sorted(p.words), _spelled(p.type, p.name)]) for p in function.parameters
    ] or ["void"]
    head = f"{_spelled(function.result, function.name)}("
    one_line = head + ", ".join(parameters) + ");"
    if len(one_line) <= 96:
        return one_line
    return head + "\n    " + ",\n    ".join(parameters) + ");"


def _spelled(c_type: str, name: str) -> str:
    if "(*)" in c_type:
        return c_type.replace("(*)", f"(*{name})")
    return f"{c_type}{name}" if c_type.endswith("*") else f"{c_type} {name}"


def paragraphs(comment: tuple[str, ...]) -> list[str]:
    """The comment as Markdown: parameters as a list, sections in bold."""
    lines: list[str] = []
    for line in comment:
        entry, section = _ENTRY.fullmatch(line), _SECTION.fullmatch(line)
        if entry and not lines[-1:] == ["```"]:
            names = ", ".join(f"`{name}`" for name in entry[1].split(", "))
            lines.append(f"- {names}: {_escaped(entry[2])}")
        elif section and section[1] in ("Gradient", "Errors", "Threads", "Python"):
            text = f"`{section[2]}`" if section[1] == "Python" else _escaped(section[2])
            lines += ["", f"**{section[1]}:** {text}"]
        else:
            lines.append(_escaped(line.strip()))
    return lines


def _escaped(text: str) -> str:
    return re.sub(r"(?<![\w`])([*_|<>])|([*|<>])", lambda m: "\\" + m[0], text)


def _belongs(following: Function, function: Function) -> bool:
    """One comment serves several declarations, and an operator's forms stand together."""
    return not following.comment or following.name == f"{function.name}_into"


def page(header: Header) -> str:
    lines = [f"# `libdl/{header.path.name}`", "", *paragraphs(header.comment), ""]
    waiting: list[Function] = []
    for position, function in enumerate(header.functions):
        waiting.append(function)
        following = header.functions[position + 1 : position + 2]
        if following and _belongs(following[0], function):
            continue
        lines += [f"## {waiting[0].name}", "", "```c"]
        lines += [declaration(f) for f in waiting]
        lines += ["```", "", *paragraphs(waiting[0].comment), ""]
        waiting = []
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def index(headers: list[Header]) -> str:
    def entry(header: Header) -> str:
        summary = " ".join(header.comment).partition(". ")[0].removesuffix(".") + "."
        return f"- [{header.path.name}]({header.path.stem}.md): {_escaped(summary)}"

    operators = [h for h in headers if h.path.stem in OPERATOR_HEADERS]
    rest = [h for h in headers if h not in operators and h.functions]
    return "\n".join(
        ["# Reference", "", "Written from the headers by `tools/reference.py`.", ""]
        + ["## Library", ""]
        + [entry(h) for h in rest]
        + ["", "## Operators", "", "What all of them have in common stands in [op.h](op.md).", ""]
        + [entry(h) for h in operators]
        + [""]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--headers", type=Path, required=True, help="folder of the public headers")
    parser.add_argument("--out", type=Path, required=True, help="folder of the pages")
    options = parser.parse_args()
    headers = read_headers(options.headers)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "README.md").write_text(index(headers), encoding="utf-8")
    for header in headers:
        if header.functions:
            (options.out / f"{header.path.stem}.md").write_text(page(header), encoding="utf-8")


if __name__ == "__main__":
    main()

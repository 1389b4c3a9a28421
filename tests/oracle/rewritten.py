# SPDX-License-Identifier: Apache-2.0
"""Programs changed for PyTorch alone, which several predicates use."""

from __future__ import annotations

import re

from known import Context, lines_with
from traces import names_in, written_by


def unshared(c: Context, lines: list[str] | None = None) -> list[str]:
    """Operands over the memory that is written are copied first."""
    def change(n: int, line: str) -> str | None:
        written = written_by(line)
        if not written or n > c.until:
            return None
        out = re.match(r"(.*T\.\w+\()(.*)(, out=.*)", line)
        if out:
            rest = out[2]
            for name in names_in(rest) - {written}:
                if c.trace.share(name, written, n):
                    rest = re.sub(rf"\b{name}\b", f"{name}.clone()", rest)
            return out[1] + rest + out[3]
        mark = re.search(r"_\(| [-+*/]= |\] = ", line)
        if not mark:
            return None
        begin, rest = line[: mark.end()], line[mark.end():]
        for name in names_in(rest):
            if name == written or c.trace.share(name, written, n):
                rest = re.sub(rf"\b{name}\b", f"{name}.clone()", rest)
        return begin + rest
    return lines_with(lines or c.lines, change)


def kept(line: str) -> str:
    """A pass after which another one may follow."""
    if re.search("retain_graph|create_graph", line):
        return line
    line = re.sub(r"\.backward\((?=\))", ".backward(retain_graph=True", line)
    line = re.sub(r"(\.backward\((?:\[|T\.ones|inputs).*)\)$", r"\1, retain_graph=True)", line)
    return line.replace("allow_unused=True", "allow_unused=True, retain_graph=True")

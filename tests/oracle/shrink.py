# SPDX-License-Identifier: Apache-2.0
"""Cuts a case that differs down to the lines and shapes that matter."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

from compare import Difference, coarsest, differences


def difference(lines: list[str], forward: bool, theirs: Any, ours: Any) -> Difference | None:
    found = differences(theirs.run(lines, forward), ours.run(lines, forward), coarsest(lines))
    return found[0] if found else None


def shrunk(
    lines: list[str], forward: bool, theirs: Any, ours: Any, seconds: float = 8.0
) -> list[str]:
    """The shortest that differs in the same aspect and is found in time."""
    end = time.monotonic() + seconds
    first = difference(lines, forward, theirs, ours)
    if first is None:
        return lines
    kind = _kind(first)

    def differs(some: list[str]) -> bool:
        if time.monotonic() > end:
            return False
        try:
            d = difference(some, forward, theirs, ours)
        except Exception:  # a run whose end cannot be looked at
            return False
        return d is not None and _kind(d) == kind

    if first.aspect in ("outcome", "error"):
        lines = lines[: int(first.where) + 1]
    lines = _fewer(lines, differs)
    for _ in range(3):
        before = list(lines)
        lines = _simpler(lines, differs)
        lines = _fewer(lines, differs)
        if lines == before:
            break
    return lines


def _kind(d: Difference) -> tuple[Any, ...]:
    if d.aspect in ("outcome", "error"):
        return (d.aspect, str(d.wanted).split(":")[0], str(d.found).split(":")[0])
    return (d.aspect,)


def _fewer(lines: list[str], differs: Callable[[list[str]], bool]) -> list[str]:
    piece = max(1, len(lines) // 2)
    while piece:
        at = len(lines)
        while at > 0:
            less = lines[: max(0, at - piece)] + lines[at:]
            if less and differs(less):
                lines = less
            at -= piece
        piece = 0 if piece == 1 else (piece + 1) // 2
    return lines


def _simpler(lines: list[str], differs: Callable[[list[str]], bool]) -> list[str]:
    for n in reversed(range(len(lines))):
        smaller = True
        while smaller:
            smaller = False
            for text in _ways(lines[n]):
                less = [*lines[:n], text, *lines[n + 1 :]]
                if differs(less):
                    lines, smaller = less, True
                    break
    return lines


_MADE = re.compile(r"make\('(\w+)', (\([^)]*\)), '(\w+)', '(\w+)', (\d+)")


def _ways(line: str) -> Iterator[str]:
    """Simpler forms of a line, the simplest first."""
    found = _MADE.search(line)
    if found:
        dtype, shape, layout, kind, seed = found.groups()

        def changed(shape: str = shape, layout: str = layout, kind: str = kind) -> str:
            return line.replace(found[0], f"make({dtype!r}, {shape}, {layout!r}, {kind!r}, {seed}")

        for shape2 in ("()", "(1,)", "(2,)", "(2, 2)"):
            if len(shape2) < len(shape):
                yield changed(shape=shape2)
        if layout != "plain":
            yield changed(layout="plain")
        for kind2 in ("ones", "positive", "plain"):
            if kind == kind2:
                break
            yield changed(kind=kind2)
    for old, new in (
        (r"float32|float16|bfloat16", "float64"),
        (r"total\((\w+)[^()]*\)", r"\1.sum()"),
        (r", retain_graph=True", ""),
        (r"\w+\.data\.", ""),
        (r"^\w+ = (\w+\.\w+_\()", r"\1"),
        (r"\(\w+\.\w+ \* [\w.]+\)", "(2)"),
        (r"(retain|create)_graph=True", ""),
        (r"_\(\w+\)$", "_(2)"),
        (r"\.(sin|cos|tanh|sigmoid|sqrt)\(\)", ".exp()"),
        (r"with T\.\w+\(\): ", ""),
    ):
        text = re.sub(old, new, line)
        if text != line:
            yield text
    for listed in re.findall(r"total\(([^()]*)\)", line):
        names = listed.split(", ")
        if len(names) > 1:
            for n in range(len(names)):
                yield line.replace(listed, ", ".join(names[:n] + names[n + 1 :]), 1)
    for size in re.findall(r"T\.(?:ones|zeros)\((\([^)]*\))", line):
        for smaller in ("()", "(2,)"):
            if len(smaller) < len(size):
                yield line.replace(size, smaller, 1)
    for listed in re.findall(r"T\.tensor\((\[[^\]]+\])", line):
        yield line.replace(listed, "[1.0, 2.0]", 1)

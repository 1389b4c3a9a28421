# SPDX-License-Identifier: Apache-2.0
"""Which differences docs/coming-from-pytorch.md tells of: a line there ends in
<!-- oracle: NAME -->, and NAME is a predicate here. A difference that no line covers is a failure,
and so is a line that covers nothing in a whole run."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from case import Run, Seen
from compare import Difference

PAGE = Path(__file__).parents[2] / "docs" / "coming-from-pytorch.md"


@dataclass
class Context:
    """What a predicate looks at."""

    name: str  # the function's; "" for programs
    lines: list[str]
    difference: Difference
    wanted: Run
    found: Run

    @property
    def line(self) -> str:
        d = self.difference
        return self.lines[int(d.where)] if d.aspect in ("outcome", "error") else self.lines[-1]

    @property
    def call(self) -> str:
        """The line that makes the result."""
        for line in self.lines:
            if line.startswith(("r = ", "r, grew = ", "f = ")):
                return line
        return ""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def raises(self) -> bool:
        """PyTorch raises, and libdl does not."""
        return self.difference.aspect == "outcome" and self.difference.found == "no error"

    def refuses(self) -> bool:
        """The other way."""
        return self.difference.aspect == "outcome" and self.difference.wanted == "no error"

    def wanted_text(self) -> str:
        return str(self.difference.wanted)

    def inputs(self) -> list[Seen]:
        return [v for k, v in self.wanted.values.items() if isinstance(v, Seen) and len(k) == 1
                and k != "r"]

    def base(self) -> str:
        return self.name.split(".")[-1].rstrip("_")


Predicate = Callable[[Context], bool]
PREDICATES: dict[str, Predicate] = {}


def predicate(made: Predicate) -> Predicate:
    PREDICATES[made.__name__] = made
    return made


@predicate
def more_dtypes(c: Context) -> bool:
    """PyTorch's kernels lack a dtype that libdl's have."""
    words = ("not implemented for", "not supported for", "does not support", "expected scalar type",
             "not currently supported", "not yet supported", "could not be promoted",
             "Promotion for uint", "unsupported dtype", "only supports", "only be",
             "only floating", "must be floating")  # fmt: skip
    return c.raises() and any(w in c.wanted_text() for w in words)


@predicate
def numbers_for_tensors(c: Context) -> bool:
    return c.raises() and bool(re.search(r"must be Tensor, not|received an invalid combination",
                                         c.wanted_text()))


@predicate
def negative_indices(c: Context) -> bool:
    return c.raises() and "out of" in c.wanted_text() and "-" in c.wanted_text()


@predicate
def kthvalue_ties(c: Context) -> bool:
    if c.base() not in ("topk", "kthvalue") or c.difference.aspect not in ("value", "grad"):
        return False
    values = c.inputs()[:1]
    return bool(values) and values[0].numbers.size > len(np.unique(values[0].numbers))


@predicate
def overlapping_tangent(c: Context) -> bool:
    """PyTorch cannot give a tensor whose elements lie over each other a tangent."""
    return c.raises() and "more than one element of the written-to" in c.wanted_text() and (
        "tangents" in c.line or "gradients" in c.line or "second" in c.line)


def declared() -> dict[str, int]:
    """The names on the page, and their lines."""
    found = {}
    for n, line in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), 1):
        for names in re.findall(r"<!-- oracle: ([\w, ]+) -->", line):
            for name in re.split(r"[, ]+", names):
                found[name] = n
    return found


def covering(context: Context, known: Any) -> str | None:
    """The name of the line that covers it."""
    for name in known:
        if PREDICATES[name](context):
            return name
    return None

# SPDX-License-Identifier: Apache-2.0
"""What a predicate of known differences looks at, and the list of them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from case import Run, Seen, Stage
from compare import Difference, apart, coarsest, differences
from traces import Trace, bound_by, names_in, written_by


@dataclass
class Context:
    """What a predicate looks at."""

    name: str  # the function's; "" for programs
    lines: list[str]
    difference: Difference
    wanted: Run
    found: Run
    forward: bool
    theirs: Stage
    ours: Stage

    @property
    def until(self) -> int:
        """The line where the difference is."""
        d = self.difference
        return int(d.where) if d.aspect in ("outcome", "error") else len(self.lines) - 1

    @functools.cached_property
    def trace(self) -> Trace:
        """What PyTorch has after each line."""
        return Trace(self.lines, self.theirs, self.forward)

    @property
    def subjects(self) -> set[str]:
        """The variables that the difference is about."""
        d = self.difference
        if d.aspect in ("outcome", "error"):
            return names_in(self.lines[int(d.where)])
        if d.where.startswith("seen"):  # by hooks
            return set(re.findall(r"(\w+)\.(?:grad_fn\.)?register_\w+\(.*seen", self.text))
        return {re.split(r"\W", d.where)[0]}

    def concerns(self, words: str) -> bool:
        """Of a program: the difference is about what lines with these words are made of, or make."""
        used = {name for line in self.lines if re.search(words, line) for name in names_in(line)}
        subjects = self.trace.objects(self.subjects, self.until) | self.subjects
        return not self.name and bool(subjects & self.trace.concerned(used, self.until))

    def gone(self, lines: list[str], ours: list[str] | None = None) -> bool:
        """Whether PyTorch, given these lines, does what libdl does with its own: the difference is
        what the change of the lines makes, and nothing else. A call that fails in both may be changed
        into one that does not, and is left out then."""
        if self._gone(lines, self.found if ours is None else self.ours.run(ours, self.forward)):
            return True
        last = self.until + (self.difference.aspect not in ("outcome", "error"))
        fails = [n for n in range(last) if self.wanted.outcomes[n] and self.found.outcomes[n]]
        if not fails or len(lines) != len(self.lines):
            return False
        rest, own = (
            [("pass" if n in fails else line) for n, line in enumerate(some)]
            for some in (lines, self.lines if ours is None else ours)
        )
        return self._gone(rest, self.ours.run(own, self.forward))

    def _gone(self, lines: list[str], found: Run) -> bool:
        d = self.difference
        some = differences(self.theirs.run(lines, self.forward), found, coarsest(lines))
        if any(x.aspect in ("outcome", "error") and int(x.where) <= self.until for x in some):
            return False
        return all((x.aspect, x.where) != (d.aspect, d.where) for x in some)

    def instead(self, lines: list[str]) -> Context | None:
        """The difference that is left where PyTorch runs these lines; None where it is another one."""
        wanted, d = self.theirs.run(lines, self.forward), self.difference
        of_line = ("outcome", "error")
        for x in differences(wanted, self.found, coarsest(lines)):
            raises = x.aspect == "outcome" and x.found == "no error"  # in PyTorch alone
            if (
                raises
                or x.where == d.where
                and (x.aspect == d.aspect or {x.aspect, d.aspect} <= set(of_line))
            ):
                return Context(
                    self.name, lines, x, wanted, self.found, self.forward, self.theirs, self.ours
                )
        return None

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

    def refused(self, *words: str) -> bool:
        return self.raises() and any(w in self.wanted_text() for w in words)

    def forbidden(self) -> bool:
        """PyTorch: a view whose base was written must not be used any more."""
        d = self.difference
        return (
            d.aspect == "kind"
            and d.wanted == "raises RuntimeError"
            or self.refused("is a view and", "A view was created in")
        )

    def dtype(self) -> str:
        """The result's."""
        inputs = self.inputs()
        seen = self.wanted.values.get("r") or (inputs[0] if inputs else None)
        return getattr(seen, "dtype", "")

    def found_text(self) -> str:
        return str(self.difference.found)

    def wanted_text(self) -> str:
        return str(self.difference.wanted)

    def inputs(self) -> list[Seen]:
        return [
            v
            for k, v in self.wanted.values.items()
            if isinstance(v, Seen) and len(k) == 1 and k != "r"
        ]

    def derivative(self) -> bool:
        d = self.difference
        return (
            d.aspect in ("grad", "tangent")
            or d.where.startswith(("g[", "h[", "t[", "seen["))
            or (d.aspect == "value" and self.asked())
        )

    def asked(self) -> bool:
        """Of a program: what differs is what autograd.grad has given, or is made of it."""
        given: set[str] = set()
        for line in () if self.name else self.lines:
            made = {name for name in (bound_by(line), written_by(line)) if name}
            if "T.autograd.grad(" in line or made and names_in(line) & given:
                given |= made
        return self.difference.where in self.trace.sharing(given, self.until) | given

    def only_where(self, *explained: Callable[[Any, Any], Any]) -> bool:
        """Elements differ, each of them as one of the functions of wanted and found says."""
        w, f = self.difference.wanted, self.difference.found
        if self.difference.aspect not in ("value", "grad", "tangent"):
            return False
        if isinstance(w, float) and isinstance(f, float):  # what a hook has seen
            w, f = np.array([w]), np.array([f])
        if not (isinstance(w, np.ndarray) and isinstance(f, np.ndarray)) or w.shape != f.shape:
            return False
        some = apart(w.dtype.name, w, f, coarsest(self.lines))
        said = np.logical_or.reduce([np.asarray(e(w, f)) for e in explained])
        return bool(some.any()) and bool(np.asarray(said)[some].all())

    def not_finite(self) -> bool:
        """An operand or a result holds a NaN or an infinity."""
        some = (v for v in self.wanted.values.values() if isinstance(v, Seen))
        return re.search("nan|inf", self.call) is not None or any(
            not np.isfinite(v.numbers).all() for v in some if v.numbers.dtype.kind in "fc"
        )

    def base(self) -> str:
        return self.name.split(".")[-1].rstrip("_")


def lines_with(lines: list[str], change: Callable[[int, str], Any]) -> list[str]:
    """Each line as `change` gives it back; None leaves it as it is."""
    return [line if (new := change(n, line)) is None else new for n, line in enumerate(lines)]


Predicate = Callable[[Context], bool]
PREDICATES: dict[str, Predicate] = {}


def predicate(made: Predicate) -> Predicate:
    PREDICATES[made.__name__] = made
    return made

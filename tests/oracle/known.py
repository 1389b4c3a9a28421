# SPDX-License-Identifier: Apache-2.0
"""What a predicate of known differences looks at, and the list of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from case import Run, Seen
from compare import Difference


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

    def refused(self, *words: str) -> bool:
        return self.raises() and any(w in self.wanted_text() for w in words)

    def forbidden(self) -> bool:
        """PyTorch: a view whose base was written must not be used any more."""
        d = self.difference
        return d.aspect == "kind" and d.wanted == "raises RuntimeError" or self.refused(
            "is a view and", "A view was created in")

    def dtype(self) -> str:
        """The result's."""
        seen = self.wanted.values.get("r") or (self.inputs() or [None])[0]
        return getattr(seen, "dtype", "")

    def found_text(self) -> str:
        return str(self.difference.found)

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

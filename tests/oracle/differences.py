# SPDX-License-Identifier: Apache-2.0
"""Which differences docs/coming-from-pytorch.md tells of: a line there ends in
<!-- oracle: NAME -->, and NAME is a predicate here. A difference that no line covers is a failure,
and so is a line that covers nothing in a whole run."""

from __future__ import annotations

import re
from pathlib import Path

import known_passes
import known_refusals
import known_values
import known_views
import known_writes
from known import PREDICATES, Context
from rewritten import REWRITES

PAGE = Path(__file__).parents[2] / "docs" / "coming-from-pytorch.md"
# These modules fill PREDICATES.
assert all((known_passes, known_refusals, known_values, known_views, known_writes))


def declared() -> dict[str, int]:
    """The names on the page, and their lines."""
    found = {}
    for n, line in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), 1):
        for names in re.findall(r"<!-- oracle: ([\w, ]+) -->", line):
            for name in re.split(r"[, ]+", names):
                found[name] = n
    return found


def covering(context: Context, known: dict[str, int]) -> str | None:
    """The name of the line that covers it."""
    for name in known:
        if PREDICATES[name](context):
            return name
    return None if context.name else _of_two(context, known)


def _of_two(context: Context, known: dict[str, int]) -> str | None:
    """A program that shows two differences: it is changed as one line says, and another covers the rest."""
    for name, changed in REWRITES.items():
        for lines in changed(context) if name in known else ():
            left = None if lines == context.lines else context.instead(lines)
            if left is not None and any(PREDICATES[other](left) for other in known):
                return name
    return None

# SPDX-License-Identifier: Apache-2.0
"""Calls that are refused, as text, each with its error below:

    F.pad(ones(2, 3), (1, 1, 1))
        # ValueError: pad: argument 2 (pad) has 3 entries, wanted two for each dimension
    F.pad(ones(2, 3), (1, 1), "reflect", 2.0)
        # ValueError | RuntimeError: pad: argument 4 (value) is ... wanted none in mode 'reflect'

A call may take several lines, and so may its error; of an error that is told with ` ... ` in it
every part must be there. Lines that begin with ## are notes.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from typing import Any

import libdl
from libdl import _functional
from libdl.nn import functional as F
from samples import Reject

NAMES = {"math": math, "libdl": libdl, "_functional": _functional, "F": F}


def calls_with_errors(text: str) -> Iterator[tuple[str, str]]:
    """Each call and what its comment tells."""
    call, told = list[str](), list[str]()
    lines = textwrap.dedent(text).strip().splitlines()
    for line in (line for line in lines if not line.startswith("## ")):
        comment = line.strip().startswith("# ")
        if told and not comment:
            yield "\n".join(call), " ".join(told)
            call, told = [], []
        if comment:
            told.append(line.strip().removeprefix("#").strip())
        else:
            call.append(line)
    yield "\n".join(call), " ".join(told)


def refusals(text: str, names: dict[str, Any]) -> list[Reject]:
    """The calls, of what these names stand for, and the errors that they must raise."""
    made, names = [], NAMES | names
    for call, told in calls_with_errors(text):
        kinds, _, words = told.partition(": ")
        errors: list[type[Exception]] = []
        for kind in kinds.split(" | "):  # a class, or a tuple of some
            some = eval(kind, names)
            errors += some if isinstance(some, tuple) else [some]
        made.append(
            Reject(tuple(errors), tuple(words.split(" ... ")), eval(f"lambda: ({call})", names))
        )
    return made


def rejected(rejects: str | list[Reject | str], names: dict[str, Any]) -> list[Reject]:
    """What a case tells, partly as text."""
    parts = [rejects] * bool(rejects) if isinstance(rejects, str) else rejects
    return [
        reject
        for part in parts
        for reject in (refusals(part, names) if isinstance(part, str) else [part])
    ]

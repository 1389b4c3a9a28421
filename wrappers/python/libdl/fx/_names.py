# SPDX-License-Identifier: Apache-2.0
"""Names of nodes and globals: valid in Python, and each given once."""

from __future__ import annotations

import builtins
import keyword
import math
import re
import sys
from typing import Any

from .._types import device

_ILLEGAL = re.compile("[^0-9a-zA-Z_]+")
_NUMBERED = re.compile(r"(.*)_(\d+)$")

# What generated code may use without an import.
KNOWN: dict[str, Any] = {
    "inf": math.inf,
    "nan": math.nan,
    "NoneType": type(None),
    "libdl": sys.modules["libdl"],
    "torch": sys.modules["libdl"],
    "device": device,
}


def snake_case(name: str) -> str:
    """MaxPool2d as max_pool2d."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name))
    return spaced.lower()


def name_of_target(target: Any) -> str:
    """How a node with this target is called, before it is made unique."""
    name: str = target if isinstance(target, str) else target.__name__
    if len(name) > 4 and name.startswith("__") and name.endswith("__"):
        name = name[2:-2]
    return snake_case(name)


class Namespace:
    """The names that have been given."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}
        self._owners: dict[int, tuple[str, Any]] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        """The candidate if it is free, else with the next number. obj: what will have the name, and
        has it from then on; None: nothing in particular."""
        if obj is not None and id(obj) in self._owners:
            return self._owners[id(obj)][0]
        candidate = _ILLEGAL.sub("_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        numbered = _NUMBERED.match(candidate)
        base, number = (numbered[1], int(numbered[2])) if numbered else (candidate, 0)
        number = number or self._counts.get(base, 0)
        while candidate in self._used or _is_taken(candidate, obj):
            number += 1
            candidate = f"{base}_{number}"
        self._used.add(candidate)
        self._counts[base] = number
        if obj is not None:
            self._owners[id(obj)] = (candidate, obj)
        return candidate

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """Gives a name that is free to an object."""
        self._used.add(name)
        self._owners[id(obj)] = (name, obj)

    def _rename_object(self, obj: object, name: str) -> None:
        self.associate_name_with_obj(name, obj)


def _is_taken(name: str, obj: object) -> bool:
    if keyword.iskeyword(name):
        return True
    for known in (builtins.__dict__, KNOWN):
        if name in known:
            return obj is not known[name]
    return False

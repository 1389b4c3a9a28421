# SPDX-License-Identifier: Apache-2.0
"""Versions that compare as versions: "2.15" is later than "2.4", which text is not.

Under libdl.as_torch, __version__ is FOLLOWED: the version of PyTorch whose interface libdl follows,
and libdl's own version behind it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from .version import libdl as VERSION

_FORM = re.compile(
    r"v?(\d+(?:\.\d+)*)[-_.]?(?:(a|alpha|b|beta|c|rc|dev|post)[-_.]?(\d*)[^+]*)?(?:\+([a-z\d._-]+))?",
    re.IGNORECASE,
)
_PHASES = {"dev": -4, "a": -3, "b": -2, "c": -1, "r": -1, None: 0, "post": 1}


def _key(text: str) -> tuple[Any, ...] | None:
    """What versions are ordered by (PEP 440); None if the text is no version."""
    match = _FORM.fullmatch(text.strip())
    if match is None:
        return None
    digits, phase, count, local = match.groups()
    release = [int(part) for part in digits.split(".")]
    while release and release[-1] == 0:
        release.pop()
    phase = phase and phase.lower()
    order = _PHASES[phase if phase in _PHASES else phase[0]]
    parts = re.split(r"[._-]", local.lower()) if local else []
    numbered = tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts)
    return tuple(release), order, int(count or 0), numbered


class TorchVersion(str):
    """A version's text. It compares with texts and tuples as versions, or else as text."""

    __slots__ = ()

    def _sides(self, other: object) -> tuple[Any, Any] | None:
        if not isinstance(other, str):
            if not isinstance(other, Iterable):
                return None
            other = ".".join(str(part) for part in other)
        mine, others = _key(self), _key(other)
        return (str(self), str(other)) if mine is None or others is None else (mine, others)

    def __lt__(self, other: object) -> bool:
        sides = self._sides(other)
        return NotImplemented if sides is None else bool(sides[0] < sides[1])

    def __le__(self, other: object) -> bool:
        sides = self._sides(other)
        return NotImplemented if sides is None else bool(sides[0] <= sides[1])

    def __gt__(self, other: object) -> bool:
        sides = self._sides(other)
        return NotImplemented if sides is None else bool(sides[0] > sides[1])

    def __ge__(self, other: object) -> bool:
        sides = self._sides(other)
        return NotImplemented if sides is None else bool(sides[0] >= sides[1])

    def __eq__(self, other: object) -> bool:
        sides = self._sides(other)
        return NotImplemented if sides is None else bool(sides[0] == sides[1])

    __hash__ = str.__hash__  # and != compares texts, as in PyTorch


FOLLOWED = TorchVersion(f"2.15.0+libdl.{VERSION}")

__all__ = ["FOLLOWED", "TorchVersion"]

# SPDX-License-Identifier: Apache-2.0
"""Sizes, which are Python's own numbers: functions of them, and PyTorch's names of what would stand
for one that is not known yet."""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterable
from typing import Any

__all__ = [
    "sym_float",
    "sym_int",
    "sym_ite",
    "sym_max",
    "sym_min",
    "sym_not",
    "sym_sqrt",
    "sym_sum",
]


def sym_float(a: Any) -> float:
    """float(a)."""
    return float(a)


def sym_int(a: Any) -> int:
    """int(a)."""
    return int(a)


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """t if b else f."""
    return t if b else f


def sym_max(a: Any, b: Any) -> Any:
    """The larger of two sizes, a float if one of them is."""
    result = builtins.max(a, b)
    return float(result) if isinstance(a, float) or isinstance(b, float) else result


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two sizes, a float if one of them is."""
    result = builtins.min(a, b)
    return float(result) if isinstance(a, float) or isinstance(b, float) else result


def sym_not(a: Any) -> bool:
    """not a."""
    return not a


def sym_sqrt(a: Any) -> float:
    """The square root."""
    return math.sqrt(a)


def sym_sum(args: Iterable[Any]) -> Any:
    """The sum."""
    return builtins.sum(args)


class _Symbolic:
    """A name for annotations and isinstance: sizes are Python's numbers, and no object is one."""

    def __init__(self, *args: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__}: sizes are Python's own numbers")


class SymInt(_Symbolic):
    __doc__ = _Symbolic.__doc__


class SymFloat(_Symbolic):
    __doc__ = _Symbolic.__doc__


class SymBool(_Symbolic):
    __doc__ = _Symbolic.__doc__

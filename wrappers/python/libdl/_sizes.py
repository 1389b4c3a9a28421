# SPDX-License-Identifier: Apache-2.0
"""Functions of sizes, which are Python's own numbers."""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterable
from typing import Any

__all__ = [
    "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum",
]  # fmt: skip


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
    found = builtins.max(a, b)
    return float(found) if isinstance(a, float) or isinstance(b, float) else found


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two sizes, a float if one of them is."""
    found = builtins.min(a, b)
    return float(found) if isinstance(a, float) or isinstance(b, float) else found


def sym_not(a: Any) -> bool:
    """not a."""
    return not a


def sym_sqrt(a: Any) -> float:
    """The square root."""
    return math.sqrt(a)


def sym_sum(args: Iterable[Any]) -> Any:
    """The sum."""
    return builtins.sum(args)

# SPDX-License-Identifier: Apache-2.0
"""Questions about sizes that a tracer would not know. Here every size is a number."""

from __future__ import annotations

from typing import Any


class GuardOnDataDependentSymNode(RuntimeError):
    """What a tracer would raise."""


def statically_known_true(x: Any) -> bool:
    """Whether the condition is true."""
    return bool(x)


guard_or_false = guard_or_true = definitely_true = statically_known_true


def guard_size_oblivious(expr: Any) -> bool:
    """Whether the condition is true."""
    return bool(expr)


def sym_eq(x: Any, y: Any) -> bool:
    """Whether the sizes are equal."""
    return bool(x == y)


def free_symbols(val: Any) -> set[Any]:
    """An empty set: sizes are numbers."""
    return set()


free_unbacked_symbols = free_symbols


def is_symbolic(val: Any) -> bool:
    """False: sizes are numbers."""
    return False


def has_free_symbols(val: Any) -> bool:
    """False: sizes are numbers."""
    return False


has_free_unbacked_symbols = is_concrete_float = has_free_symbols


def is_concrete_int(a: Any) -> bool:
    """Whether the size is a number, which all are."""
    return isinstance(a, int)

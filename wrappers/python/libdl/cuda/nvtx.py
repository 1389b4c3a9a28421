# SPDX-License-Identifier: Apache-2.0
"""Marks for NVIDIA's profilers, which are not told: every mark is accepted, and leads nowhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


def range_push(msg: str) -> int:
    """Begins a range. Returns PyTorch's number for a profiler that is absent, -2."""
    return -2


def range_pop() -> int:
    """Ends the innermost range. Returns -2: see range_push."""
    return -2


def range_start(msg: str) -> int:
    """Begins a range that may overlap others. Returns 0."""
    return 0


def range_end(range_id: int) -> None:
    """Ends a range."""


def mark(msg: str) -> None:
    """Marks an instant."""


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A range around a with statement."""
    yield

# SPDX-License-Identifier: Apache-2.0
"""cuDNN's switches. libdl does not use cuDNN; every result is deterministic."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from ._flags import switched

enabled = True
benchmark = False
benchmark_limit: int | None = 10
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """False: there is no cuDNN."""
    return False


def version() -> int | None:
    """None: there is no cuDNN."""
    return None


def is_acceptable(tensor: Any) -> bool:
    """False: no tensor is handed to cuDNN."""
    return False


def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> AbstractContextManager[None]:
    """Sets the switches for the time of a with statement."""
    return switched(
        __name__,
        enabled=enabled,
        benchmark=benchmark,
        benchmark_limit=benchmark_limit,
        deterministic=deterministic,
        allow_tf32=allow_tf32,
    )

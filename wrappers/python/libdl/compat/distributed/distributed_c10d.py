# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of libdl.distributed's names."""

from __future__ import annotations

from typing import Any

_pg_map: dict[Any, Any] = {}


def _get_default_group() -> Any:
    """Raises a ValueError, as PyTorch does without a group."""
    from . import _no_group

    _no_group("_get_default_group")


def __getattr__(name: str) -> Any:
    from .. import distributed

    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(distributed, name)

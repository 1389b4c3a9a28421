# SPDX-License-Identifier: Apache-2.0
"""Batches in memory that devices read from."""

from __future__ import annotations

from typing import Any

from .... import cuda
from ...._types import DeviceLike
from ..epoch import pinned

__all__ = ["pin_memory"]


def pin_memory(data: Any, device: DeviceLike | None = None) -> Any:
    """The batch in memory that a device reads from; without a device, the batch itself."""
    return pinned(data) if cuda.is_available() else data

# SPDX-License-Identifier: Apache-2.0
"""Tensors handed to other libraries without a copy, by DLPack."""

from __future__ import annotations

from typing import Any

from .. import Tensor, from_dlpack as from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> Any:
    """The tensor as a capsule of DLPack, which may be taken once. Its history stays behind."""
    return tensor.detach().__dlpack__()

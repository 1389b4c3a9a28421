# SPDX-License-Identifier: Apache-2.0
"""PyTorch's torch.functional: functions that libdl itself has, under their second path."""

from __future__ import annotations

import sys
from typing import Any

# PyTorch's list; each name is answered as soon as libdl has it.
_NAMES = (
    "atleast_1d", "atleast_2d", "atleast_3d", "align_tensors", "block_diag", "broadcast_shapes",
    "broadcast_tensors", "cartesian_prod", "cdist", "chain_matmul", "einsum", "istft", "lu",
    "meshgrid", "norm", "split", "stft", "tensordot", "unique", "unique_consecutive",
    "unravel_index",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    libdl = sys.modules["libdl"]
    if name in _NAMES and hasattr(libdl, name):
        return getattr(libdl, name)
    from ._missing import NoName

    raise NoName(__name__, name)


def __dir__() -> list[str]:
    libdl = sys.modules["libdl"]
    return [name for name in _NAMES if hasattr(libdl, name)]

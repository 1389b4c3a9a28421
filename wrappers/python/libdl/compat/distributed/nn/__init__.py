# SPDX-License-Identifier: Apache-2.0
"""Differentiable calls among processes that train together: there is no group of them."""

from __future__ import annotations

from typing import Any, NoReturn

from ..._C import Tensor
from .. import _no_group

__all__ = ["all_gather", "all_reduce", "broadcast"]


def all_reduce(tensor: Tensor, op: Any = None, group: Any = None) -> NoReturn:
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("nn.all_reduce")


def all_gather(tensor: Tensor, group: Any = None) -> NoReturn:
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("nn.all_gather")


def broadcast(tensor: Tensor, src: int, group: Any = None) -> NoReturn:
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("nn.broadcast")

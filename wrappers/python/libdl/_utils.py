# SPDX-License-Identifier: Apache-2.0
"""PyTorch's private torch._utils, as far as programs reach for it: groups of tensors as one."""

from __future__ import annotations

from collections.abc import Sequence

from . import Tensor, cat


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """One vector of all elements."""
    return cat([x.reshape(-1) for x in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of the vector with the tensors' shapes."""
    parts = flat.split([x.numel() for x in tensors])
    return tuple(part.view(x.shape) for part, x in zip(parts, tensors, strict=True))

# SPDX-License-Identifier: Apache-2.0
"""Tensors made of rules: ranges with their end, orders in memory."""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Sequence
from typing import Any

from . import _C, _functions as f
from ._C import Tensor
from ._errors import ArgumentValueError
from ._out import write_leaf
from ._types import DeviceLike, DtypeLike

__all__ = ["empty_permuted", "range"]


def range(
    start: float = 0,
    end: float | None = None,
    step: float = 1,
    *,
    out: Tensor | None = None,
    dtype: DtypeLike | None = None,
    device: DeviceLike | None = None,
    layout: object = None,
    requires_grad: bool = False,
) -> Tensor:
    """start, start + step, ... up to end, which belongs to it; deprecated, as in PyTorch: use
    arange."""
    warnings.warn("range is deprecated, because its end belongs to it: use arange", stacklevel=2)
    if end is None:
        raise TypeError("range: end must be given")
    if out is not None:
        requested = out.dtype if dtype is None else dtype
        return write_leaf(_C.range_into, (start, end, step, requested, device), out, requires_grad)
    result: Tensor = _C.range(start, end, step, dtype, device)
    return result.requires_grad_() if requires_grad else result


def empty_permuted(size: Sequence[int], physical_layout: Sequence[int], **options: Any) -> Tensor:
    """A tensor without values whose dimensions lie in memory in the order physical_layout, from the
    outermost to the innermost. Options are those of empty."""
    order = list(physical_layout)
    if sorted(order) != list(builtins.range(len(size))):
        raise ArgumentValueError(
            f"empty_permuted: argument 2 (physical_layout) is {order}, wanted each of "
            f"{len(size)} dimensions once"
        )
    result = f.empty([size[d] for d in order], **options)
    return f.permute(result, [order.index(d) for d in builtins.range(len(size))]).detach()

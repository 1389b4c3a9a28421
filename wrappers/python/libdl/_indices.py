# SPDX-License-Identifier: Apache-2.0
"""Tensors made of rules: indices of triangles, ranges with their end, powers, orders in memory."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import builtins
import warnings
from collections.abc import Sequence
from typing import Any

from . import _C, _functions as f
from ._C import Tensor
from ._errors import ArgumentValueError, ShapeError
from ._modes import get_default_dtype
from ._overloads import arange
from ._types import DeviceLike, DtypeLike, float64, int64

__all__ = ["empty_permuted", "range", "tril_indices", "triu_indices", "vander"]


def _triangle(function: str, row: int, col: int, offset: int, dtype: Any, device: Any) -> Tensor:
    for name, size in (("row", row), ("col", col)):
        if size < 0:
            raise ArgumentValueError(f"{function}: argument {name} is {size}, wanted 0 or more")
    steps = arange(col, device="cpu").unsqueeze(0) - arange(row, device="cpu").unsqueeze(1)
    held = steps <= offset if function == "tril_indices" else steps >= offset
    return f.nonzero(held).t().contiguous().to(dtype=dtype, device=_C.default_device() if device is None else device)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: DtypeLike = int64,
                 device: DeviceLike | None = None, layout: object = None) -> Tensor:  # fmt: skip
    """Rows and columns, [2, n], of a matrix's elements on and below its diagonal number offset."""
    return _triangle("tril_indices", row, col, offset, dtype, device)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: DtypeLike = int64,
                 device: DeviceLike | None = None, layout: object = None) -> Tensor:  # fmt: skip
    """Rows and columns, [2, n], of a matrix's elements on and above its diagonal number offset."""
    return _triangle("triu_indices", row, col, offset, dtype, device)


def range(start: float = 0, end: float | None = None, step: float = 1, *, out: Tensor | None = None,
          dtype: DtypeLike | None = None, device: DeviceLike | None = None, layout: object = None,
          requires_grad: bool = False) -> Tensor:  # fmt: skip
    """start, start + step, ... up to end, which belongs to it; deprecated, as in PyTorch: use arange."""
    warnings.warn("range is deprecated, because its end belongs to it: use arange", stacklevel=2)
    if end is None:
        raise TypeError("range: end must be given")
    wanted = f.empty((0,), dtype=dtype or (get_default_dtype() if out is None else out.dtype)).dtype
    if not (wanted.is_floating_point or wanted.is_complex):  # as in PyTorch
        start, end, step = int(start), int(end), int(step)
    if step == 0 or (end - start) * step < 0:
        raise ArgumentValueError(f"range: {start} to {end} in steps of {step}, wanted steps towards the end")
    count = int((end - start) / step) + 1
    made = (start + step * arange(count, dtype=float64)).to(dtype=wanted)
    made = made if device is None else made.to(device)
    if out is not None:
        return f.mul(made, 1, out=out)
    return made.requires_grad_() if requires_grad else made


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of a vector's elements as rows: x^(N - 1), ..., x^0, or increasing; N is its length
    unless given."""
    if x.ndim != 1:
        raise ShapeError(f"vander: argument 1 (x) has shape {list(x.shape)}, wanted 1-d")
    count = x.shape[0] if N is None else N
    if count < 0:
        raise ArgumentValueError(f"vander: argument 2 (N) is {count}, wanted 0 or more")
    columns = x.unsqueeze(1).expand(x.shape[0], max(count - 1, 0))
    made = f.cumprod(f.cat([f.ones_like(x).unsqueeze(1), columns], 1), 1)[:, :count]
    return made if increasing else f.flip(made, (1,))


def empty_permuted(size: Sequence[int], physical_layout: Sequence[int], **options: Any) -> Tensor:
    """A tensor without values whose dimensions lie in memory in the order physical_layout, from the
    outermost to the innermost. Options are those of empty."""
    order = list(physical_layout)
    if sorted(order) != list(builtins.range(len(size))):
        raise ArgumentValueError(f"empty_permuted: argument 2 (physical_layout) is {order}, wanted each of "
                                 f"{len(size)} dimensions once")  # fmt: skip
    made = f.empty([size[d] for d in order], **options)
    return f.permute(made, [order.index(d) for d in builtins.range(len(size))]).detach()

# SPDX-License-Identifier: Apache-2.0
"""scatter_reduce and index_reduce, composed of gather and scatter."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any

from . import _functions as f, _overloads as o
from ._C import Tensor
from ._errors import ArgumentValueError, ShapeError
from ._out import copied, in_place
from ._types import iinfo

__all__ = ["index_reduce", "scatter_reduce"]


def _neutral(reduce: str, input: Tensor) -> Any:
    if reduce in ("sum", "mean", "prod"):
        return 1 if reduce == "prod" else 0
    if input.is_floating_point():
        return -math.inf if reduce == "amax" else math.inf
    return iinfo(input.dtype).min if reduce == "amax" else iinfo(input.dtype).max


def scatter_reduce(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *,
                   include_self: bool = True) -> Tensor:  # fmt: skip
    """Where several elements of src have one place along dim, their "sum", "prod", "mean", "amax" or
    "amin", with the element of input that is there unless include_self is False.

    All but sums and means take a step for each place of index along dim. A gradient is shared among
    equal extrema two by two."""
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise ArgumentValueError(
            f"scatter_reduce: argument 5 (reduce) is {reduce!r}, wanted 'sum', 'prod', 'mean', "
            "'amax' or 'amin'"
        )
    if input.is_floating_point() and input.itemsize == 2 and reduce in ("mean", "prod"):
        # Neither a total nor a count need be finite there, and each step would round.
        wide = scatter_reduce(input.float(), dim, index, src.float(), reduce, include_self=include_self)
        return wide.to(input.dtype)
    if include_self:
        base = input
    else:
        base = o.scatter(input, dim, index, _neutral(reduce, input))
    if reduce in ("sum", "mean"):
        total = f.scatter_add(base, dim, index, src)
        if reduce == "sum":
            return total
        one = f.ones_like(src, dtype=index.dtype)
        count = f.scatter_add(f.full_like(input, int(include_self), dtype=index.dtype), dim, index, one)
        count = count.clamp(min=1)
        if input.is_floating_point():
            return total / count.to(dtype=total.dtype)
        return f.floor_divide(total, count)
    combine = {"prod": f.mul, "amax": f.maximum, "amin": f.minimum}[reduce]
    made = base.clone() if index.numel() == 0 or input.ndim == 0 else base
    if input.ndim == 0:
        return combine(made, src) if index.numel() else made
    for j in range(index.shape[dim] if index.numel() else 0):  # no place twice in one step
        place = f.narrow(index, dim, j, 1)
        part = f.narrow(src, dim, j, 1)
        part = part[tuple(slice(0, size) for size in place.shape)]
        made = o.scatter(made, dim, place, combine(f.gather(made, dim, place), part))
    return made


def index_reduce(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *,
                 include_self: bool = True, out: Tensor | None = None) -> Tensor:  # fmt: skip
    """scatter_reduce of whole slices: slice i of source along dim goes to place index[i], a vector.
    reduce is "prod", "mean", "amax" or "amin"."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise ArgumentValueError(f"index_reduce: argument 5 (reduce) is {reduce!r}, wanted 'prod', 'mean', "
                                 "'amax' or 'amin'")  # fmt: skip
    ndim = max(input.ndim, 1)
    if index.ndim > 1 or source.ndim != input.ndim or not -ndim <= dim < ndim or (
        source.ndim and source.shape[dim] != index.numel()
    ):
        raise ShapeError(f"index_reduce: shapes {list(input.shape)}, {list(index.shape)} and "
                         f"{list(source.shape)}, wanted an index for each slice along dim {dim}")  # fmt: skip
    place = index.reshape([-1 if d == dim % ndim else 1 for d in range(input.ndim)])
    made = scatter_reduce(input, dim, place.expand(source.shape), source, reduce,
                          include_self=include_self)  # fmt: skip
    return copied(made, out)


for _method in (scatter_reduce, index_reduce):
    setattr(Tensor, _method.__name__, _method)
    setattr(Tensor, _method.__name__ + "_", in_place(_method))

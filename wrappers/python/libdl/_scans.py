# SPDX-License-Identifier: Apache-2.0
"""Running extrema and sums of exponentials, composed of steps that double: log2(n) passes."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any

from . import _functions as f, return_types
from ._C import Tensor
from ._errors import DtypeError, IndexRangeError
from ._out import copied
from ._overloads import arange
from ._types import ValuesIndices, int64

__all__ = ["cummax", "cummin", "logcumsumexp"]


def _last(function: str, input: Tensor, dim: int) -> Tensor:
    """The tensor with dim as its last dimension."""
    if not -max(input.ndim, 1) <= dim < max(input.ndim, 1):
        raise IndexRangeError(f"{function}: argument 2 (dim) is {dim}, wanted {-max(input.ndim, 1)} to "
                              f"{max(input.ndim, 1) - 1}")  # fmt: skip
    return f.movedim(input, dim, -1) if input.ndim else input.reshape(1)


def _back(made: Tensor, input: Tensor, dim: int) -> Tensor:
    return f.movedim(made, -1, dim) if input.ndim else made.reshape(())


def _extremum(function: str, input: Tensor, dim: int, out: Any) -> ValuesIndices:
    if input.is_complex():
        raise NotImplementedError(f"{function}: argument 1 (input) is {input.dtype}, wanted a real dtype")
    if out is not None and (out[0].dtype is not input.dtype or out[1].dtype is not int64):
        raise DtypeError(f"{function}: argument 3 (out) is {out[0].dtype} and {out[1].dtype}, wanted "
                         f"{input.dtype} and {int64}")  # fmt: skip
    x = _last(function, input, dim)
    at = arange(x.shape[-1], device=x.device).expand(x.shape)
    best = x.detach()
    is_float, step = best.is_floating_point(), 1
    while step < x.shape[-1]:
        before, after = best[..., :-step], best[..., step:]
        keeps = before > after if function == "cummax" else before < after
        if is_float:  # a NaN stays until the next one
            keeps = (keeps | f.isnan(before)) & ~f.isnan(after)
        at = f.cat([at[..., :step], f.where(keeps, at[..., :-step], at[..., step:])], -1)
        best = f.cat([best[..., :step], f.where(keeps, before, after)], -1)
        step *= 2
    values, places = _back(f.gather(x, -1, at), input, dim), _back(at, input, dim).contiguous()
    if out is not None:
        values, places = copied(values, out[0]), copied(places, out[1])
    return getattr(return_types, function)(values, places)


def cummax(input: Tensor, dim: int, *, out: Any = None) -> ValuesIndices:
    """The largest of the elements so far along dim, and its place, the last of several. After a NaN
    all are NaN. The gradient goes to that place."""
    return _extremum("cummax", input, dim, out)


def cummin(input: Tensor, dim: int, *, out: Any = None) -> ValuesIndices:
    """The least of the elements so far along dim, and its place, the last of several. After a NaN all
    are NaN. The gradient goes to that place."""
    return _extremum("cummin", input, dim, out)


def logcumsumexp(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the sum of exponentials of the elements so far along dim."""
    if not input.is_floating_point():
        raise NotImplementedError(f"logcumsumexp: argument 1 (input) is {input.dtype}, wanted a floating dtype")
    x = _last("logcumsumexp", input, dim)
    if input.itemsize == 2:  # each step would round
        x = x.float()
    step = 1
    while step < x.shape[-1]:
        # Beside -inf, which adds nothing, logaddexp would divide 0 by 0 in its gradient.
        before, after = x[..., :-step], x[..., step:]
        alone = before == -math.inf
        both = f.logaddexp(f.where(alone, f.zeros_like(before), before), after)
        x = f.cat([x[..., :step], f.where(alone, after, both)], -1)
        step *= 2
    made = _back(x, input, dim).to(input.dtype)
    return copied(made.clone() if made is input else made, out)


for _method in (cummax, cummin, logcumsumexp):
    setattr(Tensor, _method.__name__, _method)

# SPDX-License-Identifier: Apache-2.0
"""scatter_reduce and index_reduce, composed of gather and scatter."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any

from . import _functions as f, _overloads as o
from ._C import Tensor
from ._errors import ArgumentValueError, DtypeError, Error, ShapeError, rename_error
from ._out import copied, in_place
from ._types import float32, iinfo, int64
from .autograd.function import Function

__all__ = ["index_reduce", "scatter_reduce"]


_STEPS = {"prod": f.mul, "amax": f.maximum, "amin": f.minimum}


def _neutral(reduce: str, dtype: Any) -> Any:
    if reduce in ("sum", "mean", "prod"):
        return 1 if reduce == "prod" else 0
    if dtype.is_floating_point:
        return -math.inf if reduce == "amax" else math.inf
    if dtype.name == "bool":
        return reduce == "amin"
    return iinfo(dtype).min if reduce == "amax" else iinfo(dtype).max


def scatter_reduce(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *,
                   include_self: bool = True, out: Tensor | None = None) -> Tensor:  # fmt: skip
    """Where several elements of src have one place along dim, their "sum", "prod", "mean", "amax" or
    "amin", with the element of input that is there unless include_self is False.

    Means of integers are rounded down. Equal extrema share a gradient evenly. All but sums and means
    take a step for each place of index along dim."""
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise ArgumentValueError(
            f"scatter_reduce: argument 5 (reduce) is {reduce!r}, wanted 'sum', 'prod', 'mean', "
            "'amax' or 'amin'"
        )
    try:
        _check_dtypes("scatter_reduce", "src", input, src, reduce)
        _check_shapes(index, src)
        return copied(_made(input, dim, index, src, reduce, include_self), out)
    except Error as error:
        rename_error(error, "scatter_reduce", arguments={"dst": (7, "out")})
        raise


def _made(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str,
          include_self: bool) -> Tensor:  # fmt: skip
    if reduce in ("amax", "amin") and input.is_floating_point():
        return _Extremum.apply(input, _cut(src, index), dim, index, reduce, include_self)
    if reduce == "mean":
        return _mean(input, dim, index, src, include_self)
    if input.is_floating_point() and input.itemsize == 2 and reduce == "prod":
        # In 16 bits each step would round.
        wide = _reduced(input.float(), dim, index, src.float(), reduce, include_self)
        return wide.to(input.dtype)
    return _reduced(input, dim, index, src, reduce, include_self)


def _check_dtypes(op: str, name: str, input: Tensor, src: Tensor, reduce: str) -> None:
    if src.dtype != input.dtype:
        raise DtypeError(f"{op}: argument 4 ({name}) is {src.dtype.name}, wanted {input.dtype.name}, as "
                         "argument 1 (input)")  # fmt: skip
    if reduce in ("amax", "amin") and (input.is_complex() or input.dtype.name == "uint64"):
        raise DtypeError(f"{op}: argument 1 (input) is {input.dtype.name}, wanted another dtype for extrema")
    if reduce == "mean" and input.dtype.name == "bool":
        raise DtypeError(f"{op}: argument 1 (input) is bool, wanted a dtype that has a mean")


def _check_shapes(index: Tensor, src: Tensor) -> None:
    sizes = [list(x.shape) or [1] for x in (index, src)]
    fits = len(sizes[0]) == len(sizes[1]) and all(a <= b for a, b in zip(*sizes))
    if index.numel() and not fits:
        raise ShapeError(f"scatter_reduce: argument 3 (index) has shape {list(index.shape)}, wanted no "
                         f"larger sizes than src's {list(src.shape)}")  # fmt: skip


def _cut(src: Tensor, index: Tensor) -> Tensor:
    """What index reads of src."""
    fits = 0 < src.ndim == index.ndim and all(a <= b for a, b in zip(index.shape, src.shape))
    return src[tuple(slice(0, size) for size in index.shape)] if fits else src


def _start(input: Tensor, dim: int, index: Tensor, reduce: str, include_self: bool) -> Tensor:
    return input if include_self else o.scatter(input, dim, index, _neutral(reduce, input.dtype))


def _reduced(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str,
             include_self: bool) -> Tensor:  # fmt: skip
    made = _start(input, dim, index, reduce, include_self)
    if reduce == "sum":
        return f.scatter_add(made, dim, index, src)
    f.gather(made.detach(), dim, index)  # refuses what does not fit
    combine = _STEPS[reduce]
    if index.numel() == 0:
        return f.scatter_add(made, dim, index, src)  # whose gradient by src is 0, not none
    if input.ndim == 0:
        return combine(made, src)
    for j in range(index.shape[dim]):  # no place twice in one step
        place = f.narrow(index, dim, j, 1)
        part = _cut(f.narrow(src, dim, j, 1), place)
        made = o.scatter(made, dim, place, combine(f.gather(made, dim, place), part))
    return made


def _mean(input: Tensor, dim: int, index: Tensor, src: Tensor, include_self: bool) -> Tensor:
    dtype, whole = input.dtype, not (input.is_floating_point() or input.is_complex())
    # Neither a total nor a count need be representable in the narrow dtypes.
    wide = int64 if whole else float32 if input.itemsize == 2 else dtype
    total = _reduced(input.to(wide), dim, index, src.to(wide), "sum", include_self)
    one = f.ones_like(src, dtype=int64)
    count = f.scatter_add(f.full_like(input, int(include_self), dtype=int64), dim, index, one)
    count = count.clamp(min=1)
    return (f.floor_divide(total, count) if whole else total / count.to(wide)).to(dtype)


class _Extremum(Function):
    """The largest or the smallest of those that have one place. All that are equal to it have the
    same part of its gradient; beside a NaN these are the NaNs."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx: Any, input: Tensor, src: Tensor, dim: int, index: Tensor, reduce: str,
                include_self: bool) -> Tensor:  # fmt: skip
        made = _reduced(input, dim, index, src, reduce, include_self)
        own = _same(input, made)
        if not include_self and index.numel():
            own = o.scatter(own, dim, index, False)
        taken = _same(src, f.gather(made, dim, index)) if index.numel() else f.zeros_like(src, dtype=int64)
        count = f.scatter_add(own.to(int64), dim, index, taken.to(int64))
        ctx.dim, ctx.shape = dim, src.shape
        ctx.save_for_backward(own, taken, count, index)
        ctx.save_for_forward(own, taken, count, index)
        return made

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Any, ...]:
        own, taken, count, index = ctx.saved_tensors
        part = _divided(g, count)
        to_src = f.where(taken, f.gather(part, ctx.dim, index), 0.0) if index.numel() else f.zeros(
            ctx.shape, dtype=g.dtype, device=g.device)  # fmt: skip
        return f.where(own, part, 0.0), to_src, None, None, None, None

    @staticmethod
    def jvp(ctx: Any, t: Any, t_src: Any, *unused: None) -> Tensor:
        own, taken, count, index = ctx.saved_tensors
        total = f.zeros(own.shape, dtype=(t_src if t is None else t).dtype, device=own.device)
        if t is not None:
            total = f.where(own, t, 0.0)
        if t_src is not None and index.numel():
            total = f.scatter_add(total, ctx.dim, index, f.where(taken, t_src, 0.0))
        return _divided(total, count)


def _same(x: Tensor, extremum: Tensor) -> Tensor:
    return (x == extremum) | (f.isnan(x) & f.isnan(extremum))


def _divided(x: Tensor, count: Tensor) -> Tensor:
    """In float32 at least: the count need not be a number of 16 bits."""
    wide = float32 if x.itemsize == 2 else x.dtype
    return (x.to(wide) / count.clamp(min=1).to(wide)).to(x.dtype)


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
    _check_dtypes("index_reduce", "source", input, source, reduce)
    place = index.reshape([-1 if d == dim % ndim else 1 for d in range(input.ndim)])
    try:
        return scatter_reduce(input, dim, place.expand(source.shape), source, reduce,
                              include_self=include_self, out=out)  # fmt: skip
    except Error as error:
        rename_error(error, "index_reduce", arguments={"src": (4, "source")})
        raise


for _method in (scatter_reduce, index_reduce):
    setattr(Tensor, _method.__name__, _method)
    setattr(Tensor, _method.__name__ + "_", in_place(_method))

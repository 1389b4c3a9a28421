# SPDX-License-Identifier: Apache-2.0
"""Functions that order, count and select elements, composed of others."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any

from . import _functions as f, _overloads as o, return_types
from ._C import Tensor
from ._cast_operands import in_float32
from ._creation import tensor
from ._dimensions import one_dimension
from ._errors import ArgumentValueError, DtypeError, EmptyError, Error, ShapeError, rename_error
from ._out import both_copied, copied
from ._overloads import arange
from ._types import ValuesIndices, finfo, float32, float64

__all__ = [
    "aminmax", "bincount", "histc", "isin", "median", "mode", "nanmedian", "nanquantile",
    "quantile", "std_mean", "take", "unique", "unique_consecutive", "unravel_index", "var_mean",
]  # fmt: skip


# -- unique elements -------------------------------------------------------------------------------


def _runs(rows: Tensor) -> Tensor:
    """Where rows [n, ...] differ from the row before, as truths [n]."""
    if rows.shape[0] == 1:
        return f.ones((1,), dtype=bool, device=rows.device)
    differs = rows[1:] != rows[:-1]
    if rows.ndim > 1:
        differs = differs.reshape(rows.shape[0] - 1, -1).any(1)
    return f.cat([differs.new_ones((1,)), differs])


def _collected(rows: Tensor, begins: Tensor, inverse: bool, counts: bool) -> list[Any]:
    starts = f.nonzero(begins).flatten()
    ends = f.cat([starts[1:], starts.new_full((1,), rows.shape[0])]) if counts else starts
    return [
        f.index_select(rows, 0, starts),
        f.cumsum(begins, 0) - 1 if inverse else None,
        ends - starts if counts else None,
    ]


def _answer(made: list[Any]) -> Any:
    told = tuple(x for i, x in enumerate(made) if i == 0 or x is not None)
    return told[0] if len(told) == 1 else told


def _of_truths(x: Tensor, inverse: bool, counts: bool) -> list[Any]:
    """unique of bools: True is counted."""
    true = int(f.count_nonzero(x).item())
    there = [n for n in (x.numel() - true, true) if n]
    values = [value for value, n in ((False, x.numel() - true), (True, true)) if n]
    return [
        tensor(values, dtype=x.dtype, device=x.device),
        (x.long() if len(values) == 2 else f.zeros_like(x, dtype=int)) if inverse else None,
        tensor(there, device=x.device) if counts else None,
    ]


def _by_table(x: Tensor, least: int, size: int, inverse: bool, counts: bool) -> list[Any]:
    """unique of integers that are at least `least` and below least + size: which of them occur."""
    key = x.long() - least if least else x.long()
    if counts:
        number = bincount(key, minlength=size)
    else:
        number = key.new_zeros((size,)).index_fill_(0, key, 1)
    at = f.nonzero(number).flatten()
    return [
        (at + least).to(dtype=x.dtype),
        f.index_select(f.cumsum(number != 0, 0) - 1, 0, key) if inverse else None,
        f.index_select(number, 0, at) if counts else None,
    ]


def _extent(x: Tensor) -> tuple[int, int] | None:
    """The least element of integers and how many there are from it to the largest; else None."""
    if x.dtype.name not in ("uint8", "int8", "int16", "int32", "int64"):
        return None
    if x.itemsize == 1:
        return (-128 if x.dtype.name == "int8" else 0), 256
    least = int(f.amin(x).item())
    return least, int(f.amax(x).item()) + 1 - least


def _unique_elements(x: Tensor, inverse: bool, counts: bool) -> list[Any]:
    """Of a vector: by a table where the elements are few different ones at most, else sorted."""
    if x.dtype.name == "bool":
        return _of_truths(x, inverse, counts)
    extent = _extent(x)
    if extent and extent[1] <= 2 * x.numel() + 256:
        return _by_table(x, *extent, inverse, counts)
    if extent and x.itemsize == 8 and -(2**31) <= extent[0] and sum(extent) <= 2**31:
        made = _unique_elements(x.int(), inverse, counts)
        return [made[0].long(), *made[1:]]
    ordered, order = f.sort(x, stable=True)
    return _placed(_collected(ordered, _runs(ordered), inverse, counts), order)


def _placed(made: list[Any], order: Tensor) -> list[Any]:
    """The inverse, which is that of what was ordered, by the places that the elements had."""
    if made[1] is not None:
        made[1] = f.empty_like(order).scatter_(0, order, made[1])
    return made


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """The elements (or slices along dim) that differ from the one before."""
    if dim is not None:
        dim = one_dimension("unique_consecutive", 4, dim, input.ndim)
    x = input.detach()
    rows = x.flatten() if dim is None else f.movedim(x, dim, 0)
    if rows.shape[0] == 0:
        none = rows.new_empty((0,), dtype=int)
        made = [rows.clone(), none if return_inverse else None, none if return_counts else None]
    else:
        made = _collected(rows, _runs(rows), return_inverse, return_counts)
    found, inverse, counts = made
    if dim is None:
        inverse = inverse.reshape(x.shape) if inverse is not None else None
    elif found is not None:
        found = f.movedim(found, 0, dim)
    return _answer([found, inverse, counts])


def _row_order(rows: Tensor) -> Tensor:
    """The lexicographic order of rows: stable sorts by each column, from the last one."""
    flat = rows.reshape(rows.shape[0], -1)
    order = arange(rows.shape[0], device=rows.device)
    for column in reversed(range(flat.shape[1])):
        by = f.argsort(flat[:, column][order], stable=True)
        order = order[by]
    return order


def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """The different elements (or slices along dim), in ascending order; with return_inverse where
    each element went, with return_counts how many went there. NaN differs from NaN."""
    if dim is not None:
        dim = one_dimension("unique", 5, dim, input.ndim)
    x = input.detach()
    rows = x.flatten() if dim is None else f.movedim(x, dim, 0)
    if rows.shape[0] == 0:
        return unique_consecutive(input, return_inverse, return_counts, dim)
    if dim is None:
        made = _unique_elements(rows, return_inverse, return_counts)
        made[1] = made[1].reshape(x.shape) if return_inverse else None
        return _answer(made)
    order = _row_order(rows)
    ordered = f.index_select(rows, 0, order)
    made = _placed(_collected(ordered, _runs(ordered), return_inverse, return_counts), order)
    made[0] = f.movedim(made[0], 0, dim)
    return _answer(made)


# -- quantiles -------------------------------------------------------------------------------------


def _no_nan(input: Tensor) -> Any:
    return f.isnan(input) if input.is_floating_point() else None


def _median(
    name: str, skips: bool, input: Tensor, dim: int | None, keepdim: bool
) -> Tensor | ValuesIndices:
    if dim is None:
        if input.numel() == 0:
            if input.is_floating_point():
                return f.sum(input) + math.nan  # with history
            return f.full((), math.nan, dtype=input.dtype, device=input.device)
        found = _median(name, skips, input.flatten(), 0, False)
        assert not isinstance(found, Tensor)
        return _shared(input, found.values) if input.is_floating_point() else found.values
    dim = one_dimension(name, 2, dim, input.ndim)
    if input.ndim and input.shape[dim] == 0:
        raise EmptyError(f"{name}: argument 2 (dim) is {dim}, of size 0, wanted 1 or more")
    values, places = f.sort(input, dim, stable=True)  # NaN last
    if input.ndim == 0:
        return getattr(return_types, name)(values, places)
    size, nan = input.shape[dim], _no_nan(values)
    at = places.new_full((), (size - 1) // 2).expand([1 if d == dim % input.ndim else n
                                                      for d, n in enumerate(input.shape)])
    if nan is not None:
        count = nan.sum(dim, keepdim=True)
        if skips:
            at = ((size - count - 1).clamp(min=0)) // 2
        else:
            at = f.where(count > 0, (size - count).clamp(max=size - 1), at)
    pair = [f.gather(x, dim, at) for x in (values, places)]
    return getattr(return_types, name)(*(x if keepdim else x.squeeze(dim) for x in pair))


def _shared(input: Tensor, value: Tensor) -> Tensor:
    """value, whose gradient all elements share that are equal to it, as amax's and amin's."""
    there = input.detach() == value.detach()
    there = there | (f.isnan(input.detach()) & f.isnan(value.detach()))
    largest = f.amax(f.where(there, input, -math.inf))
    least = f.amin(f.where(there, input, math.inf))  # for what else is beside it is -infinity
    return f.where(value.detach() == -math.inf, least, largest)


def _or_out(name: str, found: Any, out: Any) -> Any:
    if out is None:
        return found
    return copied(found, out) if isinstance(found, Tensor) else both_copied(name, 4, found, out)


def median(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None
) -> Any:
    """The lower median of all elements, or of those along dim with its index; NaN if one is."""
    return _or_out("median", _median("median", False, input, dim, keepdim), out)


def nanmedian(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None
) -> Any:
    """median of what is no NaN."""
    return _or_out("nanmedian", _median("nanmedian", True, input, dim, keepdim), out)


def mode(
    input: Tensor,
    dim: int = -1,
    keepdim: bool = False,
    *,
    out: tuple[Tensor, Tensor] | None = None,
) -> ValuesIndices:
    """The most frequent value along dim, the least of several, and the index of its last place.

    Example:
        >>> torch.tensor([1, 3, 3, 2]).mode()
        libdl.return_types.mode(
        values=tensor(3),
        indices=tensor(2))
    """
    return _or_out("mode", _mode(input, one_dimension("mode", 2, dim, input.ndim), keepdim), out)


def _mode(input: Tensor, dim: int, keepdim: bool) -> ValuesIndices:
    if input.ndim == 0:
        return return_types.mode(input.clone(), f.zeros((), dtype=int, device=input.device))
    x = f.movedim(input, dim, -1)
    if x.shape[-1] == 0:
        raise EmptyError(f"mode: argument 2 (dim) is {dim}, of size 0, wanted 1 or more")
    values, places = f.sort(x, -1, stable=True)
    size = x.shape[-1]
    step = arange(size, device=x.device)
    fresh = f.cat([step.new_ones((*x.shape[:-1], 1)).bool(), values[..., 1:] != values[..., :-1]],
                  -1)  # fmt: skip
    start = f.cummax(f.where(fresh, step, step.new_zeros(())), -1).values
    length = step - start
    best = length.max(-1, keepdim=True).values
    at = f.argmax((length == best).to(dtype=step.dtype), -1, keepdim=True)
    pair = [f.gather(y, -1, at) for y in (values, places)]
    return return_types.mode(*(f.movedim(y, -1, dim) if keepdim else y.squeeze(-1) for y in pair))


def _quantile(
    name: str, skips: bool, input: Tensor, q: Any, dim: int | None, keepdim: bool,
    interpolation: str,
) -> Tensor:  # fmt: skip
    if not input.is_floating_point():
        raise DtypeError(f"{name}: argument 1 (input) is {input.dtype}, wanted a floating dtype")
    if dim is not None:
        dim = one_dimension(name, 3, dim, input.ndim)
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise ArgumentValueError(f"{name}: interpolation is {interpolation!r}, wanted 'linear', "
                                 "'lower', 'higher', 'midpoint' or 'nearest'")  # fmt: skip
    narrow = input.itemsize == 2
    at = float32 if narrow else input.dtype  # the dtype of places; 16 bits do not hold them
    if isinstance(q, Tensor) and q.dtype not in (input.dtype, at):
        raise DtypeError(f"{name}: argument 2 (q) is {q.dtype}, wanted {input.dtype}")
    points = q.to(at) if isinstance(q, Tensor) else tensor(q, dtype=at, device=input.device)
    unseen = points.is_meta
    if points.ndim > 1 or not (unseen or bool(((points >= 0) & (points <= 1)).all())):
        raise ArgumentValueError(f"{name}: argument 2 (q) wanted 0-d or 1-d, from 0 to 1")
    if input.numel() == 0:
        raise ShapeError(f"{name}: argument 1 (input) has no elements, wanted some")
    x = input.flatten() if dim is None else f.movedim(input, dim, -1) if input.ndim else input
    x = x.reshape(1) if x.ndim == 0 else x
    values = f.sort(x, -1).values
    nan = f.isnan(values)
    count = nan.sum(-1, keepdim=True)
    size = x.shape[-1]
    last = (size - 1 - count).clamp(min=0) if skips else f.full_like(count, size - 1)
    if size > 2**24:  # float32 does not hold all places
        at = float64
    rank = points.flatten().to(at) * last.to(at)  # [.., q]
    if interpolation == "nearest":
        rank = rank.round()
    low, high = rank.floor(), rank.ceil()
    if interpolation == "higher":
        low = high
    below, above = (f.gather(values, -1, r.to(dtype=count.dtype)) for r in (low, high))
    way = {"linear": rank - low, "midpoint": f.full_like(rank, 0.5)}.get(interpolation)
    made = below
    if way is not None:
        wide = float32 if narrow else input.dtype
        made = f.lerp(below.to(wide), above.to(wide), way.to(wide)).to(input.dtype)
    if not skips:
        made = f.where(count > 0, made.new_full((), math.nan), made)
    made = f.movedim(made, -1, 0)  # [q, ..]
    if keepdim:
        ones = made.reshape(-1, *([1] * input.ndim)) if dim is None or not input.ndim else made.unsqueeze(
            dim % input.ndim + 1)  # fmt: skip
        made = ones
    return made if points.ndim else made.squeeze(0)


@in_float32
def quantile(input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *,
             interpolation: str = "linear") -> Tensor:  # fmt: skip
    """The q-th quantiles of all elements or along dim; q, [k], adds a first dimension."""
    return _quantile("quantile", False, input, q, dim, keepdim, interpolation)


@in_float32
def nanquantile(input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *,
                interpolation: str = "linear") -> Tensor:  # fmt: skip
    """quantile of what is no NaN."""
    return _quantile("nanquantile", True, input, q, dim, keepdim, interpolation)


# -- counts and places -----------------------------------------------------------------------------


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each number from 0 occurs in a vector of integers, or the sums of its weights."""
    if input.ndim != 1 or input.is_floating_point() or input.is_complex():
        raise ArgumentValueError(
            f"bincount: argument 1 (input) is {input.dtype} {list(input.shape)}, wanted integers [n]"
        )
    if minlength < 0:
        raise ArgumentValueError(f"bincount: argument 3 (minlength) is {minlength}, wanted 0 or more")
    if weights is not None and weights.shape != input.shape:
        raise ShapeError(f"bincount: argument 2 (weights) has shape {list(weights.shape)}, "
                         f"wanted {list(input.shape)}")  # fmt: skip
    index = input.to(dtype=arange(1).dtype)
    if input.numel() and int(index.min().item()) < 0:
        raise ArgumentValueError("bincount: argument 1 (input) holds a negative number, wanted none")
    size = max(minlength, int(index.max().item()) + 1 if input.numel() else 0)
    if weights is None:
        return index.new_zeros((size,)).index_add_(0, index, f.ones_like(index))
    double = weights if weights.dtype.name == "float32" else weights.double()
    return double.new_zeros((size,)).index_add_(0, index, double.detach())


def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements fall into each of `bins` equal parts of [min, max]; both 0: of all."""
    if input.is_meta:
        return f.empty(bins, dtype=input.dtype, device="meta")
    x = input.detach().flatten()
    if x.is_floating_point() and x.itemsize == 2:
        x = x.to(float32)  # 16 bits do not hold the bins' numbers
        limits = tensor([min, max], dtype=input.dtype).tolist()
        return histc(x, bins, *limits).to(input.dtype)
    low, high = float(min), float(max)
    if low == high == 0 and x.numel():
        low, high = float(x.min().item()), float(x.max().item())
    exact = x.is_floating_point()
    if low == high:
        low, high, exact = low - 1, high + 1, False  # which x's dtype need not hold
    if not (bins > 0 and low < high and math.isfinite(low) and math.isfinite(high)):
        raise ArgumentValueError(
            f"histc: bins is {bins} and the range {low} to {high}, wanted bins above 0 and min < max"
        )
    if not exact or bins * (high - low) > finfo(x.dtype).max:
        x = x.to(float64)
    x = x[(x >= low) & (x <= high)]
    least, most = tensor([low, high], dtype=x.dtype, device=x.device)
    place = ((x - least) * bins / (most - least)).floor().clamp(max=bins - 1)
    return bincount(place.long(), minlength=bins).to(dtype=input.dtype)


def _among(x: Tensor, tests: Tensor) -> Tensor:
    """isin of many tests, by their order."""
    keys = f.sort(tests).values
    if keys.is_floating_point():  # a NaN is among none
        keys = f.sort(f.where(f.isnan(keys), keys[:1], keys)).values
    at = f.searchsorted(keys, x).clamp(max=keys.shape[0] - 1)
    return f.index_select(keys, 0, at.flatten()).reshape(x.shape) == x


def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False,
         invert: bool = False) -> Tensor:  # fmt: skip
    """Whether each element occurs among the test elements."""
    one = elements if isinstance(elements, Tensor) else test_elements
    where = one.device if isinstance(one, Tensor) else None
    x = elements if isinstance(elements, Tensor) else tensor(elements, device=where)
    tests = (test_elements if isinstance(test_elements, Tensor)
             else tensor(test_elements, device=where))  # fmt: skip
    if tests.numel() == 0:
        found = f.zeros(x.shape, dtype=bool, device=x.device)
    elif tests.numel() > 8 and x.dtype is tests.dtype and not x.is_complex():
        found = _among(x, tests.flatten())
    else:
        found = (x.unsqueeze(-1) == tests.flatten()).any(-1)
    return ~found if invert else found


def take(input: Tensor, index: Tensor) -> Tensor:
    """Elements of input read as a vector, in index's shape."""
    try:
        found = f.index_select(input.flatten(), 0, index.flatten())
    except Error as error:
        rename_error(error, "take", arguments={"index": (2, "index")})
        raise
    return found.reshape(index.shape)


def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The coordinates in a tensor of this shape that row-major places have."""
    rest, made = indices, []
    for size in reversed((shape,) if isinstance(shape, int) else tuple(shape)):
        made.append(rest % size)
        rest = rest // size
    return tuple(reversed(made))


# -- pairs ---------------------------------------------------------------------------------------


def var_mean(input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *,
             correction: Any = 1) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Variance and mean."""
    return (o.var(input, dim, unbiased, keepdim, correction=correction),
            f.mean(input, None if isinstance(dim, bool) else dim, keepdim))  # fmt: skip


def std_mean(input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *,
             correction: Any = 1) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Standard deviation and mean."""
    return (o.std(input, dim, unbiased, keepdim, correction=correction),
            f.mean(input, None if isinstance(dim, bool) else dim, keepdim))  # fmt: skip


def aminmax(
    input: Tensor,
    *,
    dim: int | None = None,
    keepdim: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
) -> Any:
    """The least and the greatest element, of all or along dim."""
    if dim is not None:
        dim = one_dimension("aminmax", 2, dim, input.ndim)
    found = return_types.aminmax(f.amin(input, dim, keepdim), f.amax(input, dim, keepdim))
    return _or_out("aminmax", found, out)


for _method in (
    unique, unique_consecutive, median, nanmedian, mode, quantile, nanquantile, bincount, histc,
    take, aminmax,
):  # fmt: skip
    setattr(Tensor, _method.__name__, _method)

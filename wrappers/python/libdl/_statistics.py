# SPDX-License-Identifier: Apache-2.0
"""Statistics that have several signatures, or name their results."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, overload

from . import _C, _functions as f, return_types
from ._C import Tensor, overridable
from ._dimensions import one_dimension, one_or_none
from ._documents import FUNCTIONS
from ._errors import ArgumentValueError, Error, ShapeError, rename_error
from ._out import both_copied, copied, write
from ._types import ValuesIndices

__all__ = [
    "aminmax",
    "histogram",
    "histogramdd",
    "median",
    "mode",
    "nanmedian",
    "nanquantile",
    "quantile",
    "std_mean",
    "var_mean",
]


# -- what the order tells --------------------------------------------------------------------------


if TYPE_CHECKING:

    class _MedianLike(Protocol):
        """The types of median and nanmedian."""

        __name__: str

        @overload
        def __call__(self, input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
        @overload
        def __call__(
            self,
            input: Tensor,
            dim: int,
            keepdim: bool = False,
            *,
            out: tuple[Tensor, Tensor] | None = None,
        ) -> ValuesIndices: ...


def _median_like(name: str) -> _MedianLike:
    whole, along = getattr(_C, name), getattr(_C, f"{name}_dim")
    whole_into, pair = getattr(_C, f"{name}_into"), getattr(return_types, name)

    @overridable
    def median(
        input: Tensor,
        dim: int | None = None,
        keepdim: bool = False,
        *,
        out: Any = None,
    ) -> Tensor | ValuesIndices:
        try:
            if dim is None:
                return whole(input) if out is None else write(whole_into, (input,), out)
            result = pair(*along(input, one_dimension(name, 2, dim, input.ndim), keepdim))
        except Error as error:
            rename_error(error, name, "", {"dst": (4, "out")})
            raise
        return result if out is None else both_copied(name, 4, result, out)

    median.__name__ = median.__qualname__ = name
    median.__doc__ = FUNCTIONS[name]
    return median  # type: ignore[return-value]


median = _median_like("median")
nanmedian = _median_like("nanmedian")


@overridable
def mode(
    input: Tensor,
    dim: int = -1,
    keepdim: bool = False,
    *,
    out: tuple[Tensor, Tensor] | None = None,
) -> ValuesIndices:
    result = f.mode(input, one_dimension("mode", 2, dim, input.ndim), keepdim)
    return result if out is None else both_copied("mode", 4, result, out)


@overridable
def quantile(
    input: Tensor,
    q: float | Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Tensor:
    dim = one_or_none("quantile", 3, dim, input)
    return f.quantile(input, q, dim, keepdim, interpolation=interpolation, out=out)


@overridable
def nanquantile(
    input: Tensor,
    q: float | Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Tensor:
    dim = one_or_none("nanquantile", 3, dim, input)
    return f.nanquantile(input, q, dim, keepdim, interpolation=interpolation, out=out)


# -- pairs ---------------------------------------------------------------------------------------


def _with_mean(name: str) -> Callable[..., tuple[Tensor, Tensor]]:
    generated = getattr(f, name)

    @overridable
    def spread_and_mean(
        input: Tensor,
        dim: int | Sequence[int] | None = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: object = 1,
    ) -> tuple[Tensor, Tensor]:
        if isinstance(dim, bool):  # std_mean(unbiased)
            dim, unbiased = None, dim
        if unbiased is not None:
            correction = int(unbiased)
        return generated(input, dim, correction=correction, keepdim=keepdim)

    spread_and_mean.__name__ = spread_and_mean.__qualname__ = name
    spread_and_mean.__doc__ = generated.__doc__
    return spread_and_mean


var_mean = _with_mean("var_mean")
std_mean = _with_mean("std_mean")


@overridable
def aminmax(
    input: Tensor,
    *,
    dim: int | None = None,
    keepdim: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
) -> return_types.aminmax:
    dim = one_or_none("aminmax", 2, dim, input)
    result = return_types.aminmax(*f.aminmax(input, dim=dim, keepdim=keepdim))
    return result if out is None else both_copied("aminmax", 4, result, out)


# -- histograms ------------------------------------------------------------------------------------


def _limits(x: Tensor) -> tuple[float, float]:
    """What the edges span if nothing is given."""
    if x.numel() == 0:
        return 0.0, 1.0
    low, high = float(x.min().item()), float(x.max().item())
    return (low, high) if low != high else (low - 0.5, high + 0.5)


def _edges(function: str, x: Tensor, bins: Any, range: Any) -> Tensor:
    if isinstance(bins, Tensor):
        if bins.ndim != 1 or bins.numel() < 2 or bins.dtype is not x.dtype:
            raise ShapeError(
                f"{function}: bins are {bins.dtype} of shape {list(bins.shape)}, wanted two or "
                f"more edges of dtype {x.dtype}"
            )
        return bins.detach().clone()
    if bins < 1:
        raise ArgumentValueError(f"{function}: bins is {bins}, wanted 1 or more")
    low, high = map(float, range) if range is not None else _limits(x)
    if low == high:
        low, high = low - 0.5, high + 0.5
    if not (low < high and math.isfinite(low) and math.isfinite(high)):
        raise ArgumentValueError(
            f"{function}: the range is {low} to {high}, wanted finite ascending numbers"
        )
    return f.linspace(low, high, bins + 1, dtype=x.dtype, device=x.device)


def _points(function: str, input: Tensor) -> Tensor:
    if input.dtype.name not in ("float32", "float64"):
        raise NotImplementedError(
            f"{function}: argument 1 (input) is {input.dtype}, wanted float32 or float64"
        )
    return input.detach()


@overridable
def histogram(
    input: Tensor,
    bins: int | Tensor,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
) -> return_types.histogram:
    """How many elements lie in each bin, and the bins' edges. A bin has its left edge, and the last
    one its right edge, too.

    Arguments:
        bins: how many bins of equal width there are, or their edges, ascending, of input's dtype
        range: (the first edge, the last edge); None: the least and the greatest element
        weight: what each element counts, of input's shape; None: 1
        density: whether counts are divided by their sum and by the widths
    """
    try:
        if isinstance(bins, Tensor):
            result, edges = _C.histogram_with_edges(input, bins, weight, density)
        else:
            low, high = (None, None) if range is None else range
            result, edges = _C.histogram(input, bins, low, high, weight, density)
    except Error as error:
        text = {"weight": (4, "weight"), "low": (3, "range"), "high": (3, "range")}
        rename_error(error, "histogram", "", text)
        raise
    if out is not None:
        result, edges = copied(result, out[0]), copied(edges, out[1])
    return return_types.histogram(result, edges)


@overridable
def histogramdd(
    input: Tensor,
    bins: int | Sequence[int] | Sequence[Tensor],
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> return_types.histogramdd:
    """histogram of points, [.., dimensions]: counts with a dimension for each coordinate, and a
    tuple of edges. bins is one number, or a list of a number or of edges for each coordinate; range
    holds two numbers for each."""
    x = _points("histogramdd", input)
    if x.ndim < 2 or not x.shape[-1]:
        raise ShapeError(
            f"histogramdd: argument 1 (input) has shape {list(x.shape)}, wanted [.., dimensions]"
        )
    x = x.reshape(-1, x.shape[-1])
    each = [bins] * x.shape[1] if isinstance(bins, int) else list(bins)
    if len(each) != x.shape[1] or (range is not None and len(range) != 2 * x.shape[1]):
        raise ArgumentValueError(
            f"histogramdd: bins and range are of {len(each)} dimensions, wanted {x.shape[1]}"
        )
    edges = [
        _edges("histogramdd", x[:, d], count, None if range is None else range[2 * d : 2 * d + 2])
        for d, count in enumerate(each)
    ]
    try:
        result = _C.histogramdd(x, edges, weight, density)
    except Error as error:
        rename_error(error, "histogramdd", "", {"weight": (4, "weight")})
        raise
    return return_types.histogramdd(result, tuple(edges))


for _method in (median, nanmedian, mode, quantile, nanquantile, aminmax, histogram):
    setattr(Tensor, _method.__name__, _method)
for _function in (mode, quantile, nanquantile, aminmax):
    _function.__doc__ = getattr(f, _function.__name__).__doc__

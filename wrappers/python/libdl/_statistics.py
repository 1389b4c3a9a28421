# SPDX-License-Identifier: Apache-2.0
"""Histograms of several forms."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from . import _C, _functions as f, return_types
from ._C import Overridden, Tensor, overridable
from ._errors import ArgumentValueError, Error, ShapeError, rename_error
from ._out import copied
from ._overrides import override

__all__ = ["histogram", "histogramdd"]


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
            raise ShapeError(f"{function}: bins are {bins.dtype} of shape {list(bins.shape)}, wanted two or "
                             f"more edges of dtype {x.dtype}")  # fmt: skip
        return bins.detach().clone()
    if bins < 1:
        raise ArgumentValueError(f"{function}: bins is {bins}, wanted 1 or more")
    low, high = map(float, range) if range is not None else _limits(x)
    if low == high:
        low, high = low - 0.5, high + 0.5
    if not (low < high and math.isfinite(low) and math.isfinite(high)):
        raise ArgumentValueError(f"{function}: the range is {low} to {high}, wanted finite ascending numbers")
    return f.linspace(low, high, bins + 1, dtype=x.dtype, device=x.device)


def _points(function: str, input: Tensor) -> Tensor:
    if input.dtype.name not in ("float32", "float64"):
        raise NotImplementedError(f"{function}: argument 1 (input) is {input.dtype}, wanted float32 or float64")
    return input.detach()


@overridable
def histogram(input: Tensor, bins: Any, *, range: Any = None, weight: Tensor | None = None,
              density: bool = False, out: Any = None) -> Any:  # fmt: skip
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
            made, edges = _C.histogram_with_edges(input, bins, weight, density)
        else:
            low, high = (None, None) if range is None else range
            made, edges = _C.histogram(input, bins, low, high, weight, density)
    except Overridden:
        return override(histogram, input, bins, range=range, weight=weight, density=density)
    except Error as error:
        told = {"weight": (4, "weight"), "low": (3, "range"), "high": (3, "range")}
        rename_error(error, "histogram", "", told)
        raise
    if out is not None:
        made, edges = copied(made, out[0]), copied(edges, out[1])
    return return_types.histogram(made, edges)


@overridable
def histogramdd(input: Tensor, bins: Any, range: Sequence[float] | None = None,
                weight: Tensor | None = None, density: bool = False) -> Any:  # fmt: skip
    """histogram of points, [.., dimensions]: counts with a dimension for each coordinate, and a tuple
    of edges. bins is one number, or a list of a number or of edges for each coordinate; range holds
    two numbers for each."""
    x = _points("histogramdd", input)
    if x.ndim < 2 or not x.shape[-1]:
        raise ShapeError(f"histogramdd: argument 1 (input) has shape {list(x.shape)}, wanted [.., dimensions]")
    x = x.reshape(-1, x.shape[-1])
    each = [bins] * x.shape[1] if isinstance(bins, int) else list(bins)
    if len(each) != x.shape[1] or (range is not None and len(range) != 2 * x.shape[1]):
        raise ArgumentValueError(f"histogramdd: bins and range are of {len(each)} dimensions, wanted {x.shape[1]}")
    edges = [_edges("histogramdd", x[:, d], count, None if range is None else range[2 * d : 2 * d + 2])
             for d, count in enumerate(each)]  # fmt: skip
    try:
        made = _C.histogramdd(x, edges, weight, density)
    except Overridden:
        return override(histogramdd, input, bins, range, weight, density)
    except Error as error:
        rename_error(error, "histogramdd", "", {"weight": (4, "weight")})
        raise
    return return_types.histogramdd(made, tuple(edges))


setattr(Tensor, "histogram", histogram)

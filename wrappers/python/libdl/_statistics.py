# SPDX-License-Identifier: Apache-2.0
"""Covariances, histograms, and sums that leave out NaN."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from . import _functions as f, return_types
from ._C import Tensor
from ._errors import ArgumentValueError, DtypeError, ShapeError
from ._out import copied
from ._selection import bincount
from ._types import float32, float64

__all__ = ["corrcoef", "cov", "histogram", "histogramdd", "nanmean", "nansum"]


# -- sums ------------------------------------------------------------------------------------------


def nansum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None,
           out: Tensor | None = None) -> Tensor:  # fmt: skip
    """sum, with NaN as 0."""
    if input.is_complex():
        raise NotImplementedError(f"nansum: argument 1 (input) is {input.dtype}, wanted a real dtype")
    x = input
    if x.is_floating_point():
        x = f.masked_fill(x, f.isnan(x), 0)
    return f.sum(x, dim, keepdim, dtype=dtype, out=out)


def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None,
            out: Tensor | None = None) -> Tensor:  # fmt: skip
    """mean of what is no NaN; NaN if nothing is left."""
    if not input.is_floating_point():
        raise NotImplementedError(f"nanmean: argument 1 (input) is {input.dtype}, wanted a floating dtype")
    count = f.sum(~f.isnan(input), dim, keepdim)
    # The sum need not be finite where the mean is; nor, in 16 bits, need the count.
    wider = {2: float32, 4: float64}.get(input.itemsize)
    if wider is not None and dtype in (None, input.dtype):
        wide = f.div(nansum(input, dim, keepdim, dtype=wider), count)
        return copied(wide.to(input.dtype), out)
    return f.div(nansum(input, dim, keepdim, dtype=dtype), count, out=out)


# -- covariances -----------------------------------------------------------------------------------


def _weights(name: str, weights: Tensor | None, count: int, whole: bool) -> Tensor | None:
    if weights is None:
        return None
    if weights.shape != (count,):
        raise ShapeError(f"cov: argument {name} has shape {list(weights.shape)}, wanted [{count}]")
    if weights.is_complex() or weights.is_floating_point() is whole:
        kind = "integers" if whole else "floating numbers"
        raise DtypeError(f"cov: argument {name} is {weights.dtype}, wanted {kind}")
    if bool((weights < 0).any()):
        raise ArgumentValueError(f"cov: argument {name} holds a negative number, wanted none")
    return weights


def cov(input: Tensor, *, correction: int = 1, fweights: Tensor | None = None,
        aweights: Tensor | None = None) -> Tensor:  # fmt: skip
    """The covariances of variables, the rows of [variables, observations]; of a vector, its variance.

    Arguments:
        correction: what is subtracted from the number of observations
        fweights: how often each observation was made, integers [observations]
        aweights: how much each observation counts, floating numbers [observations]
    """
    if input.dtype.name == "bool":
        raise NotImplementedError("cov: argument 1 (input) is bool, wanted numbers")
    if input.ndim > 2:
        raise ShapeError(f"cov: argument 1 (input) has shape {list(input.shape)}, wanted two dimensions or "
                         "fewer")  # fmt: skip
    narrow = input.is_floating_point() and input.itemsize == 2
    if narrow and (aweights is None or aweights.dtype is input.dtype):  # sums need not be finite there
        much = None if aweights is None else aweights.to(float32)
        wide = cov(input.to(float32), correction=correction, fweights=fweights, aweights=much)
        return wide.to(input.dtype)
    x = input.reshape(1, -1) if input.ndim < 2 else input
    often = _weights("fweights", fweights, x.shape[1], True)
    much = _weights("aweights", aweights, x.shape[1], False)
    weights = much if often is None else often if much is None else often * much
    total: Any = x.shape[1] if weights is None else weights.sum()
    if weights is None:
        centred = x - f.mean(x if x.is_floating_point() or x.is_complex() else x * 1.0, 1, True)
    else:
        centred = x - ((x * weights).sum(1, keepdim=True) / total)
    left = total - correction
    if weights is not None and much is not None and correction:
        left = total - correction * (weights * much).sum() / total
    if bool(left <= 0):
        warnings.warn("cov: there are no more observations than correction says, so the result is not finite",
                      stacklevel=2)  # fmt: skip
        left = 0
    weighted = centred if weights is None else centred * weights.to(dtype=centred.dtype)
    made = centred @ weighted.mT.conj()
    return f.div(made, left).squeeze()


def corrcoef(input: Tensor) -> Tensor:
    """Pearson's correlations of variables, the rows of [variables, observations]: the covariances,
    divided by both standard deviations. The parts of a result lie between -1 and 1."""
    if input.is_floating_point() and input.itemsize == 2:  # a covariance need not be finite there
        return corrcoef(input.to(float32)).to(input.dtype)
    found = cov(input)
    if found.ndim == 0:
        return found / found
    deviation = f.sqrt(f.diagonal(found.real if found.is_complex() else found))
    found = found / deviation.unsqueeze(1) / deviation
    if found.is_complex():
        return f.view_as_complex(f.view_as_real(found).clamp(-1, 1))
    return found.clamp(-1, 1)


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


def _counted(function: str, points: Tensor, edges: list[Tensor], weight: Tensor | None,
             density: bool) -> Tensor:  # fmt: skip
    """How many points [n, dimensions] lie in each cell; the last edges belong to the last cells."""
    sizes = [edge.numel() - 1 for edge in edges]
    place, inside = None, f.ones((points.shape[0],), dtype=bool, device=points.device)
    for d, (edge, size) in enumerate(zip(edges, sizes)):
        x = points[:, d].contiguous()
        at = f.searchsorted(edge, x, right=True) - 1
        at = f.where(x == edge[-1], at.new_full((), size - 1), at)
        inside = inside & (at >= 0) & (at < size) & ~f.isnan(x)
        place = at if place is None else place * size + at
    assert place is not None
    if weight is not None and weight.numel() != place.numel():
        raise ShapeError(f"{function}: argument weight has {weight.numel()} elements, wanted {place.numel()}")
    counts = bincount(place[inside], None if weight is None else weight.reshape(-1)[inside],
                      math.prod(sizes))  # fmt: skip
    made = counts.to(dtype=points.dtype).reshape(sizes)
    if density:
        for d, edge in enumerate(edges):
            made = made / (edge[1:] - edge[:-1]).reshape([-1] + [1] * (len(edges) - 1 - d))
        made = made / counts.sum().to(dtype=points.dtype)
    return made


def _points(function: str, input: Tensor) -> Tensor:
    if input.dtype.name not in ("float32", "float64"):
        raise NotImplementedError(f"{function}: argument 1 (input) is {input.dtype}, wanted float32 or float64")
    return input.detach()


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
    x = _points("histogram", input)
    edge = _edges("histogram", x, bins, range)
    made = _counted("histogram", x.reshape(-1, 1), [edge], weight, density)
    if out is not None:
        made, edge = copied(made, out[0]), copied(edge, out[1])
    return return_types.histogram(made, edge)


def histogramdd(input: Tensor, bins: Any, range: Sequence[float] | None = None,
                weight: Tensor | None = None, density: bool = False) -> Any:  # fmt: skip
    """histogram of points, [.., dimensions]: counts with a dimension for each coordinate, and a tuple
    of edges. bins is one number, or a list of a number or of edges for each coordinate; range holds
    two numbers for each."""
    x = _points("histogramdd", input)
    if x.ndim < 2:
        raise ShapeError(f"histogramdd: argument 1 (input) has shape {list(x.shape)}, wanted [.., dimensions]")
    x = x.reshape(-1, x.shape[-1])
    each = [bins] * x.shape[1] if isinstance(bins, int) else list(bins)
    if len(each) != x.shape[1] or (range is not None and len(range) != 2 * x.shape[1]):
        raise ArgumentValueError(f"histogramdd: bins and range are of {len(each)} dimensions, wanted {x.shape[1]}")
    edges = [_edges("histogramdd", x[:, d], count, None if range is None else range[2 * d : 2 * d + 2])
             for d, count in enumerate(each)]  # fmt: skip
    return return_types.histogramdd(_counted("histogramdd", x, edges, weight, density), tuple(edges))


for _method in (corrcoef, cov, histogram, nanmean, nansum):
    setattr(Tensor, _method.__name__, _method)

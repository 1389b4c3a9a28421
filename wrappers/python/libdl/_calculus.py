# SPDX-License-Identifier: Apache-2.0
"""Differences, slopes and integrals of sampled functions."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _functions as f
from ._C import Tensor
from ._dimensions import one_dimension
from ._errors import ArgumentValueError, IndexRangeError, ShapeError
from ._types import float32

__all__ = ["cumulative_trapezoid", "diff", "gradient", "trapezoid", "trapz"]


def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None,
         append: Tensor | None = None) -> Tensor:  # fmt: skip
    """Differences of neighbours along dim, n times."""
    if input.ndim == 0 or n < 0:
        raise ArgumentValueError("diff: wanted an input with dimensions, and n of 0 or more")
    for place, name, part in ((4, "prepend", prepend), (5, "append", append)):
        if part is not None and not _fits_beside(part, input, dim):
            raise ShapeError(f"diff: argument {place} ({name}) has shape {list(part.shape)}, wanted that of "
                             f"input, {list(input.shape)}, except along dimension {dim}")  # fmt: skip
    if n == 0:
        return input.clone()
    x = f.cat([part for part in (prepend, input, append) if part is not None], dim)
    for _ in range(min(n, x.shape[dim])):
        size = x.shape[dim] - 1
        after, before = f.narrow(x, dim, 1, size), f.narrow(x, dim, 0, size)
        x = after ^ before if x.dtype.name == "bool" else after - before
    return x


def _fits_beside(part: Tensor, x: Tensor, dim: int) -> bool:
    """Whether the shapes differ along dim alone."""
    if part.ndim != x.ndim:
        return False
    return all(d == dim % x.ndim or part.shape[d] == x.shape[d] for d in range(x.ndim))


def _areas(y: Tensor, x: Tensor | None, dx: Any, dim: int) -> Tensor:
    """The areas between neighbours along dim."""
    size = max(y.shape[dim] - 1, 0)
    after, before = f.narrow(y, dim, y.shape[dim] - size, size), f.narrow(y, dim, 0, size)
    means = (after + before) / 2
    if x is None:
        return means * dx
    steps = diff(x, dim=-1 if x.ndim == 1 else dim)
    if x.ndim == 1:
        steps = steps.reshape([-1 if d == dim % y.ndim else 1 for d in range(y.ndim)])
    return means * steps


def _place_of(function: str, y: Tensor, dim: int) -> int:
    """dim, of a function that wants one at least."""
    if y.ndim == 0:
        raise IndexRangeError(f"{function}: argument 1 (y) has no dimensions, wanted 1 or more")
    return one_dimension(function, 4, dim, y.ndim)


def _in_float32(rule: Any, y: Tensor, x: Tensor | None, dx: Any, dim: int) -> Tensor | None:
    """Of 16-bit floats, whose sums need not be finite where the integral is; else None."""
    narrow = y.is_floating_point() and y.itemsize == 2
    if not narrow or (x is not None and x.dtype is not y.dtype):
        return None
    places = None if x is None else x.to(float32)
    made: Tensor = rule(y.to(float32), places, dx=dx, dim=dim)
    return made.to(y.dtype)


def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The integral along dim of a function with values y, at places x or dx apart."""
    dim = _place_of("trapezoid", y, dim)
    wide = _in_float32(trapezoid, y, x, dx, dim)
    if wide is not None:
        return wide
    size = y.shape[dim]
    if x is not None or size == 0:
        return _areas(y, x, dx, dim).sum(dim)
    ends = f.narrow(y, dim, 0, 1) + f.narrow(y, dim, size - 1, 1)
    return (y.sum(dim) - ends.squeeze(dim) / 2) * dx


def trapz(y: Tensor, x: Tensor | None = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """See trapezoid."""
    return trapezoid(y, x, dx=dx, dim=dim)


def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The integrals from the first place to each of the others: one less than y has along dim."""
    dim = _place_of("cumulative_trapezoid", y, dim)
    wide = _in_float32(cumulative_trapezoid, y, x, dx, dim)
    if wide is not None:
        return wide
    return f.cumsum(_areas(y, x, dx, dim), dim)


def gradient(input: Tensor, *, spacing: Any = None, dim: int | Sequence[int] | None = None,
             edge_order: int = 1) -> tuple[Tensor, ...]:  # fmt: skip
    """Slopes of a sampled function along each of dim, by the parabola through a place and its two
    neighbours (B. Fornberg, Generation of finite difference formulas on arbitrarily spaced grids).

    Arguments:
        spacing: the distance of neighbours, one number or one for each dim; or the places, a vector
            for each dim; None: 1
        dim: one dimension or several; None: all
        edge_order: 1: at both ends the line through two places, 2: the parabola through three
    """
    if edge_order not in (1, 2):
        raise ArgumentValueError(f"gradient: argument edge_order is {edge_order}, wanted 1 or 2")
    dims = range(input.ndim) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    for d in dims:
        if not -input.ndim <= d < input.ndim:
            raise IndexRangeError(f"gradient: a dim is {d}, wanted {-input.ndim} to {input.ndim - 1}")
        if [e % input.ndim for e in dims].count(d % input.ndim) > 1:
            raise ArgumentValueError(f"gradient: argument dim is {dims} and names dimension {d % input.ndim} "
                                     "twice, wanted distinct dimensions")  # fmt: skip
        if input.shape[d] <= edge_order:
            raise ShapeError(f"gradient: dimension {d} has size {input.shape[d]}, wanted {edge_order + 1} or "
                             "more")  # fmt: skip
    one = spacing is None or isinstance(spacing, (int, float, complex))
    each = [1 if spacing is None else spacing] * len(dims) if one else list(spacing)
    if len(each) != len(dims):
        raise ArgumentValueError(f"gradient: argument spacing has {len(each)} entries, wanted {len(dims)}")
    x = input if input.is_floating_point() or input.is_complex() else f.mul(input, 1.0)
    return tuple(_slopes(x, d, places, edge_order) for d, places in zip(dims, each))


def _slopes(x: Tensor, dim: int, spacing: Any, edge_order: int) -> Tensor:
    size = x.shape[dim]
    if isinstance(spacing, Tensor):
        if spacing.shape != (size,):
            raise ShapeError(f"gradient: a spacing has shape {list(spacing.shape)}, wanted [{size}]")
        h = diff(spacing)
    else:
        h = f.full((size - 1,), spacing, dtype=x.dtype, device=x.device)
    h = h.reshape([-1 if d == dim % x.ndim else 1 for d in range(x.ndim)])

    def at(place: int, y: Tensor = x) -> Tensor:
        return f.narrow(y, dim, place % y.shape[dim], 1)

    lines = diff(x, dim=dim) / h  # between neighbours
    ends = [at(0, lines), at(-1, lines)]
    if size == 2:
        return f.cat(ends, dim)
    before, after = f.narrow(h, dim, 0, size - 2), f.narrow(h, dim, 1, size - 2)
    left, right = f.narrow(lines, dim, 0, size - 2), f.narrow(lines, dim, 1, size - 2)
    if isinstance(spacing, Tensor):
        inner = (after * left + before * right) / (before + after)
    else:  # without the place itself, which may be infinite
        inner = (f.narrow(x, dim, 2, size - 2) - f.narrow(x, dim, 0, size - 2)) / (before + after)
    if edge_order == 2:  # the parabola's slope changes evenly
        ends = [2 * at(0, left) - at(0, inner), 2 * at(-1, right) - at(-1, inner)]
    return f.cat([ends[0], inner, ends[1]], dim)


setattr(Tensor, "diff", diff)

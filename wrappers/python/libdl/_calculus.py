# SPDX-License-Identifier: Apache-2.0
"""Derivatives and integrals of sampled functions, in the ways that PyTorch calls them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _functions as f
from ._C import Tensor, overridable
from ._creation import tensor
from ._types import complex128, float64

__all__ = ["gradient", "trapz"]


@overridable
def trapz(y: Tensor, x: Tensor | None = None, *, dx: float = 1, dim: int = -1) -> Tensor:
    """See trapezoid."""
    return f.trapezoid(y, x, dx=dx, dim=dim)


@overridable
def gradient(
    input: Tensor,
    *,
    spacing: Any = None,
    dim: int | Sequence[int] | None = None,
    edge_order: int = 1,
) -> tuple[Tensor, ...]:
    """Derivatives of samples along each of dim, by the parabola through a place and its two
    neighbours (B. Fornberg, Generation of finite difference formulas on arbitrarily spaced grids).

    Arguments:
        spacing: the distance of neighbours, one number or one for each dim; or the places, a vector
            for each dim; None: 1
        dim: one dimension or several; None: all
        edge_order: 1: at both ends the line through two places, 2: the parabola through three
    """
    if spacing is None or isinstance(spacing, (int, float, complex)):
        count = input.ndim if dim is None else 1 if isinstance(dim, int) else len(dim)
        spacing = [] if spacing is None else [spacing] * count
    return f.gradient(input, [_distance(x, input) for x in spacing], dim, edge_order)


def _distance(spacing: Any, input: Tensor) -> Tensor:
    """A number as a tensor that holds it exactly."""
    if isinstance(spacing, Tensor):
        return spacing
    dtype = complex128 if isinstance(spacing, complex) else float64
    return tensor(spacing, dtype=dtype, device=input.device)

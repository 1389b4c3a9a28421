# SPDX-License-Identifier: Apache-2.0
"""Cholesky factors and triangular systems, in Python over the operators.

They are for the small matrices of distributions, until the core has linear algebra: a call takes a
few operators for each column, whatever the batch."""

from __future__ import annotations

from .. import cat, eye, stack
from .._C import Tensor
from .._errors import LinAlgError


def cholesky(a: Tensor) -> Tensor:
    """The lower triangular L with L L^T = a, [..., n, n].

    Raises LinAlgError if a matrix is not positive definite. Differentiable any number of times;
    the gradient is symmetric, because that of (a + a^T) / 2 is found.
    """
    factor = _columns(0.5 * (a + a.mT))
    if not _is_finite_factor(factor):
        raise LinAlgError(f"cholesky: a matrix of shape {list(a.shape)} is not positive definite")
    return factor


def is_positive_definite(a: Tensor) -> Tensor:
    """Whether each symmetric matrix of [..., n, n] is positive definite, as bool [...]."""
    pivots = _columns(a.detach()).diagonal(0, -2, -1)
    return (pivots > 0).all(-1)


def _is_finite_factor(factor: Tensor) -> bool:
    return bool((factor.detach().diagonal(0, -2, -1) > 0).all())


def _columns(a: Tensor) -> Tensor:
    """Column by column; from the first pivot on that is not positive, there are NaNs."""
    n = a.shape[-1]
    columns: list[Tensor] = []
    for j in range(n):
        column = a[..., j:, j]
        for known in columns:
            rest = known[..., j:]
            column = column - rest * rest[..., :1]
        column = column / column[..., :1].sqrt()
        zeros = column.new_zeros(column.shape[:-1] + (j,))
        columns.append(cat([zeros, column], -1))
    return stack(columns, -1) if columns else a


def solve_lower(factor: Tensor, b: Tensor) -> Tensor:
    """x with factor x = b; factor is lower triangular [..., n, n], b is [..., n, k].

    The batches broadcast.
    """
    rows: list[Tensor] = []
    for i in range(factor.shape[-1]):
        row = b[..., i, :]
        if rows:
            known = factor[..., i : i + 1, :i] @ stack(rows, -2)
            row = row - known.squeeze(-2)
        rows.append(row / factor[..., i, i].unsqueeze(-1))
    return stack(rows, -2)


def inverse_lower(factor: Tensor) -> Tensor:
    """The inverse of a lower triangular matrix."""
    unit = eye(factor.shape[-1], dtype=factor.dtype, device=factor.device)
    return solve_lower(factor, unit.expand(factor.shape))


def inverse_of(factor: Tensor) -> Tensor:
    """(L L^T)^-1 for the Cholesky factor L."""
    inverse = inverse_lower(factor)
    return inverse.mT @ inverse


def factor_of_inverse(a: Tensor) -> Tensor:
    """The Cholesky factor of a^-1, without the inverse of a.

    With rows and columns reversed, the factor of a is upper triangular, and the inverse of that is
    transposed the lower triangular factor that is wanted.
    """
    reversed_factor = cholesky(a.flip((-2, -1))).flip((-2, -1))
    return inverse_lower(reversed_factor.mT)

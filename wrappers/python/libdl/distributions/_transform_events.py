# SPDX-License-Identifier: Apache-2.0
"""Transforms of vectors and matrices."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import arange, cumsum, eye, finfo
from .._C import Tensor
from ..nn.functional import logsigmoid, pad, softplus
from . import constraints

from ._transform_elements import _Unparametrized
from .utils import tril_matrix_to_vec, vec_to_tril_matrix


class _OfVectors(_Unparametrized):
    def _check(self, shape: Sequence[int], dims: int = 1) -> Any:
        if len(shape) < dims:
            raise ValueError(
                f"{type(self).__name__}: shape is {list(shape)}, wanted {dims} or more dimensions"
            )
        return shape

    def forward_shape(self, shape: Any) -> Any:
        return self._check(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._check(shape)


class SoftmaxTransform(_OfVectors):
    """y = exp(x) / sum(exp(x)); the inverse gives log(y)."""

    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return x.softmax(-1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()


class StickBreakingTransform(_OfVectors):
    """[..., n] to the simplex of [..., n + 1]: x tells what part of the rest each element takes.

    x = 0 takes equal parts, as in Stan's reference manual, "Unit simplex".
    """

    domain, codomain = constraints.real_vector, constraints.simplex
    bijective = True

    def _shifted(self, x: Tensor) -> Tensor:
        left = arange(x.shape[-1], 0, -1, dtype=x.dtype, device=x.device)
        return x - left.log()

    def _call(self, x: Tensor) -> Tensor:
        part = self._shifted(x).sigmoid()
        left = (1 - part).cumprod(-1)
        return pad(part, [0, 1], value=1.0) * pad(left, [1, 0], value=1.0)

    def _inverse(self, y: Tensor) -> Tensor:
        taken = y[..., :-1]
        left = (1 - cumsum(taken, -1)).clamp(min=finfo(y.dtype).tiny)
        count = arange(taken.shape[-1], 0, -1, dtype=y.dtype, device=y.device)
        return taken.log() - left.log() + count.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        # dy_i/dx_i = y_i (1 - part_i), and the matrix is triangular.
        return (logsigmoid(-self._shifted(x)) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        return self._check(shape)[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape: Any) -> Any:
        return self._check(shape)[:-1] + (shape[-1] - 1,)


class LowerCholeskyTransform(_Unparametrized):
    """The lower triangle of a matrix, with the exponential of its diagonal."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(0, -2, -1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(0, -2, -1).log().diag_embed()


class PositiveDefiniteTransform(_Unparametrized):
    """L L^T, where L is the LowerCholeskyTransform of a matrix."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        from ._triangles import cholesky

        return LowerCholeskyTransform().inv(cholesky(y))


class CorrCholeskyTransform(_OfVectors):
    """[..., n (n - 1) / 2] to the Cholesky factors of correlation matrices, [..., n, n].

    The elements' tanh are canonical partial correlations, from which each row is broken like a
    stick; see Lewandowski, Kurowicka, Joe 2009.
    """

    domain, codomain = constraints.real_vector, constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = finfo(x.dtype).eps
        partial = vec_to_tril_matrix(x.tanh().clamp(min=eps - 1, max=1 - eps), diag=-1)
        left = (1 - partial.square()).sqrt().cumprod(-1)
        unit = eye(partial.shape[-1], dtype=x.dtype, device=x.device)
        return (partial + unit) * pad(left[..., :-1], [1, 0], value=1.0)

    def _left(self, y: Tensor) -> Tensor:
        """1 minus the squares of each row up to there."""
        return 1 - cumsum(y.square(), -1)

    def _inverse(self, y: Tensor) -> Tensor:
        before = pad(self._left(y)[..., :-1], [1, 0], value=1.0)
        return (tril_matrix_to_vec(y, -1) / tril_matrix_to_vec(before, -1).sqrt()).atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        rows = self._left(y)
        stick = 0.5 * (tril_matrix_to_vec(rows, -2).log().sum(-1) if y.shape[-1] > 2 else 0.0)
        return stick - 2 * (x + softplus(-2 * x) - math.log(2)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        k = self._check(shape)[-1]
        n = round((1 + math.sqrt(1 + 8 * k)) / 2)
        if n * (n - 1) // 2 != k:
            raise ValueError(f"CorrCholeskyTransform: the last size is {k}, wanted n (n - 1) / 2")
        return shape[:-1] + (n, n)

    def inverse_shape(self, shape: Any) -> Any:
        *_, rows, columns = self._check(shape, 2)
        if rows != columns:
            raise ValueError(f"CorrCholeskyTransform: shape is {list(shape)}, wanted [..., n, n]")
        return shape[:-2] + (rows * (rows - 1) // 2,)

# SPDX-License-Identifier: Apache-2.0
"""The normal distribution of vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import Size, broadcast_shapes, randn
from .._C import Tensor
from . import constraints
from ._triangles import cholesky, factor_of_inverse, inverse_of, solve_lower
from .distribution import Distribution
from .utils import lazy_property

__all__ = ["MultivariateNormal"]


def given_matrix(name: str, matrices: dict[str, Tensor | None]) -> tuple[str, Tensor]:
    """Which of the three matrices is given, and it."""
    arguments = [(key, matrix) for key, matrix in matrices.items() if matrix is not None]
    if len(arguments) != 1:
        raise ValueError(f"{name}: wanted exactly one of {', '.join(matrices)}")
    ((key, matrix),) = arguments
    if matrix.ndim < 2:
        raise ValueError(f"{name}: {key} has {matrix.ndim} dimensions, wanted 2 or more")
    return key, matrix


def factor_of(key: str, matrix: Tensor) -> Tensor:
    """The Cholesky factor of the covariance."""
    if key == "scale_tril":
        return matrix
    return cholesky(matrix) if key == "covariance_matrix" else factor_of_inverse(matrix)


class MultivariateNormal(Distribution):
    """The normal distribution of vectors of n elements.

    Arguments:
        loc: the mean, [..., n]
        covariance_matrix: [..., n, n], positive definite
        precision_matrix: its inverse, instead
        scale_tril: its Cholesky factor, instead
        validate_args: see Distribution

    Factors are found in Python over the operators, which is slow for large n; scale_tril is
    used as it is.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.ndim < 1:
            raise ValueError("MultivariateNormal: loc has no dimension, wanted 1 or more")
        key, matrix = given_matrix(
            "MultivariateNormal",
            {
                "covariance_matrix": covariance_matrix,
                "precision_matrix": precision_matrix,
                "scale_tril": scale_tril,
            },
        )
        batch = Size(broadcast_shapes(matrix.shape[:-2], loc.shape[:-1]))
        setattr(self, key, matrix.expand(batch + matrix.shape[-2:]))
        self.loc = loc.expand(batch + loc.shape[-1:])
        super().__init__(batch, loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = factor_of(key, matrix)

    @lazy_property
    def scale_tril(self) -> Tensor:
        return self._full(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        factor = self._unbroadcasted_scale_tril
        return self._full(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        return self._full(inverse_of(self._unbroadcasted_scale_tril))

    def _full(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + matrix.shape[-2:])

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        rows = self._unbroadcasted_scale_tril.square().sum(-1)
        return rows.expand(self._extended_shape())

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        noise = randn(shape, dtype=self.loc.dtype, device=self.loc.device).unsqueeze(-1)
        return self.loc + (self._unbroadcasted_scale_tril @ noise).squeeze(-1)

    def _half_log_det(self) -> Tensor:
        return self._unbroadcasted_scale_tril.diagonal(0, -2, -1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        z = solve_lower(self._unbroadcasted_scale_tril, (value - self.loc).unsqueeze(-1))
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + z.square().sum((-2, -1))) - self._half_log_det()

    def entropy(self) -> Tensor:
        half = 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi)) + self._half_log_det()
        return half.expand(self._batch_shape)

# SPDX-License-Identifier: Apache-2.0
"""The Wishart distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import Size, arange, broadcast_shapes, nan, randn, where
from .._C import Tensor
from . import constraints
from ._constraint import holds
from ._triangles import cholesky, inverse_of, solve_lower
from .chi2 import Chi2
from .distribution import Distribution
from .multivariate_normal import factor_of, given_matrix
from .utils import broadcast_all, lazy_property

__all__ = ["Wishart"]


class Wishart(Distribution):
    """The distribution of the sum of df products x x^T, where x is normal of mean 0.

    Arguments:
        df: degrees of freedom, [...], above n - 1; it may be a fraction
        covariance_matrix: of x, [..., n, n], positive definite
        precision_matrix: its inverse, instead
        scale_tril: its Cholesky factor, instead
        validate_args: see Distribution

    Factors are found in Python over the operators, which is slow for large n.
    """

    support = constraints.positive_definite
    has_rsample = True

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self._event_shape[-1] - 1),
        }

    def __init__(
        self,
        df: Tensor | float,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        key, matrix = given_matrix(
            "Wishart",
            {
                "covariance_matrix": covariance_matrix,
                "precision_matrix": precision_matrix,
                "scale_tril": scale_tril,
            },
        )
        event = matrix.shape[-2:]
        (count,) = broadcast_all(df)
        if not isinstance(df, Tensor):
            count = count.to(matrix)
        if not holds(count > event[-1] - 1):
            raise ValueError(
                f"Wishart: df is {df!r}, wanted more than {event[-1] - 1}, the rows less 1"
            )
        batch = Size(broadcast_shapes(matrix.shape[:-2], count.shape))
        self.df = count.expand(batch)
        setattr(self, key, matrix.expand(batch + event))
        super().__init__(batch, event, validate_args=validate_args)
        self._unbroadcasted_scale_tril = factor_of(key, matrix)

    def _parts_in_files(self) -> dict[str, Any]:
        from .chi2 import Chi2

        factor = self._unbroadcasted_scale_tril
        rows = arange(self._event_shape[-1], dtype=factor.dtype, device=factor.device)
        counts = self.df.unsqueeze(-1) - rows.expand((*self._batch_shape, -1))
        return {
            "_batch_dims": [-1 - d for d in range(len(self._batch_shape))],
            "_dist_chi2": Chi2(counts, False),
        }

    def _full(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._extended_shape())

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

    def _df(self) -> Tensor:
        return self.df.reshape(self._batch_shape + (1, 1))

    @property
    def mean(self) -> Tensor:
        return self._df() * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """NaN for df <= n + 1."""
        factor = self._df() - self._event_shape[-1] - 1
        return where(factor > 0, factor, nan) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        v = self.covariance_matrix
        diagonal = v.diagonal(0, -2, -1)
        return self._df() * (v.square() + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """By Bartlett's decomposition: L A A^T L^T, with A triangular."""
        shape, n = self._extended_shape(sample_shape), self._event_shape[-1]
        below = randn(shape, dtype=self.df.dtype, device=self.df.device).tril(-1)
        row = arange(n, dtype=self.df.dtype, device=self.df.device)
        squares = Chi2(self.df.unsqueeze(-1) - row, validate_args=False).rsample(sample_shape)
        factor = self._unbroadcasted_scale_tril @ (below + squares.sqrt().diag_embed())
        return factor @ factor.mT

    def _half_log_det(self) -> Tensor:
        return self._unbroadcasted_scale_tril.diagonal(0, -2, -1).log().sum(-1)

    def _halves(self) -> Tensor:
        """(df - row) / 2, [..., n]: the multivariate gamma function's arguments."""
        row = arange(self._event_shape[-1], dtype=self.df.dtype, device=self.df.device)
        return 0.5 * (self.df.unsqueeze(-1) - row)

    def _log_gamma(self) -> Tensor:
        n = self._event_shape[-1]
        return 0.25 * n * (n - 1) * math.log(math.pi) + self._halves().lgamma().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        n, df = self._event_shape[-1], self.df
        factor = cholesky(value)
        log_det = factor.diagonal(0, -2, -1).log().sum(-1)
        # tr(V^-1 X) is the sum of the squares of L^-1 K, where X = K K^T.
        trace = solve_lower(self._unbroadcasted_scale_tril, factor).square().sum((-2, -1))
        normalizer = df * (0.5 * n * math.log(2) + self._half_log_det()) + self._log_gamma()
        return (df - n - 1) * log_det - 0.5 * trace - normalizer

    def entropy(self) -> Tensor:
        n, df = self._event_shape[-1], self.df
        size = (n + 1) * (0.5 * n * math.log(2) + self._half_log_det())
        digamma = self._halves().digamma().sum(-1)
        return size + self._log_gamma() - 0.5 * (df - n - 1) * digamma + 0.5 * n * df

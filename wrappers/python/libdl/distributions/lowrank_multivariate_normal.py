# SPDX-License-Identifier: Apache-2.0
"""The normal distribution of vectors, with a covariance of low rank and a diagonal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import Size, broadcast_shapes, eye, randn
from .._C import Tensor
from . import constraints
from ._triangles import cholesky, solve_lower
from .distribution import Distribution
from .utils import lazy_property

__all__ = ["LowRankMultivariateNormal"]


class LowRankMultivariateNormal(Distribution):
    """The normal distribution of covariance W W^T + D.

    Arguments:
        loc: the mean, [..., n]
        cov_factor: W, [..., n, rank]
        cov_diag: the diagonal of D, [..., n], positive
        validate_args: see Distribution

    log_prob factors a matrix of [rank, rank] alone, by Woodbury's identity.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None
    ) -> None:
        name = type(self).__name__
        if loc.ndim < 1:
            raise ValueError(f"{name}: loc has no dimension, wanted 1 or more")
        event = loc.shape[-1:]
        if cov_factor.ndim < 2 or cov_factor.shape[-2:-1] != event:
            raise ValueError(
                f"{name}: cov_factor has shape {list(cov_factor.shape)}, wanted "
                f"[..., {event[0]}, rank]"
            )
        if cov_diag.shape[-1:] != event:
            raise ValueError(
                f"{name}: cov_diag has shape {list(cov_diag.shape)}, wanted [..., {event[0]}]"
            )
        batch = Size(broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]))
        self.loc, self.cov_diag = loc.expand(batch + event), cov_diag.expand(batch + event)
        self.cov_factor = cov_factor.expand(batch + cov_factor.shape[-2:])
        super().__init__(batch, event, validate_args=validate_args)
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        unit = eye(cov_factor.shape[-1], dtype=loc.dtype, device=loc.device)
        self._capacitance_tril = cholesky(unit + self._scaled() @ cov_factor)

    def _scaled(self) -> Tensor:
        """W^T D^-1."""
        return self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)

    def _full(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._extended_shape() + self._event_shape)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        rows = self._unbroadcasted_cov_factor.square().sum(-1)
        return (rows + self._unbroadcasted_cov_diag).expand(self._extended_shape())

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        w = self._unbroadcasted_cov_factor
        return self._full(w @ w.mT + self._unbroadcasted_cov_diag.diag_embed())

    @lazy_property
    def scale_tril(self) -> Tensor:
        return cholesky(self.covariance_matrix)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        part = solve_lower(self._capacitance_tril, self._scaled())
        diagonal = self._unbroadcasted_cov_diag.reciprocal().diag_embed()
        return self._full(diagonal - part.mT @ part)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        rank = self.cov_factor.shape[-1:]
        options: Any = {"dtype": self.loc.dtype, "device": self.loc.device}
        common = randn(shape[:-1] + rank, **options).unsqueeze(-1)
        own = randn(shape, **options) * self._unbroadcasted_cov_diag.sqrt()
        return self.loc + (self._unbroadcasted_cov_factor @ common).squeeze(-1) + own

    def _log_det(self) -> Tensor:
        of_rank = 2 * self._capacitance_tril.diagonal(0, -2, -1).log().sum(-1)
        return of_rank + self._unbroadcasted_cov_diag.log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        shift = value - self.loc
        plain = (shift.square() / self._unbroadcasted_cov_diag).sum(-1)
        common = solve_lower(self._capacitance_tril, self._scaled() @ shift.unsqueeze(-1))
        distance = plain - common.square().sum((-2, -1))
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + self._log_det() + distance)

    def entropy(self) -> Tensor:
        constant = self._event_shape[0] * (1 + math.log(2 * math.pi))
        return (0.5 * (constant + self._log_det())).expand(self._batch_shape)

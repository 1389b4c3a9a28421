# SPDX-License-Identifier: Apache-2.0
"""The generalized Pareto distribution."""

from __future__ import annotations

from collections.abc import Sequence

from .. import Size, inf, rand, where
from .._C import Tensor
from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """The generalized Pareto distribution, of what lies above the threshold loc.

    Its survival function is (1 + concentration z)^(-1 / concentration), z = (x - loc) / scale, and
    exp(-z) for concentration 0.
    """

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(
        self,
        loc: Tensor | float,
        scale: Tensor | float,
        concentration: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> constraints.Constraint:
        k = self.concentration
        return constraints.interval(self.loc, where(k < 0, self.loc - self.scale / k, inf))

    def _exponential(self) -> tuple[Tensor, Tensor]:
        """Where concentration is nearly 0, and a concentration by which one can divide."""
        near = self.concentration.isclose(self.concentration * 0)
        return near, where(near, 1.0, self.concentration)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        near, k = self._exponential()
        z = (value - self.loc) / self.scale
        return where(near, -z, -(1 + 1 / k) * (k * z).log1p()) - self.scale.log()

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of 1 - cdf."""
        self._check(value)
        near, k = self._exponential()
        z = (value - self.loc) / self.scale
        return where(near, -z, -(k * z).log1p() / k)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of cdf."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        return -self.log_survival_function(value).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        near, k = self._exponential()
        log_survival = (-value).log1p()
        z = where(near, -log_survival, (-k * log_survival).expm1() / k)
        return self.loc + self.scale * z

    @property
    def mean(self) -> Tensor:
        k = self.concentration
        return where(k < 1, self.loc + self.scale / (1 - k), inf)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        k = self.concentration
        return where(k < 0.5, self.scale.square() / ((1 - k).square() * (1 - 2 * k)), inf)

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1

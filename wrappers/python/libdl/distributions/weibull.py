# SPDX-License-Identifier: Apache-2.0
"""The Weibull distribution."""

from __future__ import annotations

from .. import ones_like
from .._C import Tensor
from . import constraints
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """The Weibull distribution: scale * e^(1 / concentration), where e is exponential of rate 1."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(
        self,
        scale: Tensor | float,
        concentration: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(ones_like(self.scale), validate_args=validate_args)
        parts = [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]
        super().__init__(base, parts, validate_args=validate_args)

    def _moment(self, n: int) -> Tensor:
        return self.scale.pow(n) * (1 + n / self.concentration).lgamma().exp()

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        """NaN for concentration < 1: the density has no bound at 0."""
        k = self.concentration
        return self.scale * ((k - 1) / k).pow(1 / k)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self._moment(1).square()

    def entropy(self) -> Tensor:
        k = self.concentration
        return euler_constant * (1 - 1 / k) + (self.scale / k).log() + 1

# SPDX-License-Identifier: Apache-2.0
"""The gamma distribution."""

# mypy: disable-error-code="attr-defined"
from __future__ import annotations

from collections.abc import Sequence

from .. import Size, _standard_gamma, _standard_log_gamma, finfo, float64, igamma
from .._C import Tensor
from . import constraints
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Gamma"]


def log_standard_gamma(concentration: Tensor) -> Tensor:
    """Logarithms of gamma numbers of rate 1 in double precision, for ratios: of a small
    concentration most of the numbers themselves would be 0."""
    return _standard_log_gamma(concentration.to(float64))


class Gamma(ExponentialFamily):
    """The gamma distribution of shape concentration > 0 and rate > 0."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.square()

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        value = _standard_gamma(self.concentration.expand(shape)) / self.rate
        return value.clamp(min=finfo(value.dtype).tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        a, rate = self.concentration, self.rate
        return a.xlogy(rate) + (a - 1).xlogy(value) - rate * value - a.lgamma()

    def cdf(self, value: Tensor) -> Tensor:
        """The incomplete gamma function, which has no derivative by the concentration."""
        self._check(value)
        return igamma(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1 - a) * a.digamma()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return (x + 1).lgamma() - (x + 1) * (-y).log()

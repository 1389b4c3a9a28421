# SPDX-License-Identifier: Apache-2.0
"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import Size, rand, where
from .._C import Tensor
from ..nn.functional import binary_cross_entropy_with_logits
from . import constraints
from ._probabilities import Probabilities
from .exp_family import ExponentialFamily
from .utils import broadcast_all, clamp_probs

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(Probabilities, ExponentialFamily):
    """The distribution of 0 <= x <= 1 with density ~ p^x (1-p)^(1-x).

    Loaiza-Ganem and Cunningham 2019. Its formulas are 0 / 0 at p = 1/2; between the limits lims,
    series in p - 1/2 stand for them.

    Arguments:
        probs, logits: p, or its log-odds
        lims: where the series are used
        validate_args: see Distribution
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        (value,) = self._take(probs, logits)
        self._lims = lims
        super().__init__(value.shape, validate_args=validate_args)
        if probs is not None:
            self.probs = clamp_probs(value)

    def _far(self) -> Tensor:
        """Where the formulas are used."""
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _far_probs(self) -> Tensor:
        """p, or elsewhere a number for which the formulas hold, so that gradients are finite."""
        return where(self._far(), self.probs, self._lims[0])

    def _log_norm(self) -> Tensor:
        """The logarithm of the density's factor, 2 artanh(1 - 2 p) / (1 - 2 p)."""
        p, x = self._far_probs(), (self.probs - 0.5).square()
        exact = ((-p).log1p() - p.log()).abs().log() - (1 - 2 * p).abs().log()
        return where(self._far(), exact, math.log(2) + (4 / 3 + 104 / 45 * x) * x)

    @property
    def mean(self) -> Tensor:
        p, x = self._far_probs(), self.probs - 0.5
        exact = p / (2 * p - 1) + 1 / ((-p).log1p() - p.log())
        return where(self._far(), exact, 0.5 + (1 / 3 + 16 / 45 * x.square()) * x)

    @property
    def variance(self) -> Tensor:
        p, x = self._far_probs(), (self.probs - 0.5).square()
        exact = p * (p - 1) / (1 - 2 * p).square() + 1 / ((-p).log1p() - p.log()).square()
        return where(self._far(), exact, 1 / 12 - (1 / 15 - 128 / 945 * x) * x)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        p = self.probs
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=p.dtype, device=p.device))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        loss = binary_cross_entropy_with_logits(logits, value, reduction="none")
        return self._log_norm() - loss

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        p = self._far_probs()
        exact = (p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1)
        inside = where(self._far(), exact, value)
        return where(value <= 0, 0.0, where(value >= 1, 1.0, inside))

    def icdf(self, value: Tensor) -> Tensor:
        p = self._far_probs()
        other = (-p).log1p()
        exact = ((-p + value * (2 * p - 1)).log1p() - other) / (p.log() - other)
        return where(self._far(), exact, value)

    def entropy(self) -> Tensor:
        failure, success = (-self.probs).log1p(), self.probs.log()
        return self.mean * (failure - success) - self._log_norm() - failure

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        far = (x <= _logit(self._lims[0])) | (x > _logit(self._lims[1]))
        z = where(far, x, _logit(self._lims[0]))
        series = 0.5 * x + x.square() / 24 - x.pow(4) / 2880
        return where(far, z.expm1().abs().log() - z.abs().log(), series)


def _logit(p: float) -> float:
    return math.log(p / (1 - p))

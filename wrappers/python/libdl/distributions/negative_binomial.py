# SPDX-License-Identifier: Apache-2.0
"""The negative binomial distribution."""

from __future__ import annotations

from collections.abc import Sequence

from .. import Size, no_grad, poisson, where
from .._C import Tensor
from ..nn.functional import logsigmoid
from . import constraints
from ._probabilities import Probabilities
from .gamma import Gamma

__all__ = ["NegativeBinomial"]


class NegativeBinomial(Probabilities):
    """How many trials succeed, each with probability probs < 1, before total_count fail.

    total_count >= 0 may be a fraction.
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self,
        total_count: Tensor | float,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        value, count = self._take(probs, logits, total_count)
        self.total_count = count.type_as(value)
        super().__init__(value.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.mean / (-self.logits).sigmoid()

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            rates = Gamma(self.total_count, (-self.logits).exp(), validate_args=False)
            return poisson(rates.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        n = self.total_count
        chances = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        choices = (n + value).lgamma() - (1 + value).lgamma() - n.lgamma()
        # Of 0 trials there is 1 choice, though both lgamma are infinite.
        return chances + where(n + value == 0, 0.0, choices)

# SPDX-License-Identifier: Apache-2.0
"""The binomial distribution."""

from __future__ import annotations

from collections.abc import Sequence

from .. import Size, arange, binomial, no_grad
from .._C import Tensor
from . import constraints
from ._constraint import holds
from ._probabilities import Probabilities

__all__ = ["Binomial"]


class Binomial(Probabilities):
    """How many of total_count trials succeed, each with probability probs."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Tensor | int = 1,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        value, count = self._take(probs, logits, total_count)
        self.total_count = count.type_as(value)
        super().__init__(value.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> constraints.Constraint:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().minimum(self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        n, x = self.total_count, self.logits
        choices = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        # log(1 + exp(x)), which does not overflow
        softplus = x.clamp(min=0) + (-x.abs()).exp().log1p()
        return choices + value * x - n * softplus

    def _one_count(self, requested: str) -> int:
        count = int(self.total_count.max())
        if not holds(self.total_count == count):
            raise NotImplementedError(
                f"Binomial.{requested} needs one total_count for the whole batch"
            )
        return count

    def entropy(self) -> Tensor:
        self._one_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._one_count("enumerate_support")
        p = self._param
        return self._all_values(arange(1 + count, dtype=p.dtype, device=p.device), expand)

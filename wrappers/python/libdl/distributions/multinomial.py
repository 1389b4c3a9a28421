# SPDX-License-Identifier: Apache-2.0
"""The multinomial distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import Size, full, no_grad, ones_like, where
from .._C import Tensor
from . import constraints
from ._over_classes import OverClasses
from .binomial import Binomial
from .utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(OverClasses):
    """How many of total_count draws of a Categorical give each class, [..., n]."""

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("Multinomial: total_count is one number for the whole batch")
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> constraints.Constraint:
        return constraints.multinomial(self.total_count)

    def _parts_in_files(self) -> dict[str, Any]:
        from .binomial import Binomial

        return {**super()._parts_in_files(), "_binomial": Binomial(self.total_count, self.probs)}

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            draws = self._categorical.sample((*sample_shape, self.total_count))
            # The draws' dimension, which lies before the batch, goes to the end.
            draws = draws.movedim(len(sample_shape), -1)
            counts = self.probs.new_zeros(self._extended_shape(sample_shape))
            return counts.scatter_add(-1, draws, ones_like(draws).type_as(counts))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        orders = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        # A class that cannot come, and does not.
        logits = where((value == 0) & (logits == -float("inf")), 0.0, logits)
        return orders + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        """n H(class) - log n! + the means of log(count!), whose counts are binomial."""
        n = full((), self.total_count, dtype=self.probs.dtype, device=self.probs.device)
        counts = Binomial(self.total_count, self.probs, validate_args=False)
        values = counts.enumerate_support(False)[1:]
        weighted = counts.log_prob(values).exp() * (values + 1).lgamma()
        return n * self._categorical.entropy() - (n + 1).lgamma() + weighted.sum((0, -1))

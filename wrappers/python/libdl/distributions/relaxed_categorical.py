# SPDX-License-Identifier: Apache-2.0
"""A continuous relaxation of the categorical distribution."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from collections.abc import Sequence

from .. import Size, rand
from .._C import Tensor
from . import constraints
from ._over_classes import OverClasses
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(OverClasses):
    """The logarithms of RelaxedOneHotCategorical, which computes with them."""

    support = constraints.real_vector  # those whose exp is on the simplex
    has_rsample = True

    def __init__(
        self,
        temperature: Tensor | float,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape, logits = self._extended_shape(sample_shape), self.logits
        u = clamp_probs(rand(shape, dtype=logits.dtype, device=logits.device))
        gumbel = -(-u.log()).log()
        return ((logits + gumbel) / self.temperature).log_softmax(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        n = self._event_shape[0]
        logits, value = broadcast_all(self.logits, value)
        (temperature,) = broadcast_all(self.temperature)
        score = (logits - value * temperature).log_softmax(-1).sum(-1)
        return score + math.lgamma(n) + (n - 1) * temperature.log()


class RelaxedOneHotCategorical(TransformedDistribution):
    """Vectors on the simplex that come near a corner as temperature > 0 falls.

    The Concrete distribution (Maddison, Mnih, Teh 2017), or Gumbel-softmax (Jang, Gu, Poole 2017).

    Arguments:
        temperature: how soft the samples are
        probs, logits: of the classes, as Categorical has them
        validate_args: see Distribution
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex

    def __init__(
        self,
        temperature: Tensor | float,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Tensor:
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        return self.base_dist.probs

# SPDX-License-Identifier: Apache-2.0
"""Distributions of |x|, where x is symmetric about 0."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any

from .. import inf, where, zeros_like
from .._C import Tensor
from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform


class Folded(TransformedDistribution):
    """|x|, where x has the density of `whole`(0, scale)."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    whole: Any

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(
            self.whole(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args
        )

    @property
    def scale(self) -> Tensor:
        return self.base_dist.scale

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        return where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)

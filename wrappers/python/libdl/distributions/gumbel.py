# SPDX-License-Identifier: Apache-2.0
"""The Gumbel distribution."""

from __future__ import annotations

import math

from .. import finfo
from .._C import Tensor
from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """The Gumbel distribution, of the largest of many numbers: loc - scale log(-log u)."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(
        self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = finfo(self.loc.dtype)
        low = self.loc.new_full(self.loc.shape, limits.tiny)
        base = Uniform(low, 1 - limits.eps, validate_args=validate_args)
        log, minus = ExpTransform().inv, AffineTransform(0, -1)
        stretch = AffineTransform(self.loc, -self.scale)
        super().__init__(base, [log, minus, log, stretch], validate_args=validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        z = (self.loc - value) / self.scale
        return z - z.exp() - self.scale.log()

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.square()

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)

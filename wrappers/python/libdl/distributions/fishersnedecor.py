# SPDX-License-Identifier: Apache-2.0
"""The F distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import Size, finfo, nan, where
from .._C import Tensor
from . import constraints
from .distribution import Distribution
from .gamma import log_standard_gamma
from .utils import broadcast_all

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """The F distribution: the ratio of two Chi2 numbers, each divided by its df > 0."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(
        self, df1: Tensor | float, df2: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    def _parts_in_files(self) -> dict[str, Any]:
        from .gamma import Gamma

        halves = {"_gamma1": self.df1, "_gamma2": self.df2}
        return {name: Gamma(0.5 * df, df, False) for name, df in halves.items()}

    @property
    def mean(self) -> Tensor:
        return where(self.df2 > 2, self.df2 / (self.df2 - 2), nan)

    @property
    def mode(self) -> Tensor:
        value = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return where(self.df1 > 2, value, nan)

    @property
    def variance(self) -> Tensor:
        a, b = self.df1, self.df2
        value = 2 * b.square() * (a + b - 2) / (a * (b - 2).square() * (b - 4))
        return where(b > 4, value, nan)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        halves = [0.5 * df.expand(shape) for df in (self.df1, self.df2)]
        above, below = (log_standard_gamma(half) - half.log() for half in halves)
        limits = finfo(self.df1.dtype)
        return (above - below).exp().clamp(limits.tiny, limits.max).to(self.df1.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        a, b, ratio = 0.5 * self.df1, 0.5 * self.df2, self.df1 / self.df2
        normalizer = a.lgamma() + b.lgamma() - (a + b).lgamma()
        return (
            a * ratio.log() + (a - 1) * value.log() - (a + b) * (ratio * value).log1p() - normalizer
        )

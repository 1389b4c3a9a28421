# SPDX-License-Identifier: Apache-2.0
"""Student's t distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import Size, finfo, inf, nan, randn, where
from .._C import Tensor
from . import constraints
from .distribution import Distribution
from .gamma import log_standard_gamma
from .utils import broadcast_all

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t distribution of df > 0 degrees of freedom, times scale, plus loc."""

    arg_constraints = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(
        self,
        df: Tensor | float,
        loc: Tensor | float = 0.0,
        scale: Tensor | float = 1.0,
        validate_args: bool | None = None,
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.shape, validate_args=validate_args)

    def _parts_in_files(self) -> dict[str, Any]:
        from .chi2 import Chi2

        return {"_chi2": Chi2(self.df, False)}

    @property
    def mean(self) -> Tensor:
        return where(self.df > 1, self.loc, nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        above = self.scale.square() * self.df / (self.df - 2)
        return where(self.df > 2, above, where(self.df > 1, inf, nan))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        noise = randn(shape, dtype=self.df.dtype, device=self.df.device)
        half = 0.5 * self.df.expand(shape)
        spread = (0.5 * (half.log() - log_standard_gamma(half))).exp()
        most = finfo(noise.dtype).max
        return self.loc + self.scale * (noise * spread).clamp(-most, most).to(noise.dtype)

    def _log_beta(self) -> Tensor:
        """log B(1/2, df/2)."""
        half = 0.5 * self.df
        return 0.5 * math.log(math.pi) + half.lgamma() - (half + 0.5).lgamma()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        z = (value - self.loc) / self.scale
        normalizer = self.scale.log() + 0.5 * self.df.log() + self._log_beta()
        return -0.5 * (self.df + 1) * (z.square() / self.df).log1p() - normalizer

    def entropy(self) -> Tensor:
        half = 0.5 * (self.df + 1)
        spread = half * (half.digamma() - (half - 0.5).digamma())
        return self.scale.log() + spread + 0.5 * self.df.log() + self._log_beta()

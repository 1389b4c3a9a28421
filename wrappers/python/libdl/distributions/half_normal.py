# SPDX-License-Identifier: Apache-2.0
"""The half-normal distribution."""

from __future__ import annotations

import math

from .._C import Tensor
from ._folded import Folded
from .normal import Normal

__all__ = ["HalfNormal"]


class HalfNormal(Folded):
    """The distribution of |x|, where x is normal with mean 0 and standard deviation scale."""

    whole = Normal

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.square() * (1 - 2 / math.pi)

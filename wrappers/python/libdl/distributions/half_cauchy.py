# SPDX-License-Identifier: Apache-2.0
"""The half-Cauchy distribution."""

from __future__ import annotations

from .. import full_like, inf
from .._C import Tensor
from ._folded import Folded
from .cauchy import Cauchy

__all__ = ["HalfCauchy"]


class HalfCauchy(Folded):
    """The distribution of |x|, where x is Cauchy with median 0 and this scale."""

    whole = Cauchy

    @property
    def mean(self) -> Tensor:
        return full_like(self.scale, inf)

    @property
    def variance(self) -> Tensor:
        return full_like(self.scale, inf)

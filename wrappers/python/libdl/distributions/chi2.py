# SPDX-License-Identifier: Apache-2.0
"""The chi-squared distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from .._C import Tensor
from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The distribution of the sum of the squares of df normal numbers; df > 0 may be a fraction."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        new = super().expand(batch_shape, _instance)
        new.concentration = self.concentration.expand(batch_shape)
        new.rate = self.rate.expand(batch_shape)
        return new

    @property
    def df(self) -> Tensor:
        return self.concentration * 2

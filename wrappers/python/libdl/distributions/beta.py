# SPDX-License-Identifier: Apache-2.0
"""The beta distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import Size, stack
from .._C import Tensor
from . import constraints
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Beta"]


class Beta(ExponentialFamily):
    """The beta distribution of 0 <= x <= 1, of density ~ x^(a - 1) (1 - x)^(b - 1).

    a is concentration1, b is concentration0; both are above 0.
    """

    arg_constraints = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        concentration1: Tensor | float,
        concentration0: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        super().__init__(self.concentration1.shape, validate_args=validate_args)

    def _parts_in_files(self) -> dict[str, Any]:
        return {"_dirichlet": self._dirichlet}

    def __setstate__(self, state: dict[str, Any]) -> None:
        kept = dict(state)
        dirichlet = kept.pop("_dirichlet", None)
        if "concentration1" not in kept:  # PyTorch's
            both = dirichlet.concentration
            kept["concentration1"], kept["concentration0"] = both[..., 0], both[..., 1]
        self.__dict__.update(kept)

    @property
    def _dirichlet(self) -> Dirichlet:
        """The distribution of (x, 1 - x)."""
        both = stack([self.concentration1, self.concentration0], -1)
        return Dirichlet(both, validate_args=False)

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.square() * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self._dirichlet.rsample(sample_shape)[..., 0]

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        return self._dirichlet.log_prob(stack([value, 1 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return x.lgamma() + y.lgamma() - (x + y).lgamma()

# SPDX-License-Identifier: Apache-2.0
"""The geometric distribution."""

from __future__ import annotations

from collections.abc import Sequence

from .. import Size, finfo, no_grad, rand, where, zeros_like
from .._C import Tensor
from ..nn.functional import binary_cross_entropy_with_logits
from . import constraints
from ._constraint import holds
from ._probabilities import Probabilities
from .utils import broadcast_all

__all__ = ["Geometric"]


class Geometric(Probabilities):
    """How many trials fail before the first success, of probability 0 < probs <= 1."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        (value,) = self._take(probs, logits)
        super().__init__(value.shape, validate_args=validate_args)
        if self._validate_args and probs is not None and not holds(value > 0):
            raise ValueError(f"Geometric: probs is {value!r}, wanted numbers above 0")

    @property
    def mean(self) -> Tensor:
        return 1 / self.probs - 1

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            u = rand(shape, dtype=self.probs.dtype, device=self.probs.device)
            u = u.clamp(min=finfo(u.dtype).tiny)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        value, p = broadcast_all(value, self.probs)
        # 0 failures of a sure success: 0 log 0 is 0.
        failing = where((p == 1) & (value == 0), 0.0, p)
        return value * (-failing).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        both = binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return both / self.probs

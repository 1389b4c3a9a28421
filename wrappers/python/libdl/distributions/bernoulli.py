# SPDX-License-Identifier: Apache-2.0
"""The distribution of one success or failure."""

from __future__ import annotations

from collections.abc import Sequence

from .. import Size, arange, bernoulli, broadcast_tensors, no_grad, where
from .._C import Tensor
from ..nn.functional import binary_cross_entropy_with_logits, softplus
from . import constraints
from ._probabilities import Probabilities
from .exp_family import ExponentialFamily

__all__ = ["Bernoulli"]


class Bernoulli(Probabilities, ExponentialFamily):
    """1 with probability probs, else 0; logits are log(probs / (1 - probs))."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(self._take(probs, logits)[0].shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        """NaN where both are equally likely."""
        p = self.probs
        return where(p == 0.5, float("nan"), (p >= 0.5).to(p.dtype))

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            return bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        logits, value = broadcast_tensors(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        p = self._param
        return self._all_values(arange(2, dtype=p.dtype, device=p.device), expand)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return softplus(x)

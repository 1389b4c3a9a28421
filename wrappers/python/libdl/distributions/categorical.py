# SPDX-License-Identifier: Apache-2.0
"""The distribution of one of finitely many classes."""

from __future__ import annotations

from collections.abc import Sequence

from .. import Size, arange, broadcast_shapes, finfo, int64, multinomial, nan, no_grad
from .._C import Tensor
from . import constraints
from ._probabilities import Probabilities

__all__ = ["Categorical"]


class Categorical(Probabilities):
    """A class from 0 to n - 1, of probability probs[..., class].

    Arguments:
        probs: [..., n], not negative; they are divided by their sum
        logits: [..., n], unnormalized logarithms, instead of probs
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _is_binary = False

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        (value,) = self._take(probs, logits)
        if value.ndim < 1:
            raise ValueError(f"Categorical: {self._given} has no dimension, wanted 1 or more")
        if probs is None:
            self.logits = value - value.logsumexp(-1, keepdim=True)
        else:
            self.probs = value / value.sum(-1, keepdim=True)
        self._num_events = value.shape[-1]
        super().__init__(value.shape[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> constraints.Constraint:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        """NaN: classes are no numbers."""
        return self.probs.new_full(self._extended_shape(), nan)

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        """NaN: classes are no numbers."""
        return self.probs.new_full(self._extended_shape(), nan)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = Size(sample_shape)
        with no_grad():
            drawn = multinomial(self.probs.reshape(-1, self._num_events), shape.numel(), True)
            return drawn.T.reshape(self._extended_shape(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        index = value.to(int64).unsqueeze(-1)
        shape = broadcast_shapes(index.shape[:-1], self._batch_shape)
        table = self.logits.expand(shape + (self._num_events,))
        return table.gather(-1, index.expand(shape + (1,))).squeeze(-1)

    def entropy(self) -> Tensor:
        # A class of probability 0 adds 0, though its logarithm may be -inf.
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = arange(self._num_events, dtype=int64, device=self._param.device)
        return self._all_values(values, expand)

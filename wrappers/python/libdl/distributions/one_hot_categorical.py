# SPDX-License-Identifier: Apache-2.0
"""The distribution of one of finitely many classes, as a vector of bits."""

from __future__ import annotations

from collections.abc import Sequence

from .. import Size, eye
from .._C import Tensor
from ..nn.functional import one_hot
from . import constraints
from ._over_classes import OverClasses

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(OverClasses):
    """Categorical, whose values are vectors with a 1 at the class and 0 elsewhere."""

    support = constraints.one_hot
    has_enumerate_support = True

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return self._bits(self._categorical.mode)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def _bits(self, classes: Tensor) -> Tensor:
        return one_hot(classes, self._event_shape[0]).to(self._param.dtype)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self._bits(self._categorical.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self._event_shape[0]
        values = eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.reshape((n,) + (1,) * len(self._batch_shape) + (n,))
        return values.expand((n, *self._batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical, whose samples have the gradient of probs (Bengio et al. 2013)."""

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())

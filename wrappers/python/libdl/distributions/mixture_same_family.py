# SPDX-License-Identifier: Apache-2.0
"""Mixtures of distributions of one type."""

# mypy: disable-error-code="misc"
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from .. import Size, no_grad
from .._C import Tensor
from . import constraints
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A mixture, whose components lie along the last dimension of one distribution's batch.

    Arguments:
        mixture_distribution: a Categorical, of batch_shape [...] or []
        component_distribution: of batch_shape [..., n] for n classes
        validate_args: see Distribution
    """

    arg_constraints: Any = {}

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        mixture, component = mixture_distribution, component_distribution
        if not isinstance(mixture, Categorical):
            raise ValueError(
                f"MixtureSameFamily: mixture_distribution is {mixture!r}, wanted a Categorical"
            )
        if not isinstance(component, Distribution):
            raise ValueError(
                f"MixtureSameFamily: component_distribution is {component!r}, wanted a Distribution"
            )
        # Its repr() shows the logits, too, from now on, as in PyTorch.
        batch, n = component.batch_shape[:-1], mixture.logits.shape[-1]
        for a, b in zip(reversed(mixture.batch_shape), reversed(batch)):
            if a != 1 and b != 1 and a != b:
                raise ValueError(
                    f"MixtureSameFamily: mixture_distribution has batch shape "
                    f"{list(mixture.batch_shape)}, wanted {list(batch)}"
                )
        if not component.batch_shape or component.batch_shape[-1] != n:
            raise ValueError(
                "MixtureSameFamily: component_distribution has batch shape "
                f"{list(component.batch_shape)}, wanted [..., {n}]"
            )
        self._mixture_distribution, self._component_distribution = mixture, component
        self._num_component, self._event_ndims = n, len(component.event_shape)
        super().__init__(batch, component.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        new = super().expand(batch_shape, _instance)
        shape = new._batch_shape
        with_components = shape + (self._num_component,)
        new._component_distribution = self.component_distribution.expand(with_components)
        new._mixture_distribution = self.mixture_distribution.expand(shape)
        return new

    @constraints.dependent_property
    def support(self) -> constraints.Constraint:
        return constraints.MixtureSameFamilyConstraint(self.component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        return self._component_distribution

    def _mixed(self, values: Tensor) -> Tensor:
        """The mean over the components of [..., n, *event_shape]."""
        weights = self.mixture_distribution.probs
        weights = weights.reshape(weights.shape + (1,) * len(self._event_shape))
        return (weights * values).sum(-1 - len(self._event_shape))

    @property
    def mean(self) -> Tensor:
        return self._mixed(self.component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        """The mean of the variances and the variance of the means."""
        means = self.component_distribution.mean
        centre = self.mean.unsqueeze(-1 - len(self._event_shape))
        return self._mixed(self.component_distribution.variance + (means - centre).square())

    def _for_each(self, value: Tensor) -> Tensor:
        return value.unsqueeze(-1 - len(self._event_shape))

    def cdf(self, value: Tensor) -> Tensor:
        result = self.component_distribution.cdf(self._for_each(value))
        return (result * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        result = self.component_distribution.log_prob(self._for_each(value))
        return (result + self.mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            shape = self._extended_shape(sample_shape)
            classes = self.mixture_distribution.expand(self._batch_shape).sample(sample_shape)
            values = self.component_distribution.sample(sample_shape)
            dims = len(self._event_shape)
            index = classes.reshape(classes.shape + (1,) * (dims + 1))
            index = index.expand(classes.shape + (1,) + self._event_shape)
            return values.gather(-1 - dims, index).reshape(shape)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution!r},\n  "
            f"{self.component_distribution!r})"
        )

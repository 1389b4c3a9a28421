# SPDX-License-Identifier: Apache-2.0
"""A distribution of what transforms make of another's values."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from .. import Size, no_grad
from .._C import Tensor
from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform, sum_last, with_events

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of f(x), where x is distributed as base_distribution.

    log_prob(y) is base.log_prob(x) - log |det df/dx|. cdf and icdf need increasing or decreasing
    transforms.

    Arguments:
        base_distribution: the distribution; its batch is expanded, and its last dimensions become
            events, as the transforms need them
        transforms: one or more, the first to apply first
        validate_args: see Distribution
    """

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | Sequence[Transform],
        validate_args: bool | None = None,
    ) -> None:
        arguments = [transforms] if isinstance(transforms, Transform) else transforms
        if not isinstance(arguments, list) or not all(isinstance(t, Transform) for t in arguments):
            raise ValueError(
                f"TransformedDistribution: transforms is {transforms!r}, wanted a "
                "Transform or a list of them"
            )
        self.transforms = arguments
        whole = ComposeTransform(arguments)
        events = len(base_distribution.event_shape)
        shape = base_distribution.batch_shape + base_distribution.event_shape
        expected = whole.domain.event_dim
        if len(shape) < expected:
            raise ValueError(
                f"TransformedDistribution: base_distribution has shape {list(shape)}, "
                f"wanted {expected} or more dimensions"
            )
        after = Size(whole.forward_shape(shape))
        before = Size(whole.inverse_shape(after))
        if before != shape:
            base_distribution = base_distribution.expand(before[: len(before) - events])
        if expected > events:
            base_distribution = Independent(base_distribution, expected - events)
        self.base_dist: Any = base_distribution
        cut = len(after) - whole.codomain.event_dim - max(events - expected, 0)
        super().__init__(after[:cut], after[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        new = super().expand(batch_shape, _instance)
        shape: tuple[int, ...] = new._batch_shape + self._event_shape
        shape = ComposeTransform(self.transforms).inverse_shape(shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        return new

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> constraints.Constraint:
        if not self.transforms:
            return self.base_dist.support
        return with_events(self.transforms[-1].codomain, len(self._event_shape))

    def _forward(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self._forward(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        dims = len(self._event_shape)
        total: Any = 0.0
        for transform in reversed(self.transforms):
            before = transform.inv(value)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            change = transform.log_abs_det_jacobian(before, value)
            total = total - sum_last(change, dims - transform.domain.event_dim)
            value = before
        base = self.base_dist.log_prob(value)
        return total + sum_last(base, dims - len(self.base_dist.event_shape))

    def _turned(self, probability: Tensor) -> Tensor:
        """1 - p if the transforms decrease."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return probability
        return sign * (probability - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._forward(self.base_dist.icdf(self._turned(value)))

# SPDX-License-Identifier: Apache-2.0
"""A distribution whose events are more than one event of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from .. import Size
from .._C import Tensor
from . import constraints
from .transforms import sum_last
from .distribution import Distribution

__all__ = ["Independent"]


class Independent(Distribution):
    """A distribution of which the last dimensions of the batch belong to the event.

    Arguments:
        base_distribution: the distribution
        reinterpreted_batch_ndims: how many dimensions
        validate_args: see Distribution
    """

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        batch = base_distribution.batch_shape
        kept = len(batch) - reinterpreted_batch_ndims
        if kept < 0:
            raise ValueError(
                "Independent: reinterpreted_batch_ndims is "
                f"{reinterpreted_batch_ndims}, wanted at most {len(batch)}, the "
                "dimensions of the batch"
            )
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        events = batch[kept:] + base_distribution.event_shape
        super().__init__(batch[:kept], events, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        new = super().expand(batch_shape, _instance)
        events = self._event_shape[: self.reinterpreted_batch_ndims]
        new.base_dist = self.base_dist.expand(new._batch_shape + events)
        return new

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        return not self.reinterpreted_batch_ndims and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> constraints.Constraint:
        dims = self.reinterpreted_batch_ndims
        base = self.base_dist.support
        return constraints.independent(base, dims) if dims else base

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return sum_last(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return sum_last(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError(
                "Independent: the values of several events are too many to enumerate"
            )
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"

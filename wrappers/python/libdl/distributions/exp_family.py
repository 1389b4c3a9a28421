# SPDX-License-Identifier: Apache-2.0
"""Distributions of the exponential family."""

from __future__ import annotations


from .. import enable_grad, is_grad_enabled
from .._C import Tensor
from ..autograd import grad
from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """p(x) = exp(<t(x), theta> - F(theta) + k(x)).

    A subclass gives theta as _natural_params, F as _log_normalizer(*theta), and the mean of k as
    _mean_carrier_measure. They suffice for entropies and divergences (Nielsen, Nock 2010).
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self._lacks("_natural_params")

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return self._lacks("_log_normalizer")

    @property
    def _mean_carrier_measure(self) -> float:
        return self._lacks("_mean_carrier_measure")

    def _mean_statistics(self) -> tuple[list[Tensor], Tensor, tuple[Tensor, ...]]:
        """theta, F(theta), and the mean of t(x), which is the gradient of F.

        They have history if the parameters have.
        """
        value = self._natural_params
        recorded = is_grad_enabled() and any(p.requires_grad for p in value)
        with enable_grad():
            # Copies, so that none depends on another one.
            theta = [
                p.clone() if recorded and p.requires_grad else p.detach().requires_grad_()
                for p in value
            ]
            normalizer = self._log_normalizer(*theta)
            means = grad(normalizer.sum(), theta, create_graph=recorded)
        if not recorded:
            theta, normalizer = [p.detach() for p in theta], normalizer.detach()
        return theta, normalizer, means

    def entropy(self) -> Tensor:
        """F(theta) - <theta, mean of t(x)> - mean of k(x)."""
        theta, normalizer, means = self._mean_statistics()
        result = normalizer - self._mean_carrier_measure
        for value, mean in zip(theta, means):
            result = result - (value * mean).reshape((*self._batch_shape, -1)).sum(-1)
        return result

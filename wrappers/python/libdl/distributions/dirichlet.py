# SPDX-License-Identifier: Apache-2.0
"""The Dirichlet distribution."""

from __future__ import annotations

from collections.abc import Sequence

from .. import Size, _sample_dirichlet, finfo, where
from .._C import Tensor
from ..nn.functional import one_hot
from . import constraints
from .exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """The Dirichlet distribution on the simplex; concentration > 0 is [..., n]."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise ValueError("Dirichlet: concentration has no dimension, wanted 1 or more")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def mode(self) -> Tensor:
        """Where all concentrations are below 1, one of the corners that have no bound."""
        above = (self.concentration - 1).clamp(min=0)
        inside = above / above.sum(-1, keepdim=True)
        corner = one_hot(above.argmax(-1), above.shape[-1]).to(above.dtype)
        return where((self.concentration < 1).all(-1, keepdim=True), corner, inside)

    @property
    def variance(self) -> Tensor:
        a, total = self.concentration, self.concentration.sum(-1, keepdim=True)
        return a * (total - a) / (total.square() * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        a = self.concentration.expand(self._extended_shape(sample_shape))
        limits = finfo(a.dtype)
        return _sample_dirichlet(a).clamp(min=limits.tiny, max=1 - limits.eps / 2)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        a = self.concentration
        return (a - 1).xlogy(value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Tensor:
        a, total = self.concentration, self.concentration.sum(-1)
        normalizer = a.lgamma().sum(-1) - total.lgamma()
        n = a.shape[-1]
        return normalizer - (n - total) * total.digamma() - ((a - 1) * a.digamma()).sum(-1)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()

# SPDX-License-Identifier: Apache-2.0
"""The von Mises distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import Size, float64, no_grad, rand, where
from .._C import Tensor
from ..special import i0e, i1e
from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["VonMises"]


class VonMises(Distribution):
    """The von Mises distribution of angles, of density ~ exp(concentration cos(x - loc)).

    Samples lie between -pi and pi, and have no gradient.
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(
        self, loc: Tensor | float, concentration: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The circular variance, 1 - I1(k) / I0(k)."""
        return 1 - i1e(self.concentration) / i0e(self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        k = self.concentration
        # log I0(k) is log i0e(k) + k, which does not overflow.
        return k * ((value - self.loc).cos() - 1) - math.log(2 * math.pi) - i0e(k).log()

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """By rejection from a wrapped Cauchy distribution (Best, Fisher 1979), in float64."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            k = self.concentration.to(float64).expand(shape)
            tau = 1 + (1 + 4 * k.square()).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * k)
            # Where k is small, r loses all digits: there it is 1 / k + k.
            r = where(k < 1e-5, 1 / k + k, (1 + rho.square()) / (2 * rho))
            angle, done = k.new_zeros(shape), k.new_zeros(shape) != 0
            while not done.all():
                u = rand((3, *shape), dtype=float64, device=k.device)
                z = (math.pi * u[0]).cos()
                f = ((1 + r * z) / (r + z)).clamp(min=-1, max=1)
                c = k * (r - f)
                accept = (c * (2 - c) > u[1]) | ((c / u[1]).log() + 1 >= c)
                angle = where(~done & accept, (u[2] - 0.5).sign() * f.acos(), angle)
                done = done | accept
            turned = angle.to(self.loc.dtype) + self.loc
            return (turned + math.pi) % (2 * math.pi) - math.pi

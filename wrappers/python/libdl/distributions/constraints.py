# SPDX-License-Identifier: Apache-2.0
"""The sets that parameters and values are taken from.

constraint.check(value) tells for each event whether it belongs to the set. An event takes the last
event_dim dimensions of the value; is_discrete tells whether the set is countable."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any

from .. import finfo as _finfo
from .._C import Tensor
from ._constraint import (
    Constraint as Constraint,
    MixtureSameFamilyConstraint as MixtureSameFamilyConstraint,
    _Cat,
    _Dependent,
    _DependentProperty,
    _IndependentConstraint,
    _Stack,
    holds as _holds,
    is_dependent as is_dependent,
)

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


# -- sets of numbers -------------------------------------------------------------------------------


class _Real(Constraint):
    def check(self, value: Tensor) -> Tensor:
        return value == value  # NaN is none


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _Interval(Constraint):
    def __init__(self, lower_bound: Tensor | float, upper_bound: Tensor | float) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Interval):
    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _IntegerInterval(_Interval):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & super().check(value)


class _GreaterThan(Constraint):
    def __init__(self, lower_bound: Tensor | float) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound < value


class _GreaterThanEq(_GreaterThan):
    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound <= value


class _IntegerGreaterThan(_GreaterThan):
    """Integers from the bound on: the name is PyTorch's."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (self.lower_bound <= value)


class _LessThan(Constraint):
    def __init__(self, upper_bound: Tensor | float) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound


# -- sets of vectors and matrices ------------------------------------------------------------------


class _OneHot(Constraint):
    is_discrete, event_dim = True, 1

    def check(self, value: Tensor) -> Tensor:
        bits = (value == 0) | (value == 1)
        return bits.all(-1) & (value.sum(-1) == 1)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Counts whose sum is the upper bound or, so that samples of each size may be scored, less."""

    is_discrete, event_dim = True, 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    def check(self, value: Tensor) -> Tensor:
        return super().check(value) & (value.diagonal(0, -2, -1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """Cholesky factors of correlation matrices: each row has norm 1."""

    def check(self, value: Tensor) -> Tensor:
        # A row's norm is known to 10 roundings for each element.
        bound = 10 * _finfo(value.dtype).eps * value.shape[-1]
        unit = ((value.square().sum(-1).sqrt() - 1).abs() < bound).all(-1)
        return unit & super().check(value)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return value.new_full(value.shape[:-2], value.shape[-2] == value.shape[-1]) != 0


class _Symmetric(_Square):
    def check(self, value: Tensor) -> Tensor:
        square = super().check(value)
        if not _holds(square):
            return square
        # Products of matrices are symmetric up to rounding.
        return value.isclose(value.mT, atol=1e-6).flatten(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        raise NotImplementedError(
            "positive_semidefinite.check needs eigenvalues, which are not "
            "there yet; positive_definite.check works"
        )


class _PositiveDefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        from ._triangles import is_positive_definite

        symmetric = super().check(value)
        return is_positive_definite(value) if _holds(symmetric) else symmetric


boolean = _Boolean()
cat = _Cat
corr_cholesky = _CorrCholesky()
dependent = _Dependent()
dependent_property = _DependentProperty
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
half_open_interval = _HalfOpenInterval
independent = _IndependentConstraint
integer_interval = _IntegerInterval
interval = _Interval
less_than = _LessThan
lower_cholesky = _LowerCholesky()
lower_triangular = _LowerTriangular()
multinomial = _Multinomial
nonnegative = _GreaterThanEq(0.0)
nonnegative_integer = _IntegerGreaterThan(0)
one_hot = _OneHot()
positive = _GreaterThan(0.0)
positive_definite = _PositiveDefinite()
positive_integer = _IntegerGreaterThan(1)
positive_semidefinite = _PositiveSemidefinite()
real = _Real()
real_vector = independent(real, 1)
simplex = _Simplex()
square = _Square()
stack = _Stack
symmetric = _Symmetric()
unit_interval = _Interval(0.0, 1.0)

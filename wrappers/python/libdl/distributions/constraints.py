# SPDX-License-Identifier: Apache-2.0
"""The sets that parameters and values are taken from.

constraint.check(value) tells for each event whether it belongs to the set. An event takes the last
event_dim dimensions of the value; is_discrete tells whether the set is countable."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import cat as _cat, finfo as _finfo, stack as _stack
from .._C import Tensor

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent",
    "dependent_property", "greater_than", "greater_than_eq", "half_open_interval", "independent",
    "integer_interval", "interval", "is_dependent", "less_than", "lower_cholesky",
    "lower_triangular", "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive",
    "positive_definite", "positive_integer", "positive_semidefinite", "real", "real_vector",
    "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip


class Constraint:
    """A set. A subclass defines check(value), which returns a bool tensor of the batch's shape."""

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} does not define check()")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={bound}" for name, bound in self._bounds().items())
        return f"{type(self).__name__.lstrip('_')}({shown})"

    def _bounds(self) -> dict[str, Any]:
        return {name: v for name, v in vars(self).items() if name.endswith("_bound")}


# -- sets that depend on a distribution's parameters -----------------------------------------------


class _Dependent(Constraint):
    """A set that only an instance of a distribution knows."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        if self._is_discrete is NotImplemented:
            raise NotImplementedError("is_discrete is known only to an instance of the distribution")
        return self._is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        if self._event_dim is NotImplemented:
            raise NotImplementedError("event_dim is known only to an instance of the distribution")
        return self._event_dim

    def __call__(self, *, is_discrete: Any = NotImplemented,
                 event_dim: Any = NotImplemented) -> _Dependent:  # fmt: skip
        """The same, with what is known of it."""
        known = self._is_discrete if is_discrete is NotImplemented else is_discrete
        dims = self._event_dim if event_dim is NotImplemented else event_dim
        return _Dependent(is_discrete=known, event_dim=dims)

    def check(self, value: Tensor) -> Tensor:
        raise ValueError("check: the set depends on a distribution's parameters")

    def __repr__(self) -> str:
        return "Dependent()"


class _DependentProperty(property, _Dependent):
    """A property whose value is a set; on the class itself it tells what is known of all of them."""

    def __init__(self, fn: Callable[..., Any] | None = None, *, is_discrete: Any = NotImplemented,
                 event_dim: Any = NotImplemented) -> None:  # fmt: skip
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Any) -> Any:  # type: ignore[override]
        """As a decorator with arguments."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint: Any) -> bool:
    """Whether the set is known only to an instance of a distribution."""
    return isinstance(constraint, _Dependent)


# -- sets of numbers -------------------------------------------------------------------------------


class _Real(Constraint):
    def check(self, value: Tensor) -> Tensor:
        return value == value  # NaN is none


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _Interval(Constraint):
    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
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
    def __init__(self, lower_bound: Any) -> None:
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
    def __init__(self, upper_bound: Any) -> None:
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
        if not square.all():
            return square
        # Products of matrices are symmetric up to rounding.
        return value.isclose(value.mT, atol=1e-6).flatten(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        raise NotImplementedError("positive_semidefinite.check needs eigenvalues, which are not "
                                  "there yet; positive_definite.check works")  # fmt: skip


class _PositiveDefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        from ._triangles import is_positive_definite

        symmetric = super().check(value)
        return is_positive_definite(value) if symmetric.all() else symmetric


# -- sets made of others ---------------------------------------------------------------------------


class _IndependentConstraint(Constraint):
    """Events of a set, of which the last dimensions of the batch become one event."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        result = self.base_constraint.check(value)
        if result.ndim < self.reinterpreted_batch_ndims:
            raise ValueError(f"check: the value has {value.ndim} dimensions, wanted "
                             f"{self.event_dim} or more")  # fmt: skip
        kept = result.shape[: result.ndim - self.reinterpreted_batch_ndims]
        return result.reshape(kept + (-1,)).all(-1)

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """What the components of a mixture may give; the value lacks the components' dimension."""

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return self.base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        found = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        if value.ndim < self.event_dim:
            raise ValueError(f"check: the value has {value.ndim} dimensions, wanted "
                             f"{self.event_dim} or more")  # fmt: skip
        return found.all(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


class _Cat(Constraint):
    """Parts of given lengths along one dimension, each of a set of its own."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0,
                 lengths: Sequence[int] | None = None) -> None:  # fmt: skip
        self.cseq, self.dim = list(cseq), dim
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise ValueError(f"cat: {len(self.lengths)} lengths, wanted {len(self.cseq)}")

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        parts = value.split(self.lengths, self.dim)
        return _cat([c.check(v) for c, v in zip(self.cseq, parts)], self.dim)


class _Stack(Constraint):
    """Slices of one dimension, each of a set of its own."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Tensor) -> Tensor:
        slices = value.unbind(self.dim)
        return _stack([c.check(v) for c, v in zip(self.cseq, slices)], self.dim)


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

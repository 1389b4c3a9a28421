# SPDX-License-Identifier: Apache-2.0
"""The base of all constraints, those that depend on parameters, and those made of others."""

# What depends on parameters is a property where the base declares an attribute, as in PyTorch.
# mypy: disable-error-code="no-any-return,override"
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import cat, stack
from .._C import Tensor
from .._vmap_levels import core


def holds(value: Tensor) -> bool:
    """Whether a condition holds for all elements; under vmap, of all samples."""
    return bool(core(value).all())


class Constraint:
    """A set. A subclass defines check(value), which returns a bool tensor of the batch's shape."""

    is_discrete: bool = False
    event_dim: int = 0

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

    def __init__(
        self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        if self._is_discrete is NotImplemented:
            raise NotImplementedError("is_discrete: only an instance of the distribution knows")
        return self._is_discrete

    @property
    def event_dim(self) -> int:
        if self._event_dim is NotImplemented:
            raise NotImplementedError("event_dim: only an instance of the distribution knows")
        return self._event_dim

    def __call__(
        self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> _Dependent:
        """The same, with what is known of it."""
        known = self._is_discrete if is_discrete is NotImplemented else is_discrete
        dims = self._event_dim if event_dim is NotImplemented else event_dim
        return _Dependent(is_discrete=known, event_dim=dims)

    def check(self, value: Tensor) -> Tensor:
        raise ValueError("check: the set depends on a distribution's parameters")

    def __repr__(self) -> str:
        return "Dependent()"


class _DependentProperty(property, _Dependent):
    """A property whose value is a set; on the class itself it tells what all have in common."""

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Callable[..., Any]) -> _DependentProperty:
        """As a decorator with arguments."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint: object) -> bool:
    """Whether the set is known only to an instance of a distribution."""
    return isinstance(constraint, _Dependent)


# -- sets made of others ---------------------------------------------------------------------------


class _IndependentConstraint(Constraint):
    """Events of a set, of which the last dimensions of the batch become one event."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        result = self.base_constraint.check(value)
        if result.ndim < self.reinterpreted_batch_ndims:
            raise ValueError(
                f"check: the value has {value.ndim} dimensions, wanted {self.event_dim} or more"
            )
        kept = result.shape[: result.ndim - self.reinterpreted_batch_ndims]
        return result.reshape(kept + (-1,)).all(-1)

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """What the components of a mixture may give; the value lacks the components' dimension."""

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        if value.ndim < self.event_dim:
            raise ValueError(
                f"check: the value has {value.ndim} dimensions, wanted {self.event_dim} or more"
            )
        return result.all(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


class _Cat(Constraint):
    """Parts of given lengths along one dimension, each of a set of its own."""

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        self.cseq, self.dim = list(cseq), dim
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise ValueError(f"cat: {len(self.lengths)} lengths, wanted {len(self.cseq)}")

    @property
    def is_discrete(self) -> bool:
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> int:
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        parts = value.split(self.lengths, self.dim)
        return cat([c.check(v) for c, v in zip(self.cseq, parts)], self.dim)


class _Stack(Constraint):
    """Slices of one dimension, each of a set of its own."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self) -> bool:
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> int:
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Tensor) -> Tensor:
        slices = value.unbind(self.dim)
        return stack([c.check(v) for c, v in zip(self.cseq, slices)], self.dim)

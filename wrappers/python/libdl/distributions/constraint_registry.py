# SPDX-License-Identifier: Apache-2.0
"""From unconstrained numbers to a constraint's set: biject_to(c) and transform_to(c).

Both return a transform from real numbers to the set. That of biject_to is bijective, so that
densities can be transformed; that of transform_to may be simpler, for optimizers."""

# mypy: disable-error-code="untyped-decorator"
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from . import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


F = TypeVar("F", bound=Callable[[Any], transforms.Transform])


class ConstraintRegistry:
    """A function from constraints to transforms, by the constraint's type."""

    def __init__(self) -> None:
        self._factories: dict[type, Callable[[Any], transforms.Transform]] = {}

    def register(
        self,
        constraint: type[constraints.Constraint] | constraints.Constraint,
        factory: Callable[[Any], transforms.Transform] | None = None,
    ) -> Any:
        """Registers factory(constraint) for a type, or an instance's type; a decorator, too."""
        if factory is None:
            return lambda inputs: self.register(constraint, inputs)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not (isinstance(kind, type) and issubclass(kind, constraints.Constraint)):
            raise TypeError(f"register: constraint is {constraint!r}, wanted a Constraint")
        self._factories[kind] = factory
        return factory

    def __call__(self, constraint: constraints.Constraint) -> transforms.Transform:
        """The transform to the constraint's set, or NotImplementedError."""
        factory = self._factories.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"no transform to {constraint!r} is registered")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _register(
    *kinds: type[constraints.Constraint] | constraints.Constraint, bijective: bool = True
) -> Callable[[F], F]:
    """Registers with both, or with transform_to alone."""

    def decorate(factory: F) -> F:
        for registry in (biject_to, transform_to) if bijective else (transform_to,):
            for kind in kinds:
                registry.register(kind, factory)
        return factory

    return decorate


@_register(constraints.real)
def _real(constraint: object) -> transforms.Transform:
    return transforms.identity_transform


@biject_to.register(constraints.independent)
def _independent(constraint: Any) -> transforms.Transform:
    base = biject_to(constraint.base_constraint)
    return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)


@transform_to.register(constraints.independent)
def _independent_simple(constraint: Any) -> transforms.Transform:
    base = transform_to(constraint.base_constraint)
    return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)


@_register(constraints.greater_than, constraints.greater_than_eq)
def _above(constraint: Any) -> transforms.Transform:
    shift = transforms.AffineTransform(constraint.lower_bound, 1)
    return transforms.ComposeTransform([transforms.ExpTransform(), shift])


@_register(constraints.less_than)
def _below(constraint: Any) -> transforms.Transform:
    mirror = transforms.AffineTransform(constraint.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), mirror])


@_register(constraints.interval, constraints.half_open_interval)
def _between(constraint: Any) -> transforms.Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    stretch = transforms.AffineTransform(low, high - low)
    return transforms.ComposeTransform([transforms.SigmoidTransform(), stretch])


@biject_to.register(constraints.simplex)
def _simplex(constraint: object) -> transforms.Transform:
    return transforms.StickBreakingTransform()


@transform_to.register(constraints.simplex)
def _simplex_simple(constraint: object) -> transforms.Transform:
    return transforms.SoftmaxTransform()


@_register(constraints.lower_cholesky, bijective=False)
def _lower_cholesky(constraint: object) -> transforms.Transform:
    return transforms.LowerCholeskyTransform()


@_register(constraints.positive_definite, constraints.positive_semidefinite, bijective=False)
def _positive_definite(constraint: object) -> transforms.Transform:
    return transforms.PositiveDefiniteTransform()


@_register(constraints.corr_cholesky)
def _corr_cholesky(constraint: object) -> transforms.Transform:
    return transforms.CorrCholeskyTransform()


@biject_to.register(constraints.cat)
def _cat(constraint: Any) -> transforms.Transform:
    parts = [biject_to(c) for c in constraint.cseq]
    return transforms.CatTransform(parts, constraint.dim, constraint.lengths)


@transform_to.register(constraints.cat)
def _cat_simple(constraint: Any) -> transforms.Transform:
    parts = [transform_to(c) for c in constraint.cseq]
    return transforms.CatTransform(parts, constraint.dim, constraint.lengths)


@biject_to.register(constraints.stack)
def _stack(constraint: Any) -> transforms.Transform:
    return transforms.StackTransform([biject_to(c) for c in constraint.cseq], constraint.dim)


@transform_to.register(constraints.stack)
def _stack_simple(constraint: Any) -> transforms.Transform:
    return transforms.StackTransform([transform_to(c) for c in constraint.cseq], constraint.dim)

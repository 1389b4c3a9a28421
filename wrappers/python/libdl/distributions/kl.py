# SPDX-License-Identifier: Apache-2.0
"""Kullback-Leibler divergences, by the types of the two distributions."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from .._C import Tensor
from .distribution import Distribution

__all__ = ["kl_divergence", "register_kl"]

_Rule = TypeVar("_Rule", bound=Callable[..., Any])
_registered: dict[tuple[type, type], Callable[..., Any]] = {}
# The rule found for each pair of types that was asked for.
_found: dict[tuple[type, type], Callable[..., Any] | None] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[_Rule], _Rule]:
    """Decorates the function (p, q) -> KL(p || q) for these classes, of distributions or others
    that stand for them, and their subclasses."""
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type):
            raise TypeError(f"register_kl: {name} is {given!r}, wanted a class")

    def register(rule: _Rule) -> _Rule:
        _registered[type_p, type_q] = rule
        _found.clear()
        return rule

    return register


def _rule_for(type_p: type, type_q: type) -> Callable[..., Any] | None:
    """The rule of the nearest base of p; rules that are the nearest of q only are ambiguous."""
    pairs = [(p, q) for p, q in _registered if issubclass(type_p, p) and issubclass(type_q, q)]
    if not pairs:
        return None

    def depth(pair: tuple[type, type]) -> tuple[int, int]:
        return type_p.__mro__.index(pair[0]), type_q.__mro__.index(pair[1])

    by_p = min(pairs, key=depth)
    by_q = min(pairs, key=lambda pair: depth(pair)[::-1])
    if _registered[by_p] is not _registered[by_q]:
        warnings.warn(
            f"kl_divergence({type_p.__name__}, {type_q.__name__}) is ambiguous: "
            f"register ({by_p[0].__name__}, {by_q[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _registered[by_p]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """KL(p || q), the mean of log p(x) - log q(x) under p, of shape batch_shape.

    Raises NotImplementedError if no rule is known for the two types.
    """
    types = type(p), type(q)
    if types not in _found:
        _found[types] = _rule_for(*types)
    rule = _found[types]
    if rule is None:
        raise NotImplementedError(
            f"kl_divergence: no rule for p of type {types[0].__name__} and "
            f"q of type {types[1].__name__}; see register_kl"
        )
    return rule(p, q)

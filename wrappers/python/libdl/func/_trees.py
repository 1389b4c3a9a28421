# SPDX-License-Identifier: Apache-2.0
"""Trees of tensors, and the arguments to differentiate by."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .. import _C
from .._C import Tensor
from .._vmap_levels import Batched
from ..nn.parameter import Parameter
from ..utils import _pytree as pytree

Argnums = int | tuple[int, ...]


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """The same structure with function(leaf) for each leaf; None stays."""
    return pytree.tree_map(lambda leaf: None if leaf is None else function(leaf), tree)


def leaves_of(tree: Any) -> list[Any]:
    """The leaves of the structure, in order, without None."""
    return [leaf for leaf in pytree.tree_leaves(tree) if leaf is not None]


def rebuilt(tree: Any, values: Iterable[Any]) -> Any:
    """The structure of the tree with other leaves."""
    queue = iter(values)
    return mapped(lambda _: next(queue), tree)


def plain(x: Any) -> Any:
    """The tensor without the class that a program gave it: inside and behind a transform there are
    ordinary tensors. What is of no such class comes back as it is."""
    if type(x) in _ORDINARY or not isinstance(x, Tensor) or type(x) is Parameter:
        return x
    return _C.as_subclass(x, Tensor)


_ORDINARY = (Tensor, Batched)


def all_plain(tree: Any) -> Any:
    """The structure with ordinary tensors; itself, if it has no others."""
    leaves = pytree.tree_leaves(tree)
    results = [plain(leaf) for leaf in leaves]
    if all(new is old for new, old in zip(results, leaves, strict=True)):
        return tree
    return pytree.tree_map(plain, tree)


class _Leaf:
    def __repr__(self) -> str:
        return "*"


def shape_of(tree: Any) -> str:
    """The structure as text: (*, [*])."""
    return repr(mapped(lambda _: _Leaf(), tree))


def tensors_of(name: str, tree: Any) -> list[Tensor]:
    """The leaves of an argument to differentiate by: all must be tensors."""
    result = leaves_of(tree)
    for leaf in result:
        if not isinstance(leaf, Tensor):
            raise ValueError(f"{name}: an input is a {type(leaf).__name__}, wanted tensors")
    return result


def outputs_of(name: str, tree: Any) -> list[Tensor]:
    """The leaves of a function's result: tensors, at least one."""
    result = leaves_of(tree)
    for leaf in result:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{name}: the function gave a {type(leaf).__name__}, wanted only tensors"
            )
    if not result:
        raise RuntimeError(f"{name}: the function gave no tensor")
    return result


def with_aux(name: str, answer: Any, has_aux: bool) -> tuple[Any, Any]:
    """Output and auxiliary output."""
    if not has_aux:
        return answer, None
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise RuntimeError(f"{name}: with has_aux the function must give a tuple (output, aux)")
    return answer


def chosen(name: str, argnums: Argnums, args: tuple[Any, ...]) -> Any:
    """The arguments to differentiate by: one, or a tuple of them."""
    if isinstance(argnums, int):
        return args[checked(name, argnums, args)]
    if not isinstance(argnums, tuple) or not all(isinstance(n, int) for n in argnums):
        raise RuntimeError(f"{name}: argnums is {argnums!r}, wanted an int or a tuple of ints")
    places = [checked(name, n, args) for n in argnums]
    if not places or len(set(places)) < len(places):
        raise RuntimeError(f"{name}: argnums is {argnums!r}, wanted distinct arguments")
    return tuple(args[n] for n in places)


def checked(name: str, argnum: int, args: tuple[Any, ...]) -> int:
    """The argument's place, counted from 0."""
    if not -len(args) <= argnum < len(args):
        raise RuntimeError(
            f"{name}: argnums has {argnum}, but there are {len(args)} positional arguments"
        )
    return argnum % len(args)


def replaced(argnums: Argnums, args: tuple[Any, ...], values: Any) -> tuple[Any, ...]:
    """The arguments with the chosen ones replaced."""
    arguments = list(args)
    if isinstance(argnums, int):
        arguments[argnums] = values
        return tuple(arguments)
    for n, value in zip(argnums, values, strict=True):
        arguments[n] = value
    return tuple(arguments)

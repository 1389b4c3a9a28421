# SPDX-License-Identifier: Apache-2.0
"""Derivatives as functions of functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _functions as F, autograd
from ._C import Tensor
from .autograd import forward_ad

__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp"]


def _map(function: Callable[[Tensor], Any], tree: Any) -> Any:
    if isinstance(tree, Tensor):
        return function(tree)
    if isinstance(tree, dict):
        return {key: _map(function, value) for key, value in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(_map(function, value) for value in tree))
    if isinstance(tree, (tuple, list)):
        return type(tree)(_map(function, value) for value in tree)
    return tree


def _leaves(tree: Any) -> list[Tensor]:
    found: list[Tensor] = []
    _map(found.append, tree)
    return found


def _rebuild(tree: Any, values: Any) -> Any:
    queue = iter(values)
    return _map(lambda _: next(queue), tree)


def _fresh(x: Tensor) -> Tensor:
    # An alias with its own history keeps outer derivatives going.
    return x.view(x.shape) if x.requires_grad else x.detach().requires_grad_()


def _zeros(outputs: list[Tensor], inputs: list[Tensor], weights: Any, create: bool) -> Any:
    used = [(o, w) for o, w in zip(outputs, weights, strict=True) if o.requires_grad]
    if not used:
        return tuple(F.zeros_like(x) for x in inputs)
    return autograd.grad(
        [o for o, _ in used], inputs, [w for _, w in used], create_graph=create,
        retain_graph=True, allow_unused=True, materialize_grads=True,
    )  # fmt: skip


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that gives the gradient with respect to some arguments, and func's value."""

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        wanted = (argnums,) if isinstance(argnums, int) else argnums
        outer = any(x.requires_grad for n in wanted for x in _leaves(args[n]))
        given = list(args)
        for n in wanted:
            given[n] = _map(_fresh, args[n])
        value = func(*given, **kwargs)
        value, aux = value if has_aux else (value, None)
        if not isinstance(value, Tensor) or value.ndim != 0:
            raise RuntimeError(f"grad: the function must give a 0-d tensor, found {value!r}")
        inputs = [x for n in wanted for x in _leaves(given[n])]
        found = iter(_zeros([value], inputs, [F.ones_like(value)], True))
        trees = tuple(_rebuild(args[n], found) for n in wanted)
        if not outer:
            trees = tuple(_map(Tensor.detach, tree) for tree in trees)
            value = value.detach()
        answer = trees[0] if isinstance(argnums, int) else trees
        return (answer, (value, aux)) if has_aux else (answer, value)

    return differentiated


def grad(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that gives the gradient of func with respect to some arguments."""
    both = grad_and_value(func, argnums, has_aux)

    def gradient(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """func(*primals), and a function from the outputs' gradients to those of the primals."""
    given = _map(_fresh, primals)
    output = func(*given)
    output, aux = output if has_aux else (output, None)
    outputs, inputs = _leaves(output), _leaves(given)

    def pull(*weights: Any) -> Any:
        found = _zeros(outputs, inputs, _leaves(weights), True)
        trees = _rebuild(primals, found)
        outer = any(w.requires_grad for w in _leaves(weights))
        if not outer:
            trees = _map(Tensor.detach, trees)
        return trees

    plain = _map(Tensor.detach, output)
    return (plain, pull, aux) if has_aux else (plain, pull)


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, has_aux: bool = False) -> Any:
    """func(*primals), and the Jacobian times the tangents, by forward mode."""
    with forward_ad.dual_level():
        queue = iter(_leaves(tangents))
        duals = _map(lambda x: forward_ad.make_dual(x, next(queue)), tuple(primals))
        output = func(*duals)
        output, aux = output if has_aux else (output, None)
        primal = _map(lambda x: forward_ad.unpack_dual(x).primal, output)

        def tangent_of(x: Tensor) -> Tensor:
            found = forward_ad.unpack_dual(x)
            return F.zeros_like(found.primal) if found.tangent is None else found.tangent

        tangent = _map(tangent_of, output)
    return (primal, tangent, aux) if has_aux else (primal, tangent)


def jacrev(func: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The Jacobian by reverse mode, row by row."""

    def jacobian(*args: Any) -> Any:
        def partial(x: Tensor) -> Any:
            return func(*args[:argnums], x, *args[argnums + 1 :])

        outer = args[argnums].requires_grad
        return autograd.functional.jacobian(partial, args[argnums], create_graph=outer)

    return jacobian


def jacfwd(func: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The Jacobian by forward mode, column by column."""

    def jacobian(*args: Any) -> Any:
        x = args[argnums]
        columns = []
        for i in range(x.numel()):
            direction = F.zeros_like(x).reshape(-1)
            direction[i] = 1
            _, column = jvp(
                lambda y: func(*args[:argnums], y, *args[argnums + 1 :]),
                (x,), (direction.view(x.shape),),
            )  # fmt: skip
            columns.append(column)
        stacked = F.stack(columns, dim=-1)
        return stacked.view(*columns[0].shape, *x.shape)

    return jacobian


def hessian(func: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The second derivatives of a function that gives one number."""

    def second(*args: Any) -> Any:
        def partial(x: Tensor) -> Any:
            return func(*args[:argnums], x, *args[argnums + 1 :])

        return autograd.functional.hessian(partial, args[argnums])

    return second


import typing as _typing  # noqa: E402

from ._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # a checker shall know unknown names as such
    __getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)

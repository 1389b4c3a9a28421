# SPDX-License-Identifier: Apache-2.0
"""Products with Jacobians, and whole Jacobians and Hessians, of functions of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _functions as F
from .._C import Tensor


def _tuple(values: Any) -> tuple[Any, ...]:
    return (values,) if isinstance(values, Tensor) else tuple(values)


def _like(values: tuple[Any, ...], template: Any) -> Any:
    return values[0] if isinstance(template, Tensor) else values


def _leaves(inputs: Any, create_graph: bool) -> tuple[Tensor, ...]:
    if create_graph:
        return tuple(x.view(x.shape) if x.requires_grad else x.detach().requires_grad_()
                     for x in _tuple(inputs))  # fmt: skip
    return tuple(x.detach().requires_grad_() for x in _tuple(inputs))


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:  # fmt: skip
    """func(*inputs), and v times the Jacobian."""
    from . import grad

    leaves = _leaves(inputs, create_graph)
    outputs = func(*leaves)
    weights = None if v is None else _tuple(v)
    found = grad(_tuple(outputs), leaves, weights, create_graph=create_graph,
                 allow_unused=not strict, materialize_grads=not strict)  # fmt: skip
    if not create_graph:
        outputs = _like(tuple(o.detach() for o in _tuple(outputs)), outputs)
    return outputs, _like(found, inputs)


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:  # fmt: skip
    """func(*inputs), and the Jacobian times v, by forward mode."""
    from . import forward_ad

    xs = _tuple(inputs)
    tangents = tuple(F.ones_like(x) for x in xs) if v is None else _tuple(v)
    with forward_ad.dual_level():
        outputs = func(*(forward_ad.make_dual(x, t) for x, t in zip(xs, tangents, strict=True)))
        pairs = [forward_ad.unpack_dual(out) for out in _tuple(outputs)]
        primals = tuple(pair.primal for pair in pairs)
        found = tuple(
            F.zeros_like(pair.primal) if pair.tangent is None else pair.tangent for pair in pairs
        )
    return _like(primals, outputs), _like(found, outputs)


def jacobian(func: Callable[..., Any], inputs: Any, create_graph: bool = False,
             strict: bool = False, vectorize: bool = False,
             strategy: str = "reverse-mode") -> Any:  # fmt: skip
    """The Jacobian of func at inputs: for each output and input a tensor of both shapes joined."""
    from . import grad

    leaves = _leaves(inputs, create_graph)
    outputs = func(*leaves)
    rows = []
    for output in _tuple(outputs):
        flat = output.reshape(-1)
        columns: list[list[Tensor]] = [[] for _ in leaves]
        for element in flat:
            found = grad(element, leaves, retain_graph=True, create_graph=create_graph,
                         allow_unused=True, materialize_grads=True)  # fmt: skip
            for column, gradient in zip(columns, found, strict=True):
                column.append(gradient)
        shapes = [(*output.shape, *x.shape) for x in leaves]
        made = tuple(
            F.stack(column).view(shape) if column else F.empty(shape, dtype=output.dtype)
            for column, shape in zip(columns, shapes, strict=True)
        )
        rows.append(_like(made, inputs))
    return _like(tuple(rows), outputs)


def hessian(func: Callable[..., Any], inputs: Any, create_graph: bool = False,
            strict: bool = False, vectorize: bool = False,
            outer_jacobian_strategy: str = "reverse-mode") -> Any:  # fmt: skip
    """The second derivatives of a function that gives one number."""

    def gradient(*xs: Tensor) -> Any:
        return jacobian(func, xs[0] if isinstance(inputs, Tensor) else xs, create_graph=True)

    return jacobian(gradient, inputs, create_graph=create_graph)


from .._missing import public as _public_names  # noqa: E402

__dir__ = _public_names(__name__)

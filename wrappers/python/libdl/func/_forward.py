# SPDX-License-Identifier: Apache-2.0
"""Forward mode: products of a Jacobian with a vector, and Jacobians column by column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _functions as F
from .._C import Tensor
from .._modes import is_grad_enabled
from ..autograd import forward_ad
from ._history import recorded
from ._reverse import check_real, jacrev
from ._trees import (
    Argnums, chosen, leaves_of, mapped, outputs_of, rebuilt, replaced, shape_of, tensors_of,
    with_aux,
)  # fmt: skip


def _pushed(
    name: str, func: Callable[[Any], Any], primals: Any, tangents: list[Tensor], strict: bool,
    has_aux: bool,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """func(primals), its derivative along the tangents, and its auxiliary output."""
    with recorded(is_grad_enabled()), forward_ad.dual_level() as level:

        def apart(x: Any) -> forward_ad.UnpackedDualTensor:
            return forward_ad.unpack_dual(x, level=level)

        queue = iter(tangents)
        duals = mapped(lambda x: forward_ad.make_dual(x, next(queue), level=level), primals)
        output, aux = with_aux(name, func(duals), has_aux)
        pairs = [apart(y) for y in outputs_of(name, output)]
        if strict and any(tangent is None for _, tangent in pairs):
            raise RuntimeError(f"{name}: strict, and an output does not depend on the inputs")
        moved = [
            F.zeros_like(primal.detach()) if tangent is None else tangent
            for primal, tangent in pairs
        ]
        aux = mapped(lambda x: apart(x).primal if isinstance(x, Tensor) else x, aux)
    return rebuilt(output, (primal for primal, _ in pairs)), rebuilt(output, moved), aux


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False,
    has_aux: bool = False,
) -> Any:  # fmt: skip
    """func(*primals), and the Jacobian times the tangents, by forward mode."""
    name = "jvp"
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise RuntimeError(
                f"{name}: {what} is a {type(given).__name__}, wanted a tuple: func(*primals)"
            )
    primals, tangents = tuple(primals), tuple(tangents)
    if shape_of(primals) != shape_of(tangents):
        raise RuntimeError(
            f"{name}: the tangents are {shape_of(tangents)}, wanted {shape_of(primals)}, as the "
            "primals are"
        )
    tensors_of(name, primals)
    found = _pushed(
        name, lambda given: func(*given), primals, tensors_of(name, tangents), strict, has_aux
    )
    return found if has_aux else found[:2]


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """func(*primals), and a function that multiplies the Jacobian by tangents. That function runs
    func again at each call."""

    def push(*tangents: Any) -> Any:
        return jvp(func, primals, tangents)[1]

    return func(*primals), push


def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *,
    randomness: str = "error",
) -> Callable[..., Any]:  # fmt: skip
    """The Jacobian by forward mode, column by column; for each output, it has the structure of the
    arguments."""
    name = "jacfwd"

    def jacobian(*args: Any, **kwargs: Any) -> Any:
        template = chosen(name, argnums, args)
        inputs = tensors_of(name, template)
        check_real(name, "inputs", inputs)

        def at(given: Any) -> Any:
            return func(*replaced(argnums, args, given), **kwargs)

        columns: list[list[Tensor]] = []
        output = aux = None
        for direction in _directions(inputs):
            output, moved, aux = _pushed(name, at, template, direction, False, has_aux)
            columns.append(leaves_of(moved))
            check_real(name, "outputs", columns[-1])
        if not columns:  # no inputs to differentiate by: the outputs give the shapes
            output, aux = with_aux(name, at(template), has_aux)
        outputs = outputs_of(name, output)
        parts = [rebuilt(template, _joined(y, k, inputs, columns)) for k, y in enumerate(outputs)]
        result = rebuilt(output, parts)
        return (result, aux) if has_aux else result

    return jacobian


def _directions(inputs: list[Tensor]) -> Any:
    """The unit vectors of all inputs together, each as one tangent per input."""
    for n, x in enumerate(inputs):
        for i in range(x.numel()):
            tangents = [F.zeros_like(other.detach()) for other in inputs]
            flat = F.zeros_like(x.detach()).reshape(-1)
            flat[i] = 1
            tangents[n] = flat.view(x.shape)
            yield tangents


def _joined(
    y: Tensor, k: int, inputs: list[Tensor], columns: list[list[Tensor]]
) -> list[Tensor]:
    """The Jacobian of output k with respect to each input."""
    found, first = [], 0
    for x in inputs:
        own = [column[k] for column in columns[first : first + x.numel()]]
        first += x.numel()
        shape = (*y.shape, *x.shape)
        found.append(F.stack(own, dim=-1).view(shape) if own else y.detach().new_zeros(shape))
    return found


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The second derivatives: forward mode over reverse mode."""
    return jacfwd(jacrev(func, argnums), argnums)

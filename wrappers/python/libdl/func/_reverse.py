# SPDX-License-Identifier: Apache-2.0
"""Reverse mode: gradients, products of a vector with a Jacobian, and Jacobians row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _functions as F
from .._C import Tensor
from .._modes import is_grad_enabled, set_grad_enabled
from ._history import entered, goes_on, gradients, jacobian_of, left, recorded
from ._trees import (
    Argnums,
    all_plain,
    chosen,
    leaves_of,
    mapped,
    outputs_of,
    plain,
    rebuilt,
    replaced,
    shape_of,
    tensors_of,
    with_aux,
)


def grad_and_value(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the gradient with respect to some arguments, and func's value."""
    name = "grad"

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = all_plain((args, kwargs))
        template = chosen(name, argnums, args)
        tensors_of(name, template)
        recording = is_grad_enabled()
        with recorded():
            arguments = mapped(lambda x: entered(x, recording), template)
            inputs = leaves_of(arguments)
            answer = func(*replaced(argnums, args, arguments), **kwargs)
            value, aux = with_aux(name, answer, has_aux)
            _check_scalar(name, value)
            output = plain(value)
            onwards = recording and goes_on([output], inputs)
            grads = gradients([output], inputs, [F.ones_like(output.detach())], onwards)
        result = left(rebuilt(template, grads), inputs, recording)
        value = left(value, inputs, recording)
        return (result, (value, left(aux, inputs, recording))) if has_aux else (result, value)

    return differentiated


def _check_scalar(name: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise RuntimeError(
            f"{name}: the function gave a {type(value).__name__}, wanted a 0-d tensor"
        )
    if value.ndim != 0:
        raise RuntimeError(
            f"{name}: the function gave a tensor of shape {list(value.shape)}, wanted a scalar, a "
            "0-d tensor; vjp and jacrev take others"
        )
    if value.is_complex():
        raise RuntimeError(f"{name}: the function gave {value.dtype}, wanted a real number")


def grad(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the gradient of func with respect to some arguments."""
    both = grad_and_value(func, argnums, has_aux)

    def gradient(*args: Any, **kwargs: Any) -> Any:
        result, value = both(*args, **kwargs)
        return (result, value[1]) if has_aux else result

    return gradient


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """func(*primals), and a function that maps the outputs' gradients to those of the primals."""
    name = "vjp"
    tensors_of(name, primals)
    primals = all_plain(primals)
    recording = is_grad_enabled()
    with recorded():
        arguments = mapped(lambda x: entered(x, recording), primals)
        inputs = leaves_of(arguments)
        output, aux = with_aux(name, func(*arguments), has_aux)
        outputs = list(map(plain, outputs_of(name, output)))
        onwards = goes_on(outputs, inputs)

    def pull(*cotangents: Any, retain_graph: Any = None, create_graph: bool | None = None) -> Any:
        value = cotangents[0] if len(cotangents) == 1 else cotangents
        if shape_of(value) != shape_of(output):
            raise RuntimeError(
                f"{name}: the cotangents are {shape_of(value)}, wanted {shape_of(output)}, as the "
                "function's outputs are"
            )
        weights = list(map(plain, leaves_of(value)))
        again = is_grad_enabled() if create_graph is None else create_graph
        record = again and (onwards or any(w.requires_grad for w in weights))
        return left(rebuilt(primals, gradients(outputs, inputs, weights, record)), inputs, again)

    result = left(output, inputs, recording)
    return (result, pull, left(aux, inputs, recording)) if has_aux else (result, pull)


def check_real(name: str, what: str, tensors: list[Tensor]) -> None:
    """Raises for complex tensors: Jacobians exist only of real functions."""
    for x in tensors:
        if x.is_complex():
            raise RuntimeError(f"{name}: one of the {what} is {x.dtype}, wanted real ones")


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The Jacobian by reverse mode; for each output, it has the structure of the arguments.

    func runs once. Many rows go through its graph together; hooks and custom functions see one
    after another.

    Arguments:
        argnums: by which arguments to differentiate
        has_aux: whether func returns (output, aux); then the result is (Jacobian, aux)
        chunk_size: how many rows are computed at once, which bounds the memory; None: as many as
            make it faster
    """
    name = "jacrev"
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"{name}: chunk_size is {chunk_size}, wanted None or a positive number")

    def jacobian(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = all_plain((args, kwargs))
        template = chosen(name, argnums, args)
        check_real(name, "inputs", tensors_of(name, template))
        recording = is_grad_enabled()
        with recorded():
            arguments = mapped(lambda x: entered(x, recording), template)
            inputs = leaves_of(arguments)
            answer = func(*replaced(argnums, args, arguments), **kwargs)
            output, aux = with_aux(name, answer, has_aux)
            outputs = list(map(plain, outputs_of(name, output)))
            check_real(name, "outputs", outputs)
            onwards = recording and goes_on(outputs, inputs)
        parts = [rebuilt(template, _rows(y, inputs, onwards, chunk_size)) for y in outputs]
        result = left(rebuilt(output, parts), inputs, recording)
        return (result, left(aux, inputs, recording)) if has_aux else result

    return jacobian


def _rows(y: Tensor, inputs: list[Tensor], onwards: bool, chunk_size: int | None) -> list[Tensor]:
    """The Jacobian of one output with respect to each input."""
    if not y.is_floating_point():
        raise RuntimeError(f"jacrev: one of the outputs is {y.dtype}, wanted floating ones")
    with set_grad_enabled(onwards):
        gradients = jacobian_of(y, inputs, onwards, chunk_size)
        return [rows.view(*y.shape, *x.shape) for rows, x in zip(gradients, inputs, strict=True)]

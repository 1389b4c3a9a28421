# SPDX-License-Identifier: Apache-2.0
"""Jacobians and Hessians of functions of tensors, and products with them.

Inputs and outputs are tensors or tuples of them. With create_graph, results have history, which
includes that of inputs that require grad; without it, they have none. strict: an output that does
not depend on an input is an error instead of zeros."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from .. import _functions as F
from .._C import Tensor
from .._modes import enable_grad, is_grad_enabled, set_grad_enabled
from ._gradients import grad

Found = tuple[Tensor | None, ...]


class _Pack(tuple[Tensor, ...]):
    """Tensors, and whether they were given as a tuple."""

    was_tuple: bool

    def like(self, values: Any) -> Any:
        values = tuple(values)
        return values if self.was_tuple else values[0]


def _packed(name: str, what: str, given: Any) -> _Pack:
    pack = _Pack(given if isinstance(given, tuple) else (given,))
    pack.was_tuple = isinstance(given, tuple)
    for i, value in enumerate(pack):
        if not isinstance(value, Tensor):
            where = f" at index {i}" if pack.was_tuple else ""
            raise TypeError(
                f"{name}: {what} must be a tensor or a tuple of tensors, found "
                f"{type(value).__name__}{where}"
            )
    return pack


def _entered(pack: _Pack, create_graph: bool) -> _Pack:
    """New tensors, so that another use of the originals in func does not count as dependence."""
    fresh = _Pack(
        x.view(x.shape) if create_graph and x.requires_grad else x.detach().requires_grad_()
        for x in pack
    )
    fresh.was_tuple = pack.was_tuple
    return fresh


def _called(name: str, func: Callable[..., Any], inputs: _Pack, strict: bool) -> _Pack:
    outputs = _packed(name, "the function's outputs", func(*inputs))
    for i, y in enumerate(outputs):
        if strict and not y.requires_grad:
            _independent(name, f"output {i} of the function", "the inputs")
    return outputs


def _one_number(name: str, outputs: _Pack) -> Tensor:
    if outputs.was_tuple:
        raise RuntimeError(f"{name}: the function gave a tuple, wanted a single tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(
            f"{name}: the function gave shape {list(outputs[0].shape)}, wanted a single element"
        )
    return outputs[0]


def _independent(name: str, what: str, of: str) -> NoReturn:
    raise RuntimeError(f"{name}: {what} is independent of {of}, which strict refuses")


def _weights(name: str, v: Any, wanted: _Pack, create_graph: bool, of: str) -> _Pack:
    """v, checked against the tensors that it belongs to; None means 1, for a single element."""
    if v is None:
        if len(wanted) != 1 or wanted[0].numel() != 1:
            raise RuntimeError(
                f"{name}: v is None, which is for a single tensor with a single element {of}"
            )
        return _packed(name, "v", F.ones_like(wanted[0].detach()))
    given = _packed(name, "v", v)
    if len(given) != len(wanted):
        raise RuntimeError(f"{name}: v has {len(given)} tensors, wanted {len(wanted)}")
    for i, (found, x) in enumerate(zip(given, wanted, strict=True)):
        if found.shape != x.shape:
            raise RuntimeError(
                f"{name}: entry {i} of v has shape {list(found.shape)}, wanted {list(x.shape)}"
            )
    return given if create_graph else _packed(name, "v", tuple(x.detach() for x in given))


def _gradients(
    outputs: Any,
    inputs: _Pack,
    weights: Any,
    create_graph: bool,
    retain: bool | None = None,
    is_grads_batched: bool = False,
) -> Found:
    """The gradients of the inputs; None for inputs that no output depends on."""
    used = [
        (y, w) for y, w in zip(outputs, weights, strict=True) if y is not None and y.requires_grad
    ]
    if not used:
        return (None,) * len(inputs)
    return grad(
        [y for y, _ in used],
        inputs,
        [w for _, w in used],
        retain_graph=retain,
        create_graph=create_graph,
        allow_unused=True,
        is_grads_batched=is_grads_batched,
    )


def _filled(
    name: str, what: str, found: Found, like: _Pack, strict: bool, create_graph: bool, of: str
) -> list[Tensor]:
    """The gradients, with zeros for missing ones, or with strict an error."""
    made = []
    for i, (gradient, x) in enumerate(zip(found, like, strict=True)):
        constant = gradient is None or (create_graph and not gradient.requires_grad)
        if strict and constant:
            _independent(name, what, f"{of} {i}")
        made.append(F.zeros_like(x.detach()) if gradient is None else gradient)
    return made


def _given_back(values: Any, create_graph: bool) -> list[Tensor]:
    return [value if create_graph else value.detach() for value in values]


def vjp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """func(*inputs), and v times the Jacobian."""
    name = "vjp"
    with enable_grad():
        given = _entered(_packed(name, "inputs", inputs), create_graph)
        outputs = _called(name, func, given, strict)
        weights = _weights(name, v, outputs, create_graph, "that the function gives")
    with set_grad_enabled(bool(create_graph) or is_grad_enabled()):
        found = _gradients(outputs, given, weights, create_graph)
        rows = _filled(name, "the output", found, given, strict, create_graph, "input")
    return (
        outputs.like(_given_back(outputs, create_graph)),
        given.like(_given_back(rows, create_graph)),
    )


def jvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """func(*inputs), and the Jacobian times v, by two reverse passes, so that functions without jvp
    work, too. func.jvp needs one run of the function."""
    name = "jvp"
    with enable_grad():
        given = _entered(_packed(name, "inputs", inputs), create_graph)
        weights = _weights(name, v, given, create_graph, "that the function takes")
        outputs = _called(name, func, given, strict)
        # The first pass gives J^T w, which is linear in the weights w; the gradient of <v, J^T w>
        # by w is J v.
        dummies = _packed(
            name, "outputs", tuple(F.zeros_like(y.detach()).requires_grad_() for y in outputs)
        )
        rows = _gradients(outputs, given, dummies, True)
        for i, row in enumerate(rows):
            if strict and (row is None or not row.requires_grad):
                _independent(name, "the output", f"input {i}")
    with set_grad_enabled(bool(create_graph) or is_grad_enabled()):
        found = _gradients(rows, dummies, weights, create_graph)
        moved = _filled(name, "the gradient", found, outputs, strict, create_graph, "output")
    return (
        outputs.like(_given_back(outputs, create_graph)),
        outputs.like(_given_back(moved, create_graph)),
    )


# -- whole matrices -----------------------------------------------------------------------------


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of func at inputs: for each output and input a tensor with both shapes joined.

    Arguments:
        strategy: "reverse-mode", by rows, or "forward-mode", by columns
        vectorize: accepted for compatibility; rows and columns are computed together, with strict
            rows one by one
    """
    return _jacobian("jacobian", func, inputs, create_graph, strict, strategy)


def _jacobian(
    name: str,
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool,
    strict: bool,
    strategy: str,
) -> Any:
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ValueError(
            f'{name}: strategy is {strategy!r}, wanted "reverse-mode" or "forward-mode"'
        )
    pack = _packed(name, "inputs", inputs)
    if strategy == "forward-mode":
        if strict:
            raise RuntimeError(f"{name}: strict is for reverse mode")
        return _by_columns(name, func, pack, create_graph)
    with enable_grad():
        given = _entered(pack, create_graph)
        outputs = _called(name, func, given, strict)
        matrix = [
            given.like(_given_back(_rows(name, i, y, given, strict, create_graph), create_graph))
            for i, y in enumerate(outputs)
        ]
    return outputs.like(matrix)


def _rows(
    name: str, number: int, y: Tensor, inputs: _Pack, strict: bool, create_graph: bool
) -> list[Tensor]:
    from ..func._history import rows_at_once

    if y.is_complex():
        raise RuntimeError(f"{name}: output {number} is {y.dtype}, wanted real outputs")
    columns: list[list[Tensor]] = [[] for _ in inputs]
    units = F.eye(y.numel(), dtype=y.dtype, device=y.device).view(y.numel(), *y.shape)
    # Whether one row is independent of the inputs is seen in a pass of its own.
    at_once = 1 if strict else rows_at_once(len(units), [y], inputs)
    for first in range(0, len(units), at_once):
        some = units[first : first + at_once]
        found = _gradients([y], inputs, [some], create_graph, True, is_grads_batched=True)
        what = f"output {number} of the function"
        filled = _filled(name, what, found, inputs, strict, create_graph, "input")
        for column, gradient, x in zip(columns, filled, inputs, strict=True):
            column.append(gradient.expand(len(some), *x.shape))
    return [
        F.cat(column).view(*y.shape, *x.shape)
        if column
        else y.detach().new_zeros((*y.shape, *x.shape))
        for column, x in zip(columns, inputs, strict=True)
    ]


def _by_columns(name: str, func: Callable[..., Any], pack: _Pack, create_graph: bool) -> Any:
    from ..func._forward import jacfwd

    def checked(*xs: Tensor) -> Any:
        outputs = func(*xs)
        _packed(name, "the function's outputs", outputs)
        return outputs

    with set_grad_enabled(bool(create_graph)):
        found = jacfwd(checked, argnums=tuple(range(len(pack))))(*pack)
    nested = found if isinstance(found[0], tuple) else (found,)
    rows = [pack.like(_given_back(row, create_graph)) for row in nested]
    return tuple(rows) if nested is found else rows[0]


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function that returns one number: for each pair of inputs a
    tensor with both shapes joined."""
    name = "hessian"
    pack = _packed(name, "inputs", inputs)

    def number(*xs: Tensor) -> Tensor:
        return _one_number(name, _called(name, func, _Pack(xs), strict)).reshape(())

    def gradient(*xs: Tensor) -> tuple[Tensor, ...]:
        with enable_grad():
            given = tuple(x if x.requires_grad else _own(x) for x in xs)
            found: tuple[Tensor, ...] = _jacobian(name, number, given, True, False, "reverse-mode")
            for i, part in enumerate(found):
                if strict and not part.requires_grad:
                    _independent(name, "the Jacobian", f"input {i}")
        return found

    found = _jacobian(name, gradient, tuple(pack), create_graph, strict, outer_jacobian_strategy)
    return found if pack.was_tuple else found[0][0]


def _own(x: Tensor) -> Tensor:
    from ..func._history import entered

    return entered(x, False)


# -- products with a Hessian ----------------------------------------------------------------------


def vhp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """func(*inputs), one number, and v times its Hessian."""
    name = "vhp"
    with enable_grad():
        given, weights, outputs, slopes = _sloped(name, func, inputs, v, create_graph, strict)
    with set_grad_enabled(bool(create_graph) or is_grad_enabled()):
        found = _gradients(slopes, given, weights, create_graph)
        rows = _filled(name, "the Jacobian", found, given, strict, create_graph, "input")
    return (
        outputs.like(_given_back(outputs, create_graph)),
        given.like(_given_back(rows, create_graph)),
    )


def hvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """func(*inputs), one number, and its Hessian times v. The Hessian of a smooth function is
    symmetric, so vhp gives the same result with one pass less."""
    name = "hvp"
    with enable_grad():
        given, weights, outputs, slopes = _sloped(name, func, inputs, v, create_graph, strict)
        dummies = _packed(
            name, "inputs", tuple(F.zeros_like(x.detach()).requires_grad_() for x in given)
        )
        twice = _gradients(slopes, given, dummies, True)
    with set_grad_enabled(bool(create_graph) or is_grad_enabled()):
        found = _gradients(twice, dummies, weights, create_graph)
        columns = _filled(name, "the Hessian", found, given, strict, create_graph, "input")
    return (
        outputs.like(_given_back(outputs, create_graph)),
        given.like(_given_back(columns, create_graph)),
    )


def _sloped(
    name: str, func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool
) -> tuple[_Pack, _Pack, _Pack, Found]:
    """The inputs, v, the output and its recorded gradient."""
    given = _entered(_packed(name, "inputs", inputs), create_graph)
    weights = _weights(name, v, given, create_graph, "that the function takes")
    outputs = _called(name, func, given, strict)
    slopes = _gradients([_one_number(name, outputs)], given, [None], True)
    for i, slope in enumerate(slopes):
        if strict and (slope is None or not slope.requires_grad):
            _independent(name, "the Jacobian", f"input {i}")
    return given, weights, outputs, slopes


def _construct_standard_basis_for(
    tensors: Sequence[Tensor], tensor_numels: Sequence[int]
) -> tuple[Tensor, ...]:
    """For each tensor its columns of the identity matrix of all elements, [all, its elements]."""
    if len(tensors) != len(tensor_numels) or not tensors:
        raise AssertionError("_construct_standard_basis_for: wanted a count for each tensor")
    every, starts = sum(tensor_numels), 0
    found = []
    for x, count in zip(tensors, tensor_numels, strict=True):
        columns = x.new_zeros(every, count)
        columns.diagonal(-starts).fill_(1)
        found.append(columns)
        starts += count
    return tuple(found)

# SPDX-License-Identifier: Apache-2.0
"""Forward mode: products of a Jacobian with a vector, and Jacobians column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .. import _functions as F
from .._C import Tensor
from .._vmap_levels import OPEN, RANDOMNESS, Level, Open, batched, spread, value_at
from .._modes import is_grad_enabled
from ..autograd import forward_ad
from ._history import recorded
from ._one_by_one import Again
from ._reverse import check_real, jacrev
from ._trees import (
    Argnums,
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


def _pushed(
    name: str,
    func: Callable[[Any], Any],
    primals: Any,
    tangents: list[Tensor],
    strict: bool,
    has_aux: bool,
) -> tuple[Any, Any, Any]:
    """func(primals), its derivative along the tangents, and its auxiliary output."""
    with recorded(is_grad_enabled()), forward_ad.dual_level() as level:

        def apart(x: Any) -> forward_ad.UnpackedDualTensor:
            return forward_ad.unpack_dual(x, level=level)

        queue = iter(tangents)
        duals = mapped(lambda x: forward_ad.make_dual(x, next(queue), level=level), primals)
        output, aux = with_aux(name, func(duals), has_aux)
        pairs = [apart(plain(y)) for y in outputs_of(name, output)]
        if strict and any(tangent is None for _, tangent in pairs):
            raise RuntimeError(f"{name}: strict, and an output does not depend on the inputs")
        moved = [
            F.zeros_like(primal.detach()) if tangent is None else tangent
            for primal, tangent in pairs
        ]

        def beside(x: Any) -> Any:
            if not isinstance(x, Tensor):
                return x
            primal, tangent = apart(plain(x))
            return x if tangent is None and plain(x) is not x else primal

        aux = mapped(beside, aux)
    return rebuilt(output, (primal for primal, _ in pairs)), rebuilt(output, moved), aux


def jvp(
    func: Callable[..., Any],
    primals: Any,
    tangents: Any,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """func(*primals), and the Jacobian times the tangents, by forward mode."""
    name = "jvp"
    for what, value in (("primals", primals), ("tangents", tangents)):
        if not isinstance(value, (tuple, list)):
            raise RuntimeError(
                f"{name}: {what} is a {type(value).__name__}, wanted a tuple: func(*primals)"
            )
    primals, tangents = tuple(primals), tuple(tangents)
    if shape_of(primals) != shape_of(tangents):
        raise RuntimeError(
            f"{name}: the tangents are {shape_of(tangents)}, wanted {shape_of(primals)}, as the "
            "primals are"
        )
    tensors_of(name, primals)
    result = _pushed(
        name, lambda inputs: func(*inputs), primals, tensors_of(name, tangents), strict, has_aux
    )
    return result if has_aux else result[:2]


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """func(*primals), and a function that multiplies the Jacobian by tangents. That function runs
    func again at each call."""

    def push(*tangents: Any) -> Any:
        return jvp(func, primals, tangents)[1]

    return mapped(plain, func(*primals)), push


# Columns computed at once: enough to spread what a call costs, and a bound of the memory.
_CHUNK = 128


def jacfwd(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """The Jacobian by forward mode; for each output, it has the structure of the arguments.

    Many columns are computed at once, with the rules of vmap for batches. A function that branches
    on values, or gives a shape that depends on them, runs once for each column.

    Arguments:
        argnums: by which arguments to differentiate
        has_aux: whether func returns (output, aux); then the result is (Jacobian, aux)
        randomness: "error" refuses random operators, "different" draws anew for each column, "same"
            gives all columns the same numbers
    """
    name = "jacfwd"
    if randomness not in RANDOMNESS:
        raise RuntimeError(
            f"{name}: randomness is {randomness!r}, wanted one of 'error', 'different', 'same'"
        )

    def jacobian(*args: Any, **kwargs: Any) -> Any:
        template = chosen(name, argnums, args)
        inputs = tensors_of(name, template)
        check_real(name, "inputs", inputs)

        def at(value: Any) -> Any:
            return func(*replaced(argnums, args, value), **kwargs)

        def pushed(tangents: list[Tensor]) -> tuple[Any, Any, Any]:
            output, moved, aux = _pushed(name, at, template, tangents, False, has_aux)
            check_real(name, "outputs", leaves_of(moved))
            return output, leaves_of(moved), aux

        chunks: list[list[Tensor]] = []
        output = aux = None
        run, again = _together, Again([]) if randomness == "same" else None
        for directions in _directions(inputs):
            level = Level(len(OPEN.levels) + 1, len(directions[0]), randomness)
            try:
                output, moved, aux = run(pushed, directions, level, again)
            except RuntimeError as error:
                if not hasattr(error, "needs_loop"):
                    raise
                run = _one_by_one
                output, moved, aux = run(pushed, directions, level, again)
            chunks.append(moved)
        if not chunks:  # no inputs to differentiate by: the outputs give the shapes
            output, aux = with_aux(name, at(template), has_aux)
        outputs = outputs_of(name, output)
        parts = [rebuilt(template, _joined(y, k, inputs, chunks)) for k, y in enumerate(outputs)]
        result = rebuilt(output, parts)
        return (result, aux) if has_aux else result

    return jacobian


def _directions(inputs: list[Tensor]) -> Iterator[list[Tensor]]:
    """The unit vectors of all inputs together, some at a time, each as one tangent per input."""
    count = sum(x.numel() for x in inputs)
    for first in range(0, count, _CHUNK):
        size = min(_CHUNK, count - first)
        tangents = []
        for x in inputs:
            units = F.zeros((size, x.numel()), dtype=x.dtype, device=x.device)
            if -size < first < x.numel():
                units.diagonal(first).fill_(1)
            tangents.append(units.view(size, *x.shape))
            first -= x.numel()
        yield tangents


Pushed = Callable[[list[Tensor]], tuple[Any, list[Tensor], Any]]
Found = tuple[Any, list[Tensor], Any]  # the output, its derivatives [directions, ...], and aux


def _together(pushed: Pushed, directions: list[Tensor], level: Level, again: Again | None) -> Found:
    """All directions in one run of the function. The primals are the same for all of them."""
    if again is not None:
        again.begin()
    try:
        with Open((*OPEN.levels, level), OPEN.inside):
            output, moved, aux = pushed([batched(units, level) for units in directions])
    finally:
        level.is_open = False

    def first(x: Any) -> Any:
        values = value_at(x, level)
        return x if values is None else values.select(0, 0)

    return (
        rebuilt(output, map(first, leaves_of(output))),
        [spread(x, level) for x in moved],
        mapped(first, aux),
    )


def _one_by_one(
    pushed: Pushed, directions: list[Tensor], level: Level, again: Again | None
) -> Found:
    rows = []
    for units in zip(*directions, strict=True):
        if again is not None:
            again.begin()
        with Open(OPEN.levels, (*OPEN.inside, (level, "loop"))):
            output, moved, aux = pushed(list(units))
        rows.append(moved)
    return output, [F.stack(list(column)) for column in zip(*rows, strict=True)], aux


def _joined(y: Tensor, k: int, inputs: list[Tensor], chunks: list[list[Tensor]]) -> list[Tensor]:
    """The Jacobian of output k with respect to each input."""
    if not chunks:
        return [y.detach().new_zeros((*y.shape, *x.shape)) for x in inputs]
    rows = F.cat([chunk[k] for chunk in chunks]) if len(chunks) > 1 else chunks[0][k]
    columns = rows.movedim(0, -1)
    result, first = [], 0
    for x in inputs:
        own = columns.narrow(-1, first, x.numel())
        result.append(own.reshape((*y.shape, *x.shape)))
        first += x.numel()
    return result


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The second derivatives: forward mode over reverse mode."""
    return jacfwd(jacrev(func, argnums), argnums)

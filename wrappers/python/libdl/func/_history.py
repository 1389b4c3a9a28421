# SPDX-License-Identifier: Apache-2.0
"""The history of tensors that enter and leave a transform.

Inside, each input is a separate tensor: a recorded alias if the caller records and the input
requires grad, so that outer derivatives flow through it, and otherwise a new leaf, invisible
outside. A result that depends only on such leaves has no history outside. Tangents of open levels
pass through in both directions."""

# mypy: disable-error-code="arg-type,call-arg,no-any-return"
from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from .. import _C, _functions as F, _passes
from .._C import Tensor
from .._levels import OPEN, Batched, Level, batched, core, on_core, on_values, spread, value_at
from ..autograd import forward_ad
from ._trees import mapped


class recorded:
    """The block in which a transform runs its function, whatever the caller's modes: inference mode
    ends for the while, and what was made in it are constants."""

    def __init__(self, recording: bool = True) -> None:
        self._recording = recording

    def __enter__(self) -> None:
        self._inference = _C.set_inference_mode(False)
        self._grad = _C.set_grad_enabled(self._recording)
        if self._inference:
            self._constants = _C.set_records_inference_tensors(True)

    def __exit__(self, *exception: object) -> None:
        if self._inference:
            _C.set_records_inference_tensors(self._constants)
        _C.set_inference_mode(self._inference)
        _C.set_grad_enabled(self._grad)


def _forward_levels() -> list[int]:
    """The identities of the open levels of forward mode, outermost first."""
    found: list[int] = []
    while identity := _C.forward_level(len(found) + 1):
        found.append(identity)
    return found


def without_history(x: Tensor) -> Tensor:
    """The value, without history but with its tangents, and those without history."""
    return _without_history(x, _forward_levels(), False)


def _without_history(x: Tensor, levels: list[int], tangents_keep_it: bool) -> Tensor:
    if not levels:
        return x.clone() if x.is_inference() else x.detach()
    *outer, level = levels
    primal, tangent = _C.forward_unpack_dual(forward_ad.apart(x), level)
    value = _without_history(primal, outer, tangents_keep_it)
    if tangent is None:
        return value
    if not tangents_keep_it:
        tangent = _without_history(tangent, outer, False)
    return _C.forward_make_dual_at(value, tangent, level)


def entered(x: Tensor, recording: bool) -> Tensor:
    """x as an input of a transform, inside which recording is on. Under vmap each sample has its own
    input, so that each has its own gradient."""
    return on_values(lambda value: _entered(value, recording), x)


def _entered(x: Tensor, recording: bool) -> Tensor:
    if recording and x.requires_grad:
        return x.view(x.shape)
    return _without_history(x, _forward_levels(), True).requires_grad_()


def _with_tangents(x: Tensor, levels: list[int]) -> list[Tensor]:
    """The tensor and its tangents in all levels, and theirs."""
    if not levels:
        return [x]
    primal, tangent = _C.forward_unpack_dual(x, levels[-1])
    found = _with_tangents(primal, levels[:-1])
    return found if tangent is None else [*found, *_with_tangents(tangent, levels[:-1])]


def goes_on(outputs: Iterable[Tensor], inputs: Iterable[Tensor]) -> bool:
    """Whether outputs, or their tangents, depend on more than the leaves that a transform made."""
    levels = _forward_levels()
    parts = [part for y in outputs for part in _with_tangents(core(y), levels)]
    with_history = [part for part in parts if part.requires_grad]
    leaves = [core(x) for x in inputs if x.is_leaf]
    return bool(with_history) and _C.history_beyond(tuple(with_history), tuple(leaves))


def left(tree: Any, inputs: list[Tensor], recording: bool) -> Any:
    """The results as the caller receives them."""
    levels = _forward_levels()

    def one(y: Any) -> Any:
        if not isinstance(y, Tensor) or (
            not any(part.requires_grad for part in _with_tangents(core(y), levels))
        ):
            return y
        return y if recording and goes_on([y], inputs) else on_core(without_history, y)

    return mapped(one, tree)


Run = Callable[[list[Tensor], list[Tensor], list[Tensor]], list[Any]]


def gradients(
    outputs: list[Tensor], inputs: list[Tensor], weights: list[Tensor], create_graph: bool
) -> list[Tensor]:
    """The outputs' gradients times the Jacobians; zeros for inputs that no output depends on."""
    return at_levels(
        OPEN.levels, outputs, inputs, weights, lambda ys, xs, ws: _gradients(ys, xs, ws, create_graph)
    )


def grad_under_vmap(
    outputs: tuple[Tensor, ...], inputs: tuple[Tensor, ...], weights: tuple[Any, ...], grad: Any,
    *options: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """autograd.grad of tensors that are mapped over."""
    if not any(type(x) is Batched for x in (*outputs, *inputs, *weights)):
        raise RuntimeError("grad: the class of an argument overrides operators, and grad is none")
    given = weights or (None,) * len(outputs)
    for y, w in zip(outputs, given, strict=True):
        if w is None and y.numel() != 1:
            raise RuntimeError("grad: grad_outputs are implied for outputs of one element only")
    found = at_levels(
        OPEN.levels, list(outputs), list(inputs),
        [F.ones_like(y) if w is None else w for y, w in zip(outputs, given, strict=True)],
        lambda ys, xs, ws: grad(tuple(ys), tuple(xs), tuple(ws), True, *options),
    )  # fmt: skip
    return tuple(found)


def at_levels(
    levels: tuple[Level, ...], outputs: list[Tensor], inputs: list[Tensor], weights: list[Tensor],
    run: Run,
) -> list[Any]:  # fmt: skip
    """Each sample's gradients. Where the samples have inputs of their own, those are the gradients
    of the values; inputs that all share, of a vjp outside, need a pass for each sample."""
    if not levels:
        return run(outputs, inputs, weights)
    *outer, level = levels
    rest = tuple(outer)
    if not any(value_at(x, level) is not None for x in (*outputs, *inputs, *weights)):
        return at_levels(rest, outputs, inputs, weights, run)
    own = [i for i, x in enumerate(inputs) if value_at(x, level) is not None]
    shared = [i for i, x in enumerate(inputs) if value_at(x, level) is None]
    found: dict[int, Any] = {}
    if own:
        given = [inputs[i] for i in own]
        values = [[spread(x, level) for x in xs] for xs in (outputs, given, weights)]
        together = at_levels(rest, values[0], values[1], values[2], run)
        found.update(zip(own, (y if y is None else batched(y, level) for y in together), strict=True))
    if shared:
        given = [inputs[i] for i in shared]
        found.update(zip(shared, _each_by_itself(level, rest, outputs, given, weights, run),
                         strict=True))  # fmt: skip
    return [found[i] for i in range(len(inputs))]


def _each_by_itself(
    level: Level, rest: tuple[Level, ...], outputs: list[Tensor], inputs: list[Tensor],
    weights: list[Tensor], run: Run,
) -> list[Any]:  # fmt: skip
    warnings.warn(
        "vmap: the gradient by inputs that are not mapped over takes one backward pass for each of "
        f"the {level.size} samples", stacklevel=5,
    )  # fmt: skip
    rows = [
        at_levels(rest, *([x if (v := value_at(x, level)) is None else v.select(0, i) for x in xs]
                          for xs in (outputs, inputs, weights)), run)
        for i in range(level.size)
    ]  # fmt: skip
    return [
        None if column[0] is None else batched(F.stack(list(column)), level)
        for column in zip(*rows, strict=True)
    ]


def rows_of(y: Tensor, inputs: list[Tensor], create_graph: bool) -> list[Tensor]:
    """The gradients of each of y's n elements by the inputs, each as [n, *its shape]."""
    units = F.eye(y.numel(), dtype=y.dtype, device=y.device).view(y.numel(), *y.shape)
    rank = units.ndim

    def run(ys: list[Tensor], xs: list[Tensor], ws: list[Tensor]) -> list[Any]:
        dim = ws[0].ndim - rank  # batches stand in front
        rows = _passes_of(ys, xs, [(w,) for w in ws[0].unbind(dim)], create_graph)
        if rows is None:
            n = y.numel()
            return [x.new_zeros((*x.shape[:dim], n, *x.shape[dim:])) for x in xs]
        return [F.stack(list(column), dim) for column in zip(*rows, strict=True)]

    return at_levels(OPEN.levels, [y], inputs, [units], run)


def _gradients(
    outputs: list[Tensor], inputs: list[Tensor], weights: list[Tensor], create_graph: bool
) -> list[Tensor]:
    used = [(y, w) for y, w in zip(outputs, weights, strict=True) if y.requires_grad]
    rows = _passes_of([y for y, _ in used], inputs, [tuple(w for _, w in used)], create_graph)
    return [x.new_zeros(x.shape) for x in inputs] if rows is None else list(rows[0])


def _passes_of(
    outputs: list[Tensor], inputs: list[Tensor], weights: list[tuple[Tensor, ...]],
    create_graph: bool,
) -> list[tuple[Tensor, ...]] | None:  # fmt: skip
    """The gradients of one backward pass for each tuple of weights; None where all are zeros."""
    if not weights or not inputs or not all(y.requires_grad for y in outputs) or not outputs:
        return None
    run = _passes.grad if _passes.watches else _C.grad
    ys, xs = tuple(outputs), tuple(inputs)
    with recorded():
        return [run(ys, xs, ws, True, create_graph, True, True) for ws in weights]

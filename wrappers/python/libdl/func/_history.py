# SPDX-License-Identifier: Apache-2.0
"""The history of tensors that enter and leave a transform.

Inside, each input is a separate tensor: a recorded alias if the caller records and the input
requires grad, so that outer derivatives flow through it, and otherwise a new leaf, invisible
outside. A result that depends only on such leaves has no history outside. Tangents of open levels
pass through in both directions."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .. import _C, _functions as F, _backward_passes
from .._C import Tensor
from .._vmap_levels import OPEN, Batched, Level, batched, core, on_core, on_values, spread, value_at
from .._types import bool_
from ..autograd import forward_ad
from ._trees import mapped, plain


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
    results: list[int] = []
    while identity := _C.forward_level(len(results) + 1):
        results.append(identity)
    return results


def without_history(x: Tensor) -> Tensor:
    """The value, without history but with its tangents, and those without history."""
    return _without_history(x, _forward_levels(), False)


def _without_history(x: Tensor, levels: list[int], tangents_keep_it: bool) -> Tensor:
    if not levels:
        return x.clone() if x.is_inference() else x.detach()
    *outer, level = levels
    primal, tangent = forward_ad.unpacked(forward_ad.apart(x), level)
    value = _without_history(primal, outer, tangents_keep_it)
    if tangent is None:
        return value
    if not tangents_keep_it:
        tangent = _without_history(tangent, outer, False)
    return _C.forward_make_dual_at(value, tangent, level)


def entered(x: Tensor, recording: bool) -> Tensor:
    """x as an input of a transform, inside which recording is on. Under vmap each sample has its
    own input, so that each has its own gradient."""
    return on_values(lambda value: _entered(value, recording), x)


def _entered(x: Tensor, recording: bool) -> Tensor:
    if recording and x.requires_grad:
        return x.view(x.shape)
    return _without_history(x, _forward_levels(), True).requires_grad_()


def _with_tangents(x: Tensor, levels: list[int]) -> list[Tensor]:
    """The tensor and its tangents in all levels, and theirs."""
    if not levels:
        return [x]
    primal, tangent = forward_ad.unpacked(x, levels[-1])
    result = _with_tangents(primal, levels[:-1])
    return result if tangent is None else [*result, *_with_tangents(tangent, levels[:-1])]


def goes_on(outputs: Iterable[Tensor], inputs: Iterable[Tensor]) -> bool:
    """Whether outputs, or their tangents, depend on more than the leaves that a transform made."""
    levels = _forward_levels()
    parts = [part for y in outputs for part in _with_tangents(core(plain(y)), levels)]
    with_history = [part for part in parts if part.requires_grad]
    leaves = [core(x) for x in inputs if x.is_leaf]
    return bool(with_history) and _C.history_beyond(tuple(with_history), tuple(leaves))


def _depends(y: Tensor, inputs: list[Tensor]) -> bool:
    """Whether the tensor, which is not mapped over, has one of the inputs in its history."""
    requested = [core(x) for x in inputs]
    result, seen = [plain(y).grad_fn], set()
    while result:
        node = result.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        leaf = getattr(node, "variable", None)
        if any(leaf is x if x.is_leaf else node == x.grad_fn for x in requested):
            return True
        result += [following for following, _ in node.next_functions]
    return False


def left(tree: Any, inputs: list[Tensor], recording: bool) -> Any:
    """The results as the caller receives them."""
    levels = _forward_levels()

    def one(y: Any) -> Any:
        if not isinstance(y, Tensor) or (
            not any(part.requires_grad for part in _with_tangents(core(y), levels))
        ):
            return y
        if plain(y) is not y and _depends(y, inputs):  # else it comes from outside, as it is
            y = plain(y)
        return y if recording and goes_on([y], inputs) else on_core(without_history, y)

    return mapped(one, tree)


class Many(NamedTuple):
    """Where several gradients of the same outputs stand in weights, and so in results."""

    lead: int  # dimensions of batches in front of them, which the outputs have, too
    rows: tuple[int, ...]  # the sizes of the dimensions that only weights have; (): one gradient


Run = Callable[[list[Tensor], list[Tensor], list[Tensor], Many], list[Any]]


def gradients(
    outputs: list[Tensor], inputs: list[Tensor], weights: list[Tensor], create_graph: bool
) -> list[Tensor]:
    """The outputs' gradients times the Jacobians; zeros for inputs that no output depends on."""

    def run(ys: list[Tensor], xs: list[Tensor], ws: list[Tensor], many: Many) -> list[Any]:
        used = [(y, w) for y, w in zip(ys, ws, strict=True) if y.requires_grad]
        kept = [y for y, _ in used], [w for _, w in used]
        return rows_of(kept[0], xs, kept[1], many, create_graph)

    return at_levels(OPEN.levels, outputs, inputs, weights, run)


def grad_under_vmap(
    outputs: tuple[Tensor, ...],
    inputs: tuple[Tensor, ...],
    weights: tuple[Any, ...],
    grad: Any,
    *options: Any,
) -> tuple[Any, ...]:
    """autograd.grad of tensors that are mapped over."""
    if not any(type(x) is Batched for x in (*outputs, *inputs, *weights)):
        raise RuntimeError("grad: the class of an argument overrides operators, and grad is none")
    value = weights or (None,) * len(outputs)
    for y, w in zip(outputs, value, strict=True):
        if w is None and y.numel() != 1:
            raise RuntimeError("grad: grad_outputs are implied for outputs of one element only")

    def run(ys: list[Tensor], xs: list[Tensor], ws: list[Tensor], many: Many) -> list[Any]:
        def once(ws: tuple[Tensor, ...], *batched: bool) -> Any:
            return grad(tuple(ys), tuple(xs), ws, True, *options, *batched)

        at_once = 1 if _backward_passes.watches else rows_at_once(math.prod(many.rows), ys, xs)
        return in_passes(once, ws, many, at_once)

    result = at_levels(
        OPEN.levels,
        list(outputs),
        list(inputs),
        [F.ones_like(y) if w is None else w for y, w in zip(outputs, value, strict=True)],
        run,
    )
    return tuple(result)


def at_levels(
    levels: tuple[Level, ...],
    outputs: list[Tensor],
    inputs: list[Tensor],
    weights: list[Tensor],
    run: Run,
    many: Many = Many(0, ()),
) -> list[Any]:
    """Each sample's gradients. Where the samples have inputs of their own, those are the gradients
    of the values. Inputs that all share, of a vjp outside, have a gradient for each sample."""
    if not levels:
        return run(outputs, inputs, weights, many)
    *outer, level = levels
    rest = tuple(outer)
    if not any(value_at(x, level) is not None for x in (*outputs, *inputs, *weights)):
        return at_levels(rest, outputs, inputs, weights, run, many)
    own = [i for i, x in enumerate(inputs) if value_at(x, level) is not None]
    shared = [i for i, x in enumerate(inputs) if value_at(x, level) is None]
    collected: dict[int, Any] = {}
    if own:
        arguments = [inputs[i] for i in own]
        values = [[spread(x, level) for x in xs] for xs in (outputs, arguments, weights)]
        inside = Many(many.lead + 1, many.rows)
        together = at_levels(rest, values[0], values[1], values[2], run, inside)
        collected.update(zip(own, together, strict=True))
    if shared:
        arguments = [inputs[i] for i in shared]
        ys, ws = _of_each_sample(level, outputs, weights, len(many.rows))
        inside = Many(many.lead, (level.size, *many.rows))
        together = at_levels(rest, ys, arguments, ws, run, inside)
        collected.update(zip(shared, together, strict=True))
    return [None if (x := collected[i]) is None else batched(x, level) for i in range(len(inputs))]


def _of_each_sample(
    level: Level, outputs: list[Tensor], weights: list[Tensor], rows: int
) -> tuple[list[Tensor], list[Tensor]]:
    """Outputs, and for each sample a row of weights. Where samples have outputs of their own, all
    are outputs, and each row weighs those of its sample."""
    ys, ws = [], []
    for y, w in zip(outputs, weights, strict=True):
        own, each = value_at(y, level), spread(w, level)
        ys.append(y if own is None else own)
        if own is not None:  # [samples, rows..., samples, a sample's shape...]
            place = 1 + rows
            here = F.eye(level.size, dtype=bool_, device=each.device)
            shape = [level.size, *[1] * rows, level.size, *[1] * y.ndim]
            none = F.zeros_like(each).unsqueeze(place)
            each = F.where(here.view(shape), each.unsqueeze(place), none)
        ws.append(each)
    return ys, ws


# Rows of a Jacobian that go through the graph together: enough to spread what a pass costs.
_CHUNK = 256
# Elements of the gradients, which bound the memory: of a Jacobian that one pass computes whole, and
# of a part of a larger one, whose parts are copied together. Measured: at more the caches are of no
# use any longer, and one row after another is quicker.
_WHOLE, _PART, _LEAST = 1 << 23, 1 << 20, 32


def rows_at_once(count: int, outputs: Iterable[Tensor], inputs: Iterable[Tensor]) -> int:
    """How many of `count` gradients of the outputs one pass computes."""
    widest = max(1, *(x.numel() for x in (*outputs, *inputs)))
    if count <= _CHUNK and count * widest <= _WHOLE:
        return max(count, 1)
    at_once = min(_CHUNK, _PART // widest)
    return at_once if at_once >= _LEAST else 1


def jacobian_of(
    y: Tensor, inputs: list[Tensor], create_graph: bool, chunk_size: int | None = None
) -> list[Tensor]:
    """The gradients of each of y's n elements by the inputs, each as [n, *its shape]."""
    count = y.numel()
    units = F.eye(count, dtype=y.dtype, device=y.device).view(count, *y.shape)

    def run(ys: list[Tensor], xs: list[Tensor], ws: list[Tensor], many: Many) -> list[Any]:
        return rows_of(ys, xs, ws, many, create_graph, chunk_size)

    return at_levels(OPEN.levels, [y], inputs, [units], run, Many(0, (count,)))


def rows_of(
    outputs: list[Tensor],
    inputs: list[Tensor],
    weights: list[Tensor],
    many: Many,
    create_graph: bool,
    at_once: int | None = None,
) -> list[Tensor]:
    """The gradients for all rows of weights; zeros for inputs that no output depends on."""
    none = not inputs or not outputs or not all(y.requires_grad for y in outputs)
    if none or 0 in many.rows:
        lead = many.lead
        return [x.new_zeros((*x.shape[:lead], *many.rows, *x.shape[lead:])) for x in inputs]
    run = _C.grad
    at_once = at_once or rows_at_once(math.prod(many.rows), outputs, inputs)
    if _backward_passes.watches:  # each row in a pass of its own
        run, at_once = _backward_passes.grad, 1
    ys, xs = tuple(outputs), tuple(inputs)

    def once(ws: tuple[Tensor, ...], *batched: bool) -> Any:
        return run(ys, xs, ws, True, create_graph, True, True, *batched)

    with recorded():
        return in_passes(once, weights, many, at_once)


def in_passes(
    once: Callable[..., Any], weights: list[Tensor], many: Many, at_once: int
) -> list[Any]:
    """The gradients for all rows of weights, so many in each pass; once(weights, True) takes a
    batch of them, and once(weights) one."""
    lead, rows = many
    if not rows:
        return list(once(tuple(weights)))
    dims = range(lead, lead + len(rows))
    front = tuple(range(len(rows)))
    flat = [w.movedim(tuple(dims), front).flatten(0, len(rows) - 1) for w in weights]
    count = len(flat[0])
    chunks = []
    for first in range(0, count, at_once):
        if min(at_once, count - first) > 1:
            chunks.append(once(tuple(w[first : first + at_once] for w in flat), True))
        else:
            single = once(tuple(w[first] for w in flat))
            chunks.append([None if x is None else x.unsqueeze(0) for x in single])

    def joined(column: list[Any]) -> Any:
        if column[0] is None:
            return None
        x = column[0] if len(column) == 1 else F.cat(column)
        return x.unflatten(0, rows).movedim(front, tuple(dims))

    return [joined(list(column)) for column in zip(*chunks, strict=True)]

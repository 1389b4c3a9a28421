# SPDX-License-Identifier: Apache-2.0
"""The history of tensors that enter and leave a transform.

Inside, each input is a separate tensor: a recorded alias if the caller records and the input
requires grad, so that outer derivatives flow through it, and otherwise a new leaf, invisible
outside. A result that depends only on such leaves has no history outside. Tangents of open levels
pass through in both directions."""

# mypy: disable-error-code="arg-type,call-arg,no-any-return"
from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from .. import _C, _functions as F, _passes
from .._C import Tensor
from .._levels import OPEN, Level, batched, core, on_values, spread, value_at
from .._modes import enable_grad, no_grad
from ._trees import mapped


def without_history(x: Tensor) -> Tensor:
    """The value, without history but with its tangents."""
    if not _C.forward_level(0):
        return x.detach()
    with no_grad():
        return x.clone()


def entered(x: Tensor, recording: bool) -> Tensor:
    """x as an input of a transform, inside which recording is on. Under vmap each sample has its own
    input, so that each has its own gradient."""
    return on_values(lambda value: _entered(value, recording), x)


def _entered(x: Tensor, recording: bool) -> Tensor:
    if recording and x.requires_grad:
        return x.view(x.shape)
    return without_history(x).requires_grad_()


def goes_on(outputs: Iterable[Tensor], inputs: Iterable[Tensor]) -> bool:
    """Whether outputs depend on more than the leaves that a transform made."""
    with_history = [core(y) for y in outputs if y.requires_grad]
    return bool(with_history) and _C.history_beyond(
        tuple(with_history), tuple(core(x) for x in inputs if x.is_leaf)
    )


def left(tree: Any, inputs: list[Tensor], recording: bool) -> Any:
    """The results as the caller receives them."""

    def one(y: Any) -> Any:
        if not isinstance(y, Tensor) or not y.requires_grad:
            return y
        return y if recording and goes_on([y], inputs) else without_history(y)

    return mapped(one, tree)


def gradients(
    outputs: list[Tensor], inputs: list[Tensor], weights: list[Tensor], create_graph: bool
) -> list[Tensor]:
    """The outputs' gradients times the Jacobians; zeros for inputs that no output depends on."""
    return _at_levels(OPEN.levels, outputs, inputs, weights, create_graph)


def _at_levels(
    levels: list[Level], outputs: list[Tensor], inputs: list[Tensor], weights: list[Tensor],
    create_graph: bool,
) -> list[Tensor]:  # fmt: skip
    """Each sample's gradients. Where the samples have inputs of their own, those are the gradients
    of the values; inputs that all share, of a vjp outside, need a pass for each sample."""
    if not levels:
        return _gradients(outputs, inputs, weights, create_graph)
    *outer, level = levels
    mapped_over = [value_at(x, level) is not None for x in inputs]
    if all(mapped_over):
        values = [[spread(x, level) for x in xs] for xs in (outputs, inputs, weights)]
        found = _at_levels(outer, values[0], values[1], values[2], create_graph)
        return [batched(x, level) for x in found]
    if any(mapped_over):
        raise NotImplementedError(
            "vmap: a gradient by tensors of which only some are mapped over is not offered"
        )
    if not any(value_at(x, level) is not None for x in (*outputs, *weights)):
        return _at_levels(outer, outputs, inputs, weights, create_graph)
    warnings.warn(
        "vmap: the gradient by inputs that are not mapped over takes one backward pass for each of "
        f"the {level.size} samples", stacklevel=3,
    )  # fmt: skip
    rows = [
        _at_levels(outer, *([x if (v := value_at(x, level)) is None else v.select(0, i)
                             for x in xs] for xs in (outputs, inputs, weights)), create_graph)
        for i in range(level.size)
    ]  # fmt: skip
    return [batched(F.stack(list(column)), level) for column in zip(*rows, strict=True)]


def _gradients(
    outputs: list[Tensor], inputs: list[Tensor], weights: list[Tensor], create_graph: bool
) -> list[Tensor]:
    used = [(y, w) for y, w in zip(outputs, weights, strict=True) if y.requires_grad]
    if not used or not inputs:
        with no_grad():
            return [x.new_zeros(x.shape) for x in inputs]
    run = _passes.grad if _passes.watches else _C.grad
    with enable_grad():
        return list(run(
            tuple(y for y, _ in used), tuple(inputs), tuple(w for _, w in used), True,
            create_graph, True, True,
        ))  # fmt: skip

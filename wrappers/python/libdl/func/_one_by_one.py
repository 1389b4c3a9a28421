# SPDX-License-Identifier: Apache-2.0
"""An operator without a rule for batches: one sample after another. And what random numbers ask of
a level, for whose sake other operators go the same way."""

from __future__ import annotations

import warnings
from typing import Any

from .. import _functions as F
from .._C import Tensor
from .._vmap_levels import OPEN, Level, Open, batched, value_at
from .._random import get_rng_state, set_rng_state
from .._types import Generator
from ..utils import _pytree as pytree
from ._rules import Call


def may_draw(level: Level, name: str, repeatable: bool) -> None:
    """Raises where a level does not allow random numbers."""
    if level.randomness == "error":
        raise RuntimeError(
            f"vmap: {name} is a random operation, and randomness is 'error'; 'different' draws "
            "anew for each sample, 'same' once for all of them"
        )
    if level.randomness == "same" and not repeatable:
        raise NotImplementedError(
            f"vmap: {name} with randomness='same' is not offered here; 'different' is"
        )


def one_by_one(call: Call, warn: bool = True) -> Any:
    """A loop over the samples, whose results are stacked. Where samples are to get the same random
    numbers, each begins with the same generators."""
    if warn:
        warnings.warn(
            f"vmap: {call.name} has no rule for batches and runs once for each of the "
            f"{call.level.size} samples",
            stacklevel=2,
        )
    leaves, structure = pytree.tree_flatten((call.args, call.kwargs))
    if call.level.size == 0:
        raise RuntimeError(f"{call.name}: has no rule for batches, and the batch has no samples")
    out = call.kwargs.get("out")
    written = call.args[0] if call.writes else out if isinstance(out, Tensor) else None
    if written is not None and value_at(written, call.level) is None and call.is_batched:
        raise call.unwritable()
    values = [(x, value_at(x, call.level)) for x in leaves]
    again = Again(leaves) if call.level.randomness == "same" else None
    answers = []
    outer, inside = OPEN.levels[: call.level.number - 1], (*OPEN.inside, (call.level, "loop"))
    for i in range(call.level.size):
        with Open(outer, inside):
            if again is not None:
                again.begin()
            sample = [x if value is None else value.select(0, i) for x, value in values]
            args, kwargs = pytree.tree_unflatten(sample, structure)
            answers.append(call.func(*args, **kwargs))
    if written is not None:
        return written
    with Open(outer, inside[:-1]):
        return _stacked(answers, call.level)


class Again:
    """Generators that begin anew for each sample."""

    def __init__(self, leaves: list[Any]) -> None:
        self.default = get_rng_state()
        self.others = [(x, x.get_state()) for x in leaves if isinstance(x, Generator)]

    def begin(self) -> None:
        set_rng_state(self.default)
        for generator, state in self.others:
            generator.set_state(state)


def _stacked(answers: list[Any], level: Level) -> Any:
    shapes = [pytree.tree_flatten(answer) for answer in answers]
    columns = zip(*(item for item, _ in shapes), strict=True)
    joined = [
        batched(F.stack(list(column)), level)
        if isinstance(column[0], Tensor)
        else _common(list(column))
        for column in columns
    ]
    return pytree.tree_unflatten(joined, shapes[0][1])


def _common(column: list[Any]) -> Any:
    """A result that is no tensor: it must be the same for all samples."""
    if any(x != column[0] for x in column[1:]):
        raise RuntimeError(f"vmap: samples have different results that are no tensors: {column}")
    return column[0]

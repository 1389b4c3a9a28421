# SPDX-License-Identifier: Apache-2.0
"""Functions with their own gradient, under vmap."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import _functions as F
from .._C import Tensor
from .._vmap_levels import Level, batched, needs_loop, outside, value_at
from ..utils import _pytree as pytree
from ._rules import any_batched


class VmapInfo(NamedTuple):
    """What a Function's static method vmap is told first."""

    batch_size: int
    randomness: str


def applied(level: Level, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """function.apply in one level: by its static method vmap, or one sample after another if it
    says generate_vmap_rule = True."""
    own = getattr(function, "vmap", None)
    name = function.__name__
    if function.generate_vmap_rule:
        if own is not None:
            raise RuntimeError(f"vmap: {name} has generate_vmap_rule and vmap, wanted one of them")
        return _one_by_one(level, function, args, kwargs)
    if own is None:
        raise needs_loop(
            f"vmap: {name} is a Function without a rule for batches: give it a static method "
            "vmap(info, in_dims, *args), or generate_vmap_rule = True"
        )
    values = [x if (v := value_at(x, level)) is None else v for x in args]
    dims = tuple(None if value_at(x, level) is None else 0 for x in args)
    with outside(level):
        answer = own(VmapInfo(level.size, level.randomness), dims, *values)
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise RuntimeError(f"vmap: {name}.vmap must return (outputs, out_dims)")
    outputs, out_dims = answer
    leaves, structure = pytree.tree_flatten(outputs)
    places = pytree._broadcast_to_and_flatten(out_dims, structure)
    if places is None:
        raise RuntimeError(f"vmap: {name}.vmap returned out_dims {out_dims!r} for {structure}")
    found = [
        x if dim is None else batched(x.movedim(dim, 0), level)
        for x, dim in zip(leaves, places, strict=True)
    ]
    return pytree.tree_unflatten(found, structure)


def _one_by_one(level: Level, function: Any, args: Any, kwargs: Any) -> Any:
    answers = []
    for i in range(level.size):
        given = [x if (v := value_at(x, level)) is None else v.select(0, i) for x in args]
        with outside(level):
            answers.append(function.apply(*given, **kwargs))
    if isinstance(answers[0], Tensor):
        return batched(F.stack(answers), level)
    return tuple(batched(F.stack(list(ys)), level) for ys in zip(*answers, strict=True))


def innermost(args: tuple[Any, ...], levels: tuple[Level, ...]) -> Level | None:
    """The innermost level in which an argument is batched."""
    return next((level for level in reversed(levels) if any_batched(level, args)), None)

# SPDX-License-Identifier: Apache-2.0
"""vmap: a function of samples becomes a function of batches."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import _functions as F
from .._C import Overridden, Tensor
from .._vmap_levels import OPEN, RANDOMNESS, Batched, Level, Open, batched, core, value_at
from .._random import get_rng_state, set_rng_state
from ..utils import _pytree as pytree
from . import _batching as _batching  # how operators treat batched tensors
from ._trees import plain

Dims = Any  # an int, None, or a tree of them


def vmap(
    func: Callable[..., Any],
    in_dims: Dims = 0,
    out_dims: Dims = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that maps func over a dimension of its arguments.

    func sees one sample: its tensors lack that dimension. It runs once; each operator computes all
    samples at once where it has a rule for batches, and otherwise one sample after another, with a
    warning that names it.

    in_dims     for each positional argument the dimension to map over, or None to give every call
                the whole argument; an int for all of them, or a structure like the arguments'.
                Arguments given by keyword are not mapped over
    out_dims    where the dimension stands in the results; an int, or a structure like theirs. None
                for what is the same for every sample, and any object, which comes back as it is
    randomness  "error" refuses random operators, "different" draws anew for each sample, "same"
                gives every sample the same numbers
    chunk_size  how many samples are computed at once; None: all

    Raises ValueError for in_dims or out_dims that do not fit the arguments or results, and
    RuntimeError inside func where a result's shape or a branch would depend on a sample's values.
    """
    if randomness not in RANDOMNESS:
        raise RuntimeError(
            f"vmap: randomness is {randomness!r}, wanted one of 'error', 'different', 'same'"
        )
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size is {chunk_size}, wanted None or a positive number")

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, dims, structure = _inputs(in_dims, args, kwargs)
        size = _batch_size(leaves, dims)
        step = size if chunk_size is None else min(chunk_size, size)
        if step == size:
            return _joined([_run(func, leaves, dims, structure, size, randomness)], out_dims)
        parts = []
        state = get_rng_state() if randomness == "same" else None
        for first in range(0, size, step):
            if state is not None:  # the same numbers in every chunk
                set_rng_state(state)
            count = min(step, size - first)
            part = [
                x if dim is None else x.narrow(dim, first, count)
                for x, dim in zip(leaves, dims, strict=True)
            ]
            parts.append(_run(func, part, dims, structure, count, randomness))
        return _joined(parts, out_dims)

    return mapped


def _spread_dims(name: str, dims: Dims, tree: Any) -> list[Any]:
    """One entry of dims for each leaf of the tree."""
    result = pytree._broadcast_to_and_flatten(dims, pytree.tree_structure(tree))
    if result is None:
        raise ValueError(
            f"vmap: {name} is {dims!r}, whose structure does not fit {pytree.tree_structure(tree)}"
        )
    return result


def _inputs(in_dims: Dims, args: Any, kwargs: Any) -> tuple[list[Any], list[int | None], Any]:
    """The leaves of all arguments, their dimensions, counted from 0, and the structure."""
    if not isinstance(in_dims, (int, list, tuple)):
        raise ValueError(
            f"vmap: in_dims is a {type(in_dims).__name__}, wanted an int, or a tuple with an entry "
            "for each positional argument"
        )
    if not args:
        raise ValueError("vmap: the function was called without positional arguments, wanted one")
    dims = _spread_dims("in_dims", in_dims, args)
    leaves, structure = pytree.tree_flatten((args, kwargs))
    dims += [None] * (len(leaves) - len(dims))
    return leaves, [_dim_of(x, dim) for x, dim in zip(leaves, dims, strict=True)], structure


def _dim_of(x: Any, dim: Any) -> int | None:
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(f"vmap: in_dims has {dim!r} for an argument, wanted an int or None")
    if not isinstance(x, Tensor):
        raise ValueError(
            f"vmap: in_dims has {dim} for a {type(x).__name__}, wanted None: only tensors are "
            "mapped over"
        )
    if not -x.ndim <= dim < x.ndim:
        raise ValueError(
            f"vmap: in_dims has {dim} for a tensor of {x.ndim} dimensions, wanted a dimension of it"
        )
    return dim % x.ndim


def _batch_size(leaves: list[Any], dims: list[int | None]) -> int:
    sizes = [x.shape[dim] for x, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: no argument is mapped over; in_dims has only None")
    if len(set(sizes)) > 1:
        raise ValueError(
            f"vmap: the dimensions mapped over have the sizes {sizes}, wanted the same for all"
        )
    return int(sizes[0])


Result = tuple[list[Any], Any, int]  # the leaves, batch first; the structure; the batch's size


def _run(
    func: Callable[..., Any],
    leaves: list[Any],
    dims: list[int | None],
    structure: Any,
    size: int,
    randomness: str,
) -> Result:
    """The function's results for one batch."""
    level = Level(len(OPEN.levels) + 1, size, randomness)
    arguments = [
        x if dim is None else batched(plain(x).movedim(dim, 0), level)
        for x, dim in zip(leaves, dims, strict=True)
    ]
    args, kwargs = pytree.tree_unflatten(arguments, structure)
    try:
        with Open((*OPEN.levels, level), OPEN.inside):
            answer = func(*args, **kwargs)
    except Overridden as error:
        raise RuntimeError(
            "vmap: a call has no rule for a tensor that is mapped over; the traceback shows which"
        ) from error
    finally:
        level.is_open = False
    result, shape = pytree.tree_flatten(answer)
    return (
        [_Shared(x) if value_at(x, level) is None else value_at(x, level) for x in result],
        (shape),
        size,
    )


class _Shared:
    """A result that is the same for every sample."""

    def __init__(self, x: Any) -> None:
        if isinstance(x, Batched) and not x.level.is_open:
            raise RuntimeError("vmap: the function returned a tensor of another vmap that ended")
        self.x = x


def _joined(parts: list[Result], out_dims: Dims) -> Any:
    """The results of all chunks, with the batch where out_dims wants it."""
    structure = parts[0][1]
    whole = pytree.tree_unflatten(parts[0][0], structure)
    if not isinstance(out_dims, (int, tuple, list, dict)) and out_dims is not None:
        raise ValueError(f"vmap: out_dims is a {type(out_dims).__name__}, wanted an int or a tuple")
    single = isinstance(whole.x if isinstance(whole, _Shared) else whole, Tensor)
    if single and isinstance(out_dims, tuple) and len(out_dims) == 1:
        out_dims = out_dims[0]
    dims = _spread_dims("out_dims", out_dims, whole)
    leaves = []
    for i, dim in enumerate(dims):
        leaves.append(_placed([(part[0][i], part[2]) for part in parts], dim))
    return pytree.tree_unflatten(leaves, structure)


def _placed(parts: list[tuple[Any, int]], dim: Any) -> Any:
    first = parts[0][0]
    if dim is None:
        if not isinstance(first, _Shared):
            raise ValueError(
                "vmap: out_dims has None for a result that differs between samples, wanted an int"
            )
        return first.x
    if not isinstance(dim, int):
        raise ValueError(f"vmap: out_dims has {dim!r} for a result, wanted an int or None")
    if isinstance(first, _Shared) and not isinstance(first.x, Tensor):
        raise ValueError(
            f"vmap: the function returned a {type(first.x).__name__}, wanted a tensor, or None in "
            "out_dims for it"
        )
    values = [
        plain(x.x).unsqueeze(0).expand(size, *x.x.shape) if isinstance(x, _Shared) else x
        for x, size in parts
    ]
    value = values[0] if len(values) == 1 else F.cat(values)
    if not -value.ndim <= dim < value.ndim:
        raise IndexError(
            f"vmap: out_dims has {dim} for a result of {value.ndim} dimensions with the batch"
        )
    return value.movedim(0, dim)


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """The values of all samples, for looking at while debugging: of all levels of vmap, or of the
    innermost alone. What is not mapped over comes back as it is, also inside other transforms."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"debug_unwrap: found a {type(tensor).__name__}, wanted a tensor")
    if not isinstance(tensor, Batched):
        return tensor
    return core(tensor) if recurse else tensor.value

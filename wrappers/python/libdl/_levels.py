# SPDX-License-Identifier: Apache-2.0
"""The open levels of vmap on this thread, and tensors that hold a whole batch.

Inside vmap's function a batched tensor looks like one sample. It holds the values of the whole
batch, the batch in front; in nested levels these may be batched themselves, in an outer level. The
samples do not depend on each other, so that derivatives are taken of the values as they are: the
gradient of a value is the gradient of each sample."""

# mypy: disable-error-code="assignment"
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from . import _C
from ._C import Tensor
from ._overrides import DisableTorchFunction


class Level(NamedTuple):
    """One running vmap."""

    number: int  # 1 for the outermost
    size: int
    randomness: str


class _Open(threading.local):
    def __init__(self) -> None:
        self.levels: list[Level] = []


OPEN = _Open()

# Called with (function, arguments, keyword arguments) when a batched tensor meets an operator.
HANDLER: list[Callable[..., Any]] = []


class Batched(Tensor):
    """A sample's shape and dtype, with the values of all samples. As a tensor by itself it is the
    first sample, which gives shape, dtype and device; no operator may see it."""

    value: Tensor
    level: Level
    __torch_function__ = None  # until below: a class that overrides when made is watched for ever


def _torch_function(
    cls: type, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
) -> Any:
    return HANDLER[0](func, args, kwargs or {})


Batched.__torch_function__ = classmethod(_torch_function)


def batched(value: Tensor, level: Level) -> Batched:
    """The tensor whose samples lie along the value's dimension 0."""
    with DisableTorchFunction():
        bare = value.detach()
        first = bare.select(0, 0) if bare.shape[0] else bare.new_empty(bare.shape[1:])
        made: Batched = _C.make_subclass(Batched, first)
    made.__dict__.update(value=value, level=level)
    return made


def value_at(x: Any, level: Level) -> Tensor | None:
    """The values of a tensor that is batched in this level; None for others."""
    if type(x) is Batched and x.__dict__["level"] is level:
        return x.__dict__["value"]  # type: ignore[no-any-return]
    return None


def core(x: Tensor) -> Tensor:
    """The ordinary tensor inside."""
    while type(x) is Batched:
        x = x.value
    return x


def spread(x: Tensor, level: Level) -> Tensor:
    """The values in this level, repeated without a copy if all samples share them."""
    value = value_at(x, level)
    return x.unsqueeze(0).expand(level.size, *x.shape) if value is None else value


def bare(x: Tensor) -> Tensor:
    """The values in all open levels, as an ordinary tensor: the outermost batch comes first."""
    for level in reversed(OPEN.levels):
        x = spread(x, level)
    return x


def covered(x: Tensor) -> Tensor:
    """The opposite of bare()."""
    for level in OPEN.levels:
        x = batched(x, level)
    return x


def on_values(function: Callable[..., Any], *tensors: Any) -> Any:
    """function of the bare tensors, and its results covered again. Tuples are looked into."""
    if not OPEN.levels:
        return function(*tensors)
    return _each(covered, function(*_each(bare, tensors)))


def _each(change: Callable[[Tensor], Tensor], found: Any) -> Any:
    if isinstance(found, (tuple, list)):
        return tuple(_each(change, item) for item in found)
    return change(found) if isinstance(found, Tensor) else found

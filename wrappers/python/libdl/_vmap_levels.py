# SPDX-License-Identifier: Apache-2.0
"""The open levels of vmap on this thread, and tensors that hold a whole batch.

Inside vmap's function a batched tensor looks like one sample. It holds the values of the whole
batch, the batch in front; in nested levels these may be batched themselves, in an outer level. The
samples do not depend on each other, so that derivatives are taken of the values as they are: the
gradient of a value is the gradient of each sample."""

# mypy: disable-error-code="assignment"
from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from . import _C
from ._C import Tensor
from ._overrides import SAMPLES

RANDOMNESS = ("error", "different", "same")


def needs_loop(told: str) -> RuntimeError:
    """The error of what has no meaning or no rule for all samples at once, and has for one after
    another: a branch or a shape that depends on values, a write into what the samples share."""
    error = RuntimeError(told)
    error.__dict__["needs_loop"] = True
    return error


class Level:
    """One running vmap."""

    __slots__ = ("is_open", "number", "randomness", "size")

    def __init__(self, number: int, size: int, randomness: str) -> None:
        self.number = number  # 1 for the outermost
        self.size = size
        self.randomness = randomness
        self.is_open = True


class _Open(threading.local):
    """What a thread is doing."""

    def __init__(self) -> None:
        self.levels: tuple[Level, ...] = ()
        # The levels in which an operator is being carried out, outermost last, and how: "rule", all
        # samples at once, or "loop", one sample after another.
        self.inside: tuple[tuple[Level, str], ...] = ()


OPEN = _Open()


class Open:
    """A block in which other levels are open. While any are, operators that may draw are
    watched."""

    __slots__ = ("_before", "_now")

    def __init__(self, levels: tuple[Level, ...], inside: tuple[tuple[Level, str], ...]) -> None:
        self._now = levels, inside

    def __enter__(self) -> None:
        self._before = OPEN.levels, OPEN.inside, _C.watch_draws(any(self._now))
        OPEN.levels, OPEN.inside = self._now

    def __exit__(self, *exception: object) -> None:
        OPEN.levels, OPEN.inside, watched = self._before
        _C.watch_draws(watched)


def outside(level: Level) -> Open:
    """A block that computes with the values of a level."""
    return Open(OPEN.levels[: level.number - 1], OPEN.inside)


# Called with (function, arguments, keyword arguments) when a batched tensor meets an operator.
HANDLER: list[Callable[..., Any]] = []


class Batched(Tensor):
    """A sample's shape, dtype and device, with the values of all samples beside them. As a tensor
    it has no elements, so whatever passes the operators by raises."""

    value: Tensor
    level: Level
    __torch_function__ = None  # until below: a class that overrides when made is watched for ever

    def __repr__(self) -> str:
        value, level = self.__dict__["value"], self.__dict__["level"]
        return f"Batched(level={level.number}, shape={list(self.shape)}, value={value!r})"

    def __format__(self, specification: str) -> str:
        return repr(self)


def _torch_function(
    cls: type, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
) -> Any:
    return HANDLER[0](func, args, kwargs or {})


Batched.__torch_function__ = classmethod(_torch_function)
SAMPLES.add(Batched)


def batched(value: Tensor, level: Level) -> Batched:
    """The tensor whose samples lie along the value's dimension 0."""
    made: Batched = _C.stand_in(Batched, value)
    attributes = made.__dict__
    attributes["value"] = value
    attributes["level"] = level
    return made


def take_value(x: Batched, value: Tensor) -> None:
    """x stands for other values from now on."""
    _C.exchange_handles(x, _C.stand_in(Batched, value))
    x.__dict__["value"] = value


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


def on_core(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """function of the ordinary tensor inside, batched as x is."""
    return batched(on_core(function, x.value), x.level) if type(x) is Batched else function(x)


def spread(x: Tensor, level: Level) -> Tensor:
    """The values in this level, repeated without a copy if all samples share them."""
    value = value_at(x, level)
    return x.unsqueeze(0).expand(level.size, *x.shape) if value is None else value


def levels_of(*tensors: Any) -> set[Level]:
    """The levels in which one of them is batched."""
    levels: set[Level] = set()
    for x in tensors:
        while type(x) is Batched:
            levels.add(x.level)
            x = x.value
    return levels


def own_copy(x: Tensor, others: Iterable[Any]) -> Tensor:
    """A copy of x with samples in each level in which it or one of the others has them, so that all
    may be written to it."""
    levels = levels_of(x, *others)

    def over(x: Tensor, levels: list[Level]) -> Tensor:
        if not levels:
            return x.clone()
        return batched(over(spread(x, levels[0]), levels[1:]), levels[0])

    return over(x, sorted(levels, key=lambda level: -level.number))


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

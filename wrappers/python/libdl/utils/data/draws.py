# SPDX-License-Identifier: Apache-2.0
"""Steps of an iteration that draw random numbers, noted so that they can be repeated elsewhere."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ... import _creation, _functions as F, _random
from ..._C import Tensor
from ..._types import Generator, uint8

_Result = TypeVar("_Result")
_States = dict[str, Any]


class Generators:
    """The generators that steps may draw from: libdl's default one, some that belong to the
    iteration, and, if code of the user's takes the steps, those of random and of NumPy."""

    def __init__(self, own: Iterable[Generator], users: bool) -> None:
        self.own, self.users = list(own), users

    def read(self) -> _States:
        """Their states, by name, as they are compared fastest."""
        collected: _States = {"default": _random.get_rng_state()}
        for i, generator in enumerate(self.own):
            collected[f"own {i}"] = generator.get_state()
        if self.users:
            collected["random"] = random.getstate()
            if "numpy.random" in sys.modules:
                kind, key, *rest = sys.modules["numpy.random"].get_state()
                collected["numpy"] = (kind, key.tobytes(), *rest)
        return collected

    def tell(self) -> _States:
        """The same without tensors, as one process tells another."""
        states = self.read()
        return {**states, "default": memoryview(states["default"]).tobytes()}

    def write(self, states: _States) -> None:
        for name, state in states.items():
            if name == "default":
                _random.set_rng_state(state)
            elif name == "random":
                version, internal, gauss = state
                random.setstate((version, tuple(internal), gauss))
            elif name == "numpy":
                import numpy

                kind, key, *rest = state
                numpy.random.set_state((kind, numpy.frombuffer(key, "u4"), *rest))
            else:
                self.own[int(name.split()[1])].set_state(state)


def written(states: _States) -> _States:
    """As they are saved: tensors, numbers and texts."""
    return {name: _without_bytes(x) for name, x in states.items()}


def _without_bytes(state: Any) -> Any:
    if isinstance(state, tuple):
        return tuple(map(_without_bytes, state))
    if isinstance(state, bytes):
        return _creation.frombuffer(bytearray(state), dtype=uint8)
    return state


def from_written(states: _States) -> _States:
    if "numpy" not in states:
        return states
    kind, key, *rest = states["numpy"]
    return {**states, "numpy": (kind, memoryview(key).tobytes(), *rest)}


def _equal(a: Any, b: Any) -> bool:
    return F.equal(a, b) if isinstance(a, Tensor) else bool(a == b)


def _same(a: _States, b: _States) -> bool:
    return a.keys() == b.keys() and all(_equal(state, b[name]) for name, state in a.items())


class Draws:
    """Steps, by number.

    Of a step that draws it is noted with which states it began, unless it began where the one
    before it that drew had ended. In an iteration that was resumed, generators that the program has
    not resumed as well are another's between the steps."""

    def __init__(
        self, generators: Generators, watched: bool, around: Generators | None = None
    ) -> None:
        """watched: the steps may draw. around: what is drawn beside them may come from these."""
        self.generators, self.watched = generators, watched
        self.around = around or generators
        self.count = 0
        self.noted: dict[int, _States] = {}
        self.last = -1  # the last step that drew
        self._ended: _States | None = None  # the states behind that
        self._apart: _States = {}  # states that are not the program's between the steps

    def step(self, function: Callable[[], _Result]) -> _Result:
        """Takes the next step."""
        if not self.watched:
            self.count += 1
            return function()
        return self._drawing(function, self._note)

    def beside(self, function: Callable[[], _Result]) -> _Result:
        """Draws from the same generators, though not as one of the steps."""
        return self._drawing(function, lambda before, after: None) if self._apart else function()

    def _drawing(self, function: Callable[[], _Result], note: Callable[..., None]) -> _Result:
        outside: _States = {}
        if self._apart:
            here = self.around.read()
            outside = {name: here[name] for name in self._apart}
            self.around.write(self._apart)
        before = self.generators.read()
        try:
            return function()
        finally:
            note(before, self.generators.read())
            if self._apart:
                after = self.around.read()
                self._apart = {name: after[name] for name in self._apart}
                self.around.write(outside)

    def _note(self, before: _States, after: _States) -> None:
        if not _same(before, after):
            if self._ended is None or not _same(before, self._ended):
                self.noted[self.count] = before
            self._ended, self.last = after, self.count
        self.count += 1

    def state_dict(self) -> dict[str, Any]:
        """The notes, and the states with which the next step begins."""
        noted = {number: written(states) for number, states in self.noted.items()}
        return {"noted": noted, "last": self.last, "now": self.now()}

    def now(self) -> _States:
        return written({**self.around.read(), **self._apart})

    def leave(self, now: _States) -> None:
        """What the program has not resumed to these states is another's from here on."""
        here = self.around.read()
        for name, state in from_written(now).items():
            if name in here and name.startswith("own"):
                self.generators.write({name: state})
            elif name in here and not _equal(here[name], state):
                self._apart[name] = state

    def repeat(self, state: dict[str, Any], function: Callable[[int], object], count: int) -> None:
        """Takes the first steps again, so many of them and all that drew, as they were taken."""
        noted = {number: from_written(states) for number, states in state["noted"].items()}
        here = self.generators.read()
        try:
            for number in range(max(count, state["last"] + 1)):
                self.generators.write(noted.get(number, {}))
                function(number)
                self.count = number + 1
            self.noted, self.last = dict(noted), state["last"]
            self._ended = self.generators.read() if noted else None
        finally:
            self.generators.write({name: x for name, x in here.items() if name[:3] != "own"})
        self.leave(state["now"])

# SPDX-License-Identifier: Apache-2.0
"""Interceptors: observe every call of a program, forward, backward, in hooks and optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import _C

__all__ = ["Call", "intercept"]

_PHASES = ("forward", "backward", "optimizer", "hook")


class Call(NamedTuple):
    """One call, as shown to an interceptor."""

    name: str
    """The operator ("softmax"), or the part of one ("softmax_backward", "adam")."""
    is_operator: bool
    """Whether arguments are those of the operator; a part shows the tensors that it reads."""
    phase: str
    """"forward", "backward", "optimizer" or "hook"."""
    depth: int
    """The number of calls around it: 0 for those of the program and of backward passes."""
    source: str | None
    """The operator on whose behalf it is made: in a backward pass the one whose gradient it
    computes, for a nested call the outermost."""
    arguments: tuple[Any, ...]
    destinations: tuple[Any, ...] | None
    """The tensors that it writes, if it is in place or was given out=."""
    results: tuple[Any, ...] | None
    """The results, after the call; None before it, if it failed, or if there are destinations."""
    failed: bool


def _shown(function: Callable[[Call], Any]) -> Callable[[tuple[Any, ...]], Any]:
    def call(seen: tuple[Any, ...]) -> Any:
        name, is_operator, phase, *others = seen
        return function(Call._make((name, is_operator, _PHASES[phase], *others)))

    return call


class intercept:  # noqa: N801  (a context manager, as no_grad is)
    """Shows each call on this thread to `before` and `after`, inside a with block.

    before(call) may replace the call: it returns a tensor, or a tuple of them, as the results; or,
    if call.destinations are given, writes them and returns True. None passes the call on to outer
    interceptors, and finally to the operator. after(call) sees the results; its return value is
    ignored. Neither sees its own calls. An exception in either is raised from the call.

    parts=False hides the calls made by operators, backward passes and optimizers.
    """

    def __init__(
        self,
        before: Callable[[Call], Any] | None = None,
        after: Callable[[Call], Any] | None = None,
        *,
        parts: bool = True,
    ) -> None:
        if before is None and after is None:
            raise TypeError("intercept: wants before, after or both")
        for name, function in (("before", before), ("after", after)):
            if function is not None and not callable(function):
                raise TypeError(f"intercept: {name} must be callable, found {function!r}")
        self._before = None if before is None else _shown(before)
        self._after = None if after is None else _shown(after)
        self._parts = parts

    def __enter__(self) -> intercept:
        _C.interceptor_push(self._before, self._after, self._parts)
        return self

    def __exit__(self, *exception: object) -> None:
        _C.interceptor_pop()

# SPDX-License-Identifier: Apache-2.0
"""Operators that C composes of others, under vmap: each of these comes to Python by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _C, _functional, _functions, _overloads
from .._C import Tensor
from .._kinds import CALLS, COMPOSED_IN_C
from .._vmap_levels import OPEN, Batched, Open
from .._overrides import disabled
from ._rules import DRAWING

_SPACES: dict[str, Any] = {
    "function": _functions,
    "functional": _functional,
    "method": Tensor,
    "property": Tensor,
}


def run_composed(func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """func(*args, **kwargs), where C runs on the samples' stand-ins, and gets for an operator
    inside what Python answers."""
    around = OPEN.levels, OPEN.inside
    answering = False
    kept = []  # C holds the handles alone of what the samples' values lie beside
    depths: list[int] = []  # that of what Python calls; the operator's parts are deeper

    def answered(seen: tuple[Any, ...]) -> Any:
        nonlocal answering
        name, is_operator, _, depth, _, arguments, *_ = seen
        if not depths:
            depths.append(depth)
        entered = depth == depths[0] and name in COMPOSED_IN_C
        draws = name in DRAWING and not answering
        if entered or not (draws or _batch_among(arguments)):
            return None
        if not is_operator or name not in CALLS:
            raise NotImplementedError(f"vmap: {func.__name__} has a part that has no rule: {name}")
        before, outside = _C.disable_overriding(0), answering
        answering = True
        try:
            with Open(*around):
                answer = _called(name, arguments)
        finally:
            answering = outside
            _C.disable_overriding(before)
        kept.append(answer)
        return tuple(answer) if isinstance(answer, (tuple, list)) else answer

    _C.interceptor_push(answered, None, True)
    try:
        with disabled(), Open((), ()):  # its parts draw, and ask by themselves
            return func(*args, **kwargs)
    finally:
        _C.interceptor_pop()


def _batch_among(values: Any) -> bool:
    return any(
        type(x) is Batched or (type(x) is tuple and any(type(y) is Batched for y in x))
        for x in values
    )


def _called(name: str, arguments: tuple[Any, ...]) -> Any:
    """An operator's Python function, called with C's arguments."""
    kind, function, positions, named = CALLS[name]
    space = _overloads if function in _overloads.__all__ else _SPACES[kind]
    operator = getattr(space, function)
    given = [x.item() if _C.is_number(x) else x for x in arguments]
    return operator(*[given[i] for i in positions], **{k: given[i] for k, i in named.items()})

# SPDX-License-Identifier: Apache-2.0
"""Hooks of tensors, as a dict that tells of them, and the dtype of gradients."""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from . import _C
from ._C import Tensor
from ._errors import ArgumentTypeError, AutogradError, UnsupportedError
from ._types import dtype as Dtype

_NUMBERS = itertools.count()
# By the tensor's id, both as weak references: what the tensor calls holds the dict, so that a hook
# which holds its tensor is a circle that is found, and not held from here.
_HOOKS: dict[int, tuple[Any, Any]] = {}


def _hooks_of(x: Tensor) -> OrderedDict[int, Any] | None:
    known = _HOOKS.get(id(x))
    return known[1]() if known is not None and known[0]() is x else None


def hooked(x: Tensor, hook: Callable[[Tensor], Any]) -> _Hook:
    """A new hook of the tensor, which is called as long as its dict has it."""
    known = _hooks_of(x)
    hooks = OrderedDict() if known is None else known
    number = next(_NUMBERS)

    def call(gradient: Tensor) -> Tensor | None:
        current = hooks.get(number)
        return None if current is None else current(gradient)

    result = _Hook(_C.add_hook(x, 0, call if callable(hook) else hook), hooks, number)
    hooks[number] = hook
    if known is None:
        _keep(x, hooks)
    return result


def _keep(x: Tensor, hooks: OrderedDict[int, Any]) -> None:
    place = id(x)
    _HOOKS[place] = weakref.ref(x, lambda _: _HOOKS.pop(place, None)), weakref.ref(hooks)


class _Hook:
    """A registered hook; remove() removes it, and so does the end of a with statement."""

    def __init__(self, held: Any, hooks: OrderedDict[int, Any], number: int) -> None:
        self._held, self._hooks, self.id = held, hooks, number

    def remove(self) -> None:
        self._hooks.pop(self.id, None)
        _C.remove_hook(self._held)

    def __enter__(self) -> _Hook:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def _set_hooks(x: Tensor, values: Mapping[int, Any] | None) -> None:
    if values is not None and not isinstance(values, Mapping):
        raise ArgumentTypeError(
            f"_backward_hooks: found {values!r}, wanted a dict of functions or None"
        )
    old = _hooks_of(x)
    if old is values:
        return
    if old is not None:
        old.clear()
        del _HOOKS[id(x)]
    for hook in (values or {}).values():
        hooked(x, hook)


def _set_grad_dtype(x: Tensor, requested: object) -> None:
    if requested is not None and not isinstance(requested, Dtype):
        raise ArgumentTypeError(f"grad_dtype: found {requested!r}, wanted a dtype")
    if not x.is_leaf:
        raise AutogradError("grad_dtype: the tensor has a history, wanted a leaf")
    if requested is not x.dtype:
        raise UnsupportedError(
            f"grad_dtype: found {requested}, wanted {x.dtype}: gradients have their tensor's dtype"
        )


# How each is read and written.
PROPERTIES: dict[str, tuple[Callable[[Tensor], Any], Callable[[Tensor, Any], None]]] = {
    "grad_dtype": (lambda x: x.dtype, _set_grad_dtype),
    "_backward_hooks": (_hooks_of, _set_hooks),
}

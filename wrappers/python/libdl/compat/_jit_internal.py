# SPDX-License-Identifier: Apache-2.0
"""PyTorch's private torch._jit_internal: the words with which code speaks to its compiler. Python
itself runs the code here, so that each returns what it gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final as Final, Generic, TypeVar

from .jit import (
    _overload as _overload,
    _overload_method as _overload_method,
    export as export,
    ignore as ignore,
    is_scripting as is_scripting,
    unused as unused,
)

_T = TypeVar("_T")


class FunctionModifiers:
    """How a compiler would treat a function."""

    UNUSED = "unused (ignored and replaced with raising of an exception)"
    IGNORE = "ignore (leave as a call to Python, cannot be torch.jit.save'd)"
    EXPORT = "export (compile this function even if nothing calls it)"
    DEFAULT = "default (compile if called from a exported function / forward)"
    COPY_TO_SCRIPT_WRAPPER = (
        "if this method is not scripted, copy the python method onto the scripted model"
    )
    _DROP = "_drop (function is fully ignored, declaration can be unscriptable)"


def boolean_dispatch(
    arg_name: str,
    arg_index: int,
    default: bool,
    if_true: Callable[..., Any],
    if_false: Callable[..., Any],
    module_name: str,
    func_name: str,
) -> Any:
    """A function that calls one of two, by an argument that is true or false."""

    def chosen(*args: Any, **kwargs: Any) -> Any:
        value = kwargs.get(arg_name, args[arg_index] if len(args) > arg_index else default)
        return (if_true if value else if_false)(*args, **kwargs)

    chosen.__doc__, chosen.__name__ = if_true.__doc__ or if_false.__doc__, func_name
    chosen.__module__ = module_name or chosen.__module__
    return chosen


def _copy_to_script_wrapper(fn: _T) -> _T:
    """Returns the function itself."""
    return fn


def _drop(fn: _T) -> _T:
    """Returns the function itself."""
    return fn


def is_ignored_fn(fn: Any) -> bool:
    """False: nothing is left out."""
    return False


def should_drop(fn: Any) -> bool:
    """False: nothing is left out."""
    return False


def get_torchscript_modifier(fn: Any) -> str:
    """FunctionModifiers.DEFAULT."""
    return FunctionModifiers.DEFAULT


@contextmanager
def _disable_emit_hooks() -> Iterator[None]:
    """Changes nothing."""
    yield


class BroadcastingList1(Generic[_T]):
    """For annotations: a number, or a list of so many."""


BroadcastingList2 = BroadcastingList3 = BroadcastingList4 = BroadcastingList1
BroadcastingList5 = BroadcastingList6 = BroadcastingList1

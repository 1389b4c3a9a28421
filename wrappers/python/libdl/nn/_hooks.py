# SPDX-License-Identifier: Apache-2.0
"""Handles of hooks, and the hooks that every module has."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from .. import _C


class RemovableHandle:
    """A registered hook; remove() removes it, and so does the end of a with statement.

    Arguments:
        hooks_dict: where the hook is kept under the handle's id; the handle does not keep it alive
        extra_dict: other dictionaries (one, or a list) that may have an entry of that id
    """

    next_id = 0

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id: int = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        extra = [] if extra_dict is None else extra_dict
        self.extra_dict_ref = tuple(
            weakref.ref(one) for one in (extra if isinstance(extra, list) else [extra])
        )

    def remove(self) -> None:
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()

    def __getstate__(self) -> tuple[Any, int, tuple[Any, ...]]:
        # The dictionaries themselves, so that the copy of a module's handle refers to the copy's.
        return self.hooks_dict_ref(), self.id, tuple(one() for one in self.extra_dict_ref)

    def __setstate__(self, state: tuple[Any, int, tuple[Any, ...]]) -> None:
        def refer(hooks: Any) -> Any:
            return weakref.ref(OrderedDict() if hooks is None else hooks)

        hooks, self.id, extra = state
        self.hooks_dict_ref = refer(hooks)
        self.extra_dict_ref = tuple(refer(one) for one in extra)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)


def added(hooks: Any, hook: Any, prepend: bool = False,
          marks: tuple[tuple[Any, bool], ...] = ()) -> RemovableHandle:  # fmt: skip
    """Adds a hook, in front of the others if prepend.

    Arguments:
        marks: dictionaries, and whether the hook is to be in each
    """
    handle = RemovableHandle(hooks, extra_dict=[marked for marked, _ in marks])
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    for marked, wanted in marks:
        if wanted:
            marked[handle.id] = True
    return handle


# -- hooks of all modules --------------------------------------------------------------------------

Hooks = OrderedDict[int, Callable[..., Any]]

_global_forward_pre_hooks: Hooks = OrderedDict()
_global_forward_hooks: Hooks = OrderedDict()
_global_forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
_global_forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()
_global_backward_pre_hooks: Hooks = OrderedDict()
_global_backward_hooks: Hooks = OrderedDict()
_global_parameter_registration_hooks: Hooks = OrderedDict()
_global_buffer_registration_hooks: Hooks = OrderedDict()
_global_module_registration_hooks: Hooks = OrderedDict()

# Whether the global backward hooks are full ones; None: there were none yet.
_global_is_full_backward_hook: bool | None = None

_OF_CALLS = (_global_forward_pre_hooks, _global_forward_hooks, _global_backward_pre_hooks,
             _global_backward_hooks)  # fmt: skip


class _HandleOfAll(RemovableHandle):
    """The handle of a hook of calls, of which the extension must know that there are some."""

    def remove(self) -> None:
        super().remove()
        _tell()


def _tell() -> None:
    _C.hook_all_calls(any(_OF_CALLS))


def _added_to_all(hooks: Any, hook: Any, *marked: Any) -> RemovableHandle:
    handle = _HandleOfAll(hooks, extra_dict=list(marked))
    hooks[handle.id] = hook
    _tell()
    return handle


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, args) before forward of every module; its result replaces the arguments."""
    return _added_to_all(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook: Callable[..., Any], *, with_kwargs: bool = False,
                                 always_call: bool = False) -> RemovableHandle:  # fmt: skip
    """Calls hook(module, args, output) after forward of every module, before the module's own
    hooks; see Module.register_forward_hook."""
    handle = _added_to_all(_global_forward_hooks, hook, _global_forward_hooks_with_kwargs,
                           _global_forward_hooks_always_called)  # fmt: skip
    if with_kwargs:
        _global_forward_hooks_with_kwargs[handle.id] = True
    if always_call:
        _global_forward_hooks_always_called[handle.id] = True
    return handle


def _backward_hooks_are(full: bool) -> None:
    global _global_is_full_backward_hook
    if _global_is_full_backward_hook not in (None, full):
        raise RuntimeError("backward hooks of all modules are either full ones or not: some of the "
                           "other kind were registered before")  # fmt: skip
    _global_is_full_backward_hook = full


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, grad_input, grad_output) for the last operator of every module; a full
    backward hook has the module's gradients."""
    _backward_hooks_are(False)
    return _added_to_all(_global_backward_hooks, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, grad_input, grad_output) in backward of every module."""
    _backward_hooks_are(True)
    return _added_to_all(_global_backward_hooks, hook)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, grad_output) before backward of every module; its result replaces them."""
    return _added_to_all(_global_backward_pre_hooks, hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, name, parameter) when one is registered; its result replaces it."""
    return added(_global_parameter_registration_hooks, hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, name, buffer) when one is registered; its result replaces it."""
    return added(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, name, submodule) when one is registered; its result replaces it."""
    return added(_global_module_registration_hooks, hook)


def registered(hooks: Hooks, module: Any, name: str, value: Any) -> Any:
    """The value, or what hooks of registration replace it by."""
    for hook in hooks.values():
        answer = hook(module, name, value)
        if answer is not None:
            value = answer
    return value

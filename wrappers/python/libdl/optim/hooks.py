# SPDX-License-Identifier: Apache-2.0
"""Functions that are called before and after an optimizer's step, and around its state."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

Hooks = OrderedDict[int, Callable[..., Any]]

_global_optimizer_pre_hooks: Hooks = OrderedDict()
_global_optimizer_post_hooks: Hooks = OrderedDict()


class RemovableHandle:
    """A registered hook; remove() removes it, and so does the end of a with statement."""

    count = 0

    def __init__(self, hooks: Hooks, hook: Callable[..., Any], first: bool = False) -> None:
        RemovableHandle.count += 1
        self._hooks, self.id = hooks, RemovableHandle.count
        hooks[self.id] = hook
        if first:
            hooks.move_to_end(self.id, last=False)

    def remove(self) -> None:
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(optimizer, args, kwargs) before each step of every optimizer."""
    return RemovableHandle(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Calls hook(optimizer, args, kwargs) after each step of every optimizer."""
    return RemovableHandle(_global_optimizer_post_hooks, hook)


NAMES = tuple(
    f"_optimizer_{event}_{when}_hooks"
    for event in ("step", "state_dict", "load_state_dict")
    for when in ("pre", "post")
)


class Hooked:
    """What registers an optimizer's hooks. They are not part of its pickled state."""

    _optimizer_step_pre_hooks: Hooks
    _optimizer_step_post_hooks: Hooks
    _optimizer_state_dict_pre_hooks: Hooks
    _optimizer_state_dict_post_hooks: Hooks
    _optimizer_load_state_dict_pre_hooks: Hooks
    _optimizer_load_state_dict_post_hooks: Hooks

    def _begin_hooks(self) -> None:
        for name in NAMES:
            self.__dict__.setdefault(name, OrderedDict())

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls hook(optimizer, args, kwargs) before each step; it may return other args and
        kwargs. The first of args is the optimizer."""
        return RemovableHandle(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls hook(optimizer, args, kwargs) after each step."""
        return RemovableHandle(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[..., None], prepend: bool = False
    ) -> RemovableHandle:
        """Calls hook(optimizer) before state_dict; prepend: before the other hooks."""
        return RemovableHandle(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Calls hook(optimizer, state_dict) after state_dict; it may return another one."""
        return RemovableHandle(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Calls hook(optimizer, state_dict) before load_state_dict, with a shallow copy; it may
        return another state to load."""
        return RemovableHandle(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., None], prepend: bool = False
    ) -> RemovableHandle:
        """Calls hook(optimizer) after load_state_dict."""
        return RemovableHandle(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    def _before_step(self, args: object, kwargs: object) -> tuple[Any, Any]:
        for hook in (
            *_global_optimizer_pre_hooks.values(),
            *self._optimizer_step_pre_hooks.values(),
        ):
            changed = hook(self, args, kwargs)
            if changed is None:
                continue
            if not isinstance(changed, tuple) or len(changed) != 2:
                raise RuntimeError(
                    f"a step's pre hook returned {changed!r}, wanted None or (args, kwargs)"
                )
            args, kwargs = changed
        return args, kwargs

    def _after_step(self, args: object, kwargs: object) -> None:
        for hook in (
            *self._optimizer_step_post_hooks.values(),
            *_global_optimizer_post_hooks.values(),
        ):
            hook(self, args, kwargs)

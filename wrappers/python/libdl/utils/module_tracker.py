# SPDX-License-Identifier: Apache-2.0
"""Which modules are running, forward or backward, while other code asks."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .. import Tensor
from .._backward_passes import watched_pass
from ..autograd.graph import register_multi_grad_hook
from ..nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from ._pytree import tree_leaves

if TYPE_CHECKING:
    from ..nn import Module

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """Within a with statement, `parents` has the qualified names of the modules that are running,
    and "Global"; `is_bw` tells whether a backward pass runs.

    A module that no other one holds is called by its class's name. During a backward pass a module
    runs from when the gradients of its results are known until those of its arguments are.
    """

    parents: set[str]

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._seen: weakref.WeakSet[Any] = weakref.WeakSet()
        self._handles: list[Any] = []

    @property
    def is_bw(self) -> bool:
        """Whether a backward pass through a module that was tracked runs on this thread."""
        return watched_pass() is not None

    def _name(self, module: Module) -> str:
        name = self._names.setdefault(module, type(module).__name__)
        if module not in self._seen:
            self._seen.add(module)
            for child_name, child in module.named_children():
                self._names[child] = f"{name}.{child_name}"
                self._name(child)
        return name

    def _when(self, tensors: Iterable[Any], then: Callable[..., None]) -> None:
        watched = [x for x in tree_leaves(tensors) if isinstance(x, Tensor) and x.requires_grad]
        if watched:
            self._handles.append(register_multi_grad_hook(watched, then))

    def _before(self, module: Module, inputs: Any) -> None:
        name = self._name(module)
        self.parents.add(name)
        self._when(inputs, lambda *_: self.parents.discard(name))

    def _after(self, module: Module, inputs: Any, output: Any) -> None:
        name = self._name(module)
        self.parents.discard(name)

        def entered(*_: Any) -> None:
            self._clear_at_the_end()
            self.parents.add(name)

        self._when((output,), entered)

    def _clear_at_the_end(self) -> None:
        running = watched_pass()
        if running is not None and self._over not in running.at_the_end:
            running.at_the_end.append(self._over)

    def _over(self) -> None:
        self.parents = {"Global"}

    def __enter__(self) -> ModuleTracker:
        self._handles = [
            register_module_forward_pre_hook(self._before),
            register_module_forward_hook(self._after),
        ]
        return self

    def __exit__(self, *exception: object) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

# SPDX-License-Identifier: Apache-2.0
"""Modules that learn the shapes of their parameters from the first input."""

from __future__ import annotations

from itertools import chain
from typing import Any

from ..._C import Tensor
from ..._modes import no_grad
from ..parameter import is_lazy
from .module import Module, _WrappedHook

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin(Module):
    """Comes before a layer's class, and makes it one whose parameters get their shapes at the first
    call, or from a state.

    A subclass assigns UninitializedParameter and UninitializedBuffer, and materializes them in
    initialize_parameters, which has forward's arguments. cls_to_become: the class afterwards."""

    cls_to_become: type[Any] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kind = type(self)
        # Functions of the class, not bound to the module: a module is no part of a cycle.
        self._load_hook = self._register_load_state_dict_pre_hook(
            kind._lazy_load_hook, with_module=True
        )
        self._initialize_hook = self.register_forward_pre_hook(
            _WrappedHook(kind._infer_parameters, self), with_kwargs=True
        )

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no shape yet."""
        return any(map(is_lazy, chain(self._parameters.values(), self._buffers.values())))

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Materializes parameters and buffers for these arguments of forward."""
        raise NotImplementedError(f"{type(self).__name__} has no method initialize_parameters")

    def _infer_parameters(self, module: Module, args: Any, kwargs: Any = None) -> None:
        self.initialize_parameters(*args, **(kwargs or {}))
        if self.has_uninitialized_params():
            raise RuntimeError(
                f"{type(self).__name__}: initialize_parameters left a parameter or "
                "buffer without a shape"
            )
        self._initialize_hook.remove()
        self._load_hook.remove()
        del self._initialize_hook, self._load_hook
        if self.cls_to_become is not None:
            self.__class__ = self.cls_to_become

    def _lazy_load_hook(self, state_dict: dict[str, Any], prefix: str, *others: Any) -> None:
        parts: dict[str, Any] = {**self._parameters, **self._buffers}
        for name, value in parts.items():
            values = state_dict.get(prefix + name)
            if is_lazy(value) and isinstance(values, Tensor) and not is_lazy(values):
                with no_grad():
                    value.materialize(values.shape)


def materialize(part: Any, *shape: int) -> None:
    """Gives a part its shape; None has none, and one from a state keeps its own."""
    if is_lazy(part):
        part.materialize(shape)

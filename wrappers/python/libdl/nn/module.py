# SPDX-License-Identifier: Apache-2.0
"""Modules: parts of a network, with parameters, buffers and submodules.

The class is built up in steps, one file each: _parts (what it consists of), _walks (over what is
below it), _state (saving and loading), _calls (with hooks), _conversions (to dtypes and devices)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._C import Tensor
from ._conversions import ModuleConversions


def _no_forward(self: Module, *args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError(f"{type(self).__name__} has no method forward")


class Module(ModuleConversions):
    """The base of all parts of networks. Subclasses call super().__init__() first, assign
    parameters, buffers and modules as attributes, and write forward.

    Example:
        >>> class Twice(nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.layer = nn.Linear(2, 2)
        ...     def forward(self, x):
        ...         return self.layer(self.layer(x))
        >>> model = Twice()
        >>> model(torch.zeros(5, 2)).shape
        libdl.Size([5, 2])
        >>> [name for name, _ in model.named_parameters()]
        ['layer.weight', 'layer.bias']
    """

    dump_patches = False
    forward: Callable[..., Any] = _no_forward

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Changes nothing; PyTorch would compile forward."""

    # -- printing ----------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """The subclass's part of the repr."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        text = self.extra_repr()
        extra = text.split("\n") if text else []
        parts = []
        for name, module in self._modules.items():
            text = repr(module).replace("\n", "\n  ")
            parts.append(f"({name}): {text}")
        lines = extra + parts
        if not parts and len(extra) <= 1:
            return f"{self._get_name()}({extra[0] if extra else ''})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


if TYPE_CHECKING:

    class Layer(Module):
        """A module that maps a tensor to a tensor; exists for type checkers only."""

        def __call__(self, input: Tensor) -> Tensor: ...

    class Loss(Module):
        """A module that maps a prediction and a target to a loss, likewise."""

        def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

else:
    Layer = Loss = Module

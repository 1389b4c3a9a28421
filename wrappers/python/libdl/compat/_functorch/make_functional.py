# SPDX-License-Identifier: Apache-2.0
"""Modules as functions of their parameters, in the words of the package functorch; libdl.func's are
functional_call and stack_module_state."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from .. import Tensor, stack
from ..func import functional_call
from ..nn import Module

__all__ = [
    "FunctionalModule",
    "FunctionalModuleWithBuffers",
    "combine_state_for_ensemble",
    "make_functional",
    "make_functional_with_buffers",
]


class FunctionalModuleWithBuffers(Module):
    """f(parameters, buffers, *inputs): the module's forward with these tensors in place of its
    own."""

    def __init__(self, stateless_model: Module) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = tuple(name for name, _ in stateless_model.named_parameters())
        self.buffer_names = tuple(name for name, _ in stateless_model.named_buffers())

    def forward(
        self, params: Iterable[Tensor], buffers: Iterable[Tensor], *args: Any, **kwargs: Any
    ) -> Any:
        state = dict(zip(self.param_names, params, strict=True))
        state.update(zip(self.buffer_names, buffers, strict=True))
        return functional_call(self.stateless_model, state, args, kwargs)


class FunctionalModule(Module):
    """f(parameters, *inputs): the module's forward with these tensors in place of its own."""

    def __init__(self, stateless_model: Module) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = tuple(name for name, _ in stateless_model.named_parameters())

    def forward(self, params: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        state = dict(zip(self.param_names, params, strict=True))
        return functional_call(self.stateless_model, state, args, kwargs)


def _parameters(model: Module, detached: bool) -> tuple[Tensor, ...]:
    return tuple(p.detach() if detached else p for p in model.parameters())


def make_functional(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModule, tuple[Tensor, ...]]:
    """A function of parameters, and the parameters of a copy of the module. RuntimeError if it has
    buffers."""
    if list(model.buffers()):
        raise RuntimeError(
            "make_functional: the module has buffers; use make_functional_with_buffers"
        )
    held = copy.deepcopy(model)
    return FunctionalModule(held), _parameters(held, disable_autograd_tracking)


def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """A function of parameters and buffers, and those of a copy of the module."""
    held = copy.deepcopy(model)
    parameters = _parameters(held, disable_autograd_tracking)
    return FunctionalModuleWithBuffers(held), parameters, tuple(held.buffers())


def combine_state_for_ensemble(
    models: Sequence[Module],
) -> tuple[Any, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """One function for modules of one class, for vmap over their stacked parameters and buffers."""
    if not models:
        raise RuntimeError("combine_state_for_ensemble: found no models, wanted at least one")
    parts = [make_functional_with_buffers(model) for model in models]
    columns = [zip(*(part[i] for part in parts), strict=True) for i in (1, 2)]
    parameters, buffers = (tuple(stack(list(column)) for column in found) for found in columns)
    return parts[0][0], parameters, buffers

# SPDX-License-Identifier: Apache-2.0
"""Backward hooks of modules: the call is wrapped in two functions that see the gradients."""

from __future__ import annotations

from typing import Any

from .._C import Tensor
from ..autograd.function import Function


class _Watch(Function):
    """Passes tensors through, and their gradients through a callable."""

    @staticmethod
    def forward(ctx: Any, see: Any, *tensors: Tensor) -> Any:
        ctx.see = see
        ctx.set_materialize_grads(False)
        return tuple(tensor.view(tensor.shape) for tensor in tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        if all(gradient is None for gradient in gradients):
            return (None, *gradients)
        return (None, *ctx.see(gradients))


def _through(see: Any, values: Any) -> Any:
    single = isinstance(values, Tensor)
    items = [values] if single else list(values)
    places = [i for i, v in enumerate(items) if isinstance(v, Tensor) and v.requires_grad]
    if not places:
        return values
    for i, watched_tensor in zip(places, _Watch.apply(see, *(items[i] for i in places)),
                                 strict=True):  # fmt: skip
        items[i] = watched_tensor
    return items[0] if single else type(values)(items)


class Watch:
    """One call of a module whose hooks get (module, grad_input, grad_output)."""

    def __init__(self, module: Any, hooks: list[Any]) -> None:
        self.module, self.hooks = module, hooks
        self.outgoing: tuple[Any, ...] = ()
        self.reached = False

    def arguments(self, args: Any) -> Any:
        """The arguments of forward, whose gradients are seen last."""
        self.reached = any(isinstance(v, Tensor) and v.requires_grad for v in args)
        return _through(self._see_input, tuple(args))

    def result(self, result: Any) -> Any:
        """The result of the call, after forward hooks."""
        if isinstance(result, (Tensor, tuple, list)):
            return _through(self._see_output, result)
        return result

    def _see_output(self, gradients: Any) -> Any:
        self.outgoing = tuple(gradients)
        if not self.reached:
            for hook in self.hooks:
                hook(self.module, (), self.outgoing)
        return gradients

    def _see_input(self, gradients: Any) -> Any:
        for hook in self.hooks:
            answer = hook(self.module, tuple(gradients), self.outgoing)
            if answer is not None:
                gradients = answer if isinstance(answer, tuple) else (answer,)
        return gradients

# SPDX-License-Identifier: Apache-2.0
"""Backward hooks of modules: the call stands between two functions that see the gradients."""

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


def watched(module: Any, args: Any, kwargs: Any, hooks: list[Any]) -> Any:
    """forward with its hooks around: they see (module, grad_input, grad_output)."""
    outgoing: list[Any] = []

    def see_output(gradients: Any) -> Any:
        outgoing[:] = gradients
        if not reached:
            for hook in hooks:
                hook(module, (), tuple(gradients))
        return gradients

    def see_input(gradients: Any) -> Any:
        for hook in hooks:
            answer = hook(module, tuple(gradients), tuple(outgoing))
            if answer is not None:
                gradients = answer if isinstance(answer, tuple) else (answer,)
        return gradients

    reached = any(isinstance(v, Tensor) and v.requires_grad for v in args)
    result = module.forward(*_through(see_input, tuple(args)), **kwargs)
    if isinstance(result, (Tensor, tuple, list)):
        result = _through(see_output, result)
    return result

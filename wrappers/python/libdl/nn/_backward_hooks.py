# SPDX-License-Identifier: Apache-2.0
"""Backward hooks of modules: the call is wrapped in two functions that see the gradients."""

from __future__ import annotations

import warnings
from typing import Any

from .._C import Tensor
from .._modes import is_grad_enabled
from ..autograd.function import Function


class _Watch(Function):
    """Passes tensors through, and their gradients through a callable; with_zeros: where there is
    no gradient, zeros."""

    @staticmethod
    def forward(ctx: Any, see: Any, with_zeros: bool, *tensors: Tensor) -> Any:
        ctx.see = see
        ctx.set_materialize_grads(with_zeros)
        return tuple(tensor.view(tensor.shape) for tensor in tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        if all(gradient is None for gradient in gradients):
            return (None, None, *gradients)
        return (None, None, *ctx.see(gradients))


class _Side:
    """The arguments or the results of one call, of which some are watched."""

    def __init__(self, see: Any, with_zeros: bool) -> None:
        self._see, self._with_zeros = see, with_zeros
        self._count = 0
        self._places: list[int] = []

    def through(self, values: Any) -> Any:
        """The values. If one requires grad, all of them are watched, and require grad."""
        items = [values] if isinstance(values, Tensor) else list(values)
        self._count = len(items)
        if not any(isinstance(v, Tensor) and v.requires_grad for v in items):
            return values
        self._places = [
            i for i, v in enumerate(items)
            if isinstance(v, Tensor) and (v.is_floating_point() or v.is_complex())
        ]  # fmt: skip
        watched = _Watch.apply(self._seen, self._with_zeros, *(items[i] for i in self._places))
        for i, tensor in zip(self._places, watched):
            items[i] = tensor
        if isinstance(values, Tensor):
            return items[0]
        return type(values)(*items) if hasattr(values, "_fields") else type(values)(items)

    def _seen(self, gradients: Any) -> Any:
        """Between the watched gradients and a tuple with a place for every value."""
        full: list[Any] = [None] * self._count
        for place, gradient in zip(self._places, gradients):
            full[place] = gradient
        answer = self._see(tuple(full))
        return [answer[place] for place in self._places]

    def replaced(self, answer: Any, what: str) -> tuple[Any, ...]:
        """A hook's answer as a tuple."""
        replacement = (answer,) if isinstance(answer, Tensor) else tuple(answer)
        if len(replacement) != self._count:
            raise RuntimeError(f"a {what} returned {len(replacement)} gradients, wanted "
                               f"{self._count}")  # fmt: skip
        return replacement


class Watch:
    """One call of a module.

    Arguments:
        pre_hooks: get (module, grad_output)
        hooks: get (module, grad_input, grad_output)
    """

    def __init__(self, module: Any, pre_hooks: list[Any], hooks: list[Any]) -> None:
        self._module, self._pre_hooks, self._hooks = module, pre_hooks, hooks
        self._inputs = _Side(self._see_input, with_zeros=True)
        self._results = _Side(self._see_output, with_zeros=False)
        self._outgoing: tuple[Any, ...] | None = None

    def arguments(self, args: Any) -> Any:
        """The arguments of forward, whose gradients are seen last."""
        return self._inputs.through(args) if is_grad_enabled() and self._hooks else args

    def result(self, result: Any) -> Any:
        """The result of the call, after forward hooks."""
        if not is_grad_enabled():
            return result
        if isinstance(result, (Tensor, tuple, list)):
            return self._results.through(result)
        warnings.warn("a module with backward hooks returned a "
                      f"{type(result).__name__}, wanted a tensor or a tuple of tensors: its hooks "
                      "are not called", stacklevel=4)  # fmt: skip
        return result

    def _see_output(self, gradients: tuple[Any, ...]) -> Any:
        for hook in self._pre_hooks:
            answer = hook(self._module, gradients)
            if answer is not None:
                gradients = self._results.replaced(answer, "backward pre-hook")
        if self._inputs._places:
            self._outgoing = gradients
            return gradients
        for hook in self._hooks:  # at once, because no gradient reaches the inputs
            answer = hook(self._module, (None,) * self._inputs._count, gradients)
            if answer is not None and (not isinstance(answer, tuple) or any(
                    gradient is not None for gradient in answer)):  # fmt: skip
                raise RuntimeError("a backward hook of a module of which no input requires grad "
                                   "returned gradients, wanted None")  # fmt: skip
        return gradients

    def _see_input(self, gradients: tuple[Any, ...]) -> Any:
        if self._outgoing is None:  # the gradient did not come through the module's result
            return gradients
        outgoing, self._outgoing = self._outgoing, None
        for hook in self._hooks:
            answer = hook(self._module, gradients, outgoing)
            if answer is not None:
                gradients = self._inputs.replaced(answer, "backward hook")
        return gradients


def add_to_last(module: Any, hooks: list[Any], result: Any) -> None:
    """The older kind of backward hook: it sees the gradients of the operator that made the first
    tensor of the result."""
    while not isinstance(result, Tensor):
        if isinstance(result, dict):
            result = next(value for value in result.values() if isinstance(value, Tensor))
        else:
            result = result[0]
    if result.grad_fn is not None:
        for hook in hooks:
            result.grad_fn.register_hook(_of(module, hook))


def _of(module: Any, hook: Any) -> Any:
    return lambda grad_inputs, grad_outputs: hook(module, grad_inputs, grad_outputs)

# SPDX-License-Identifier: Apache-2.0
"""The handle that registering a hook returns, and backward hooks of modules: a call is wrapped in
two functions that see the gradients."""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._C import Tensor
from .._modes import is_grad_enabled
from ..autograd.function import Function

if TYPE_CHECKING:
    from ..nn import Module

__all__ = ["BackwardHook", "RemovableHandle"]


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
        def refer(hooks: object) -> weakref.ReferenceType[Any]:
            return weakref.ref(OrderedDict() if hooks is None else hooks)

        hooks, self.id, extra = state
        self.hooks_dict_ref = refer(hooks)
        self.extra_dict_ref = tuple(refer(one) for one in extra)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)


class _SeenGradients(Function):
    """Passes tensors through, and their gradients through a callable; with_zeros: where there is
    no gradient, zeros."""

    @staticmethod
    def forward(
        ctx: Any, see: Callable[[Any], Any], with_zeros: bool, *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        ctx.see = see
        ctx.set_materialize_grads(with_zeros)
        return tuple(tensor.view(tensor.shape) for tensor in tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        if all(gradient is None for gradient in gradients):
            return (None, None, *gradients)
        return (None, None, *ctx.see(gradients))


class _Side:
    """The arguments or the results of one call, of which some are watched."""

    def __init__(self, see: Callable[[Any], Any], with_zeros: bool) -> None:
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
            i
            for i, v in enumerate(items)
            if isinstance(v, Tensor) and (v.is_floating_point() or v.is_complex())
        ]
        tensors = (items[i] for i in self._places)
        watched = _SeenGradients.apply(self._seen, self._with_zeros, *tensors)
        for i, tensor in zip(self._places, watched):
            items[i] = tensor
        if isinstance(values, Tensor):
            return items[0]
        return type(values)(*items) if hasattr(values, "_fields") else type(values)(items)

    def _seen(self, gradients: tuple[Any, ...]) -> list[Any]:
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
            raise RuntimeError(
                f"a {what} returned {len(replacement)} gradients, wanted {self._count}"
            )
        return replacement


class BackwardHook:
    """One call of a module, whose gradients hooks see.

    Arguments:
        user_hooks: get (module, grad_input, grad_output)
        user_pre_hooks: get (module, grad_output)
    """

    def __init__(self, module: Module, user_hooks: list[Any], user_pre_hooks: list[Any]) -> None:
        self._module, self._pre_hooks, self._hooks = module, user_pre_hooks, user_hooks
        self._inputs = _Side(self._see_input, with_zeros=True)
        self._results = _Side(self._see_output, with_zeros=False)
        self._outgoing: tuple[Any, ...] | None = None

    def setup_input_hook(self, args: Any) -> Any:
        """The arguments of forward, whose gradients are seen last."""
        return self._inputs.through(args) if is_grad_enabled() and self._hooks else args

    def setup_output_hook(self, result: Any) -> Any:
        """The result of the call, after forward hooks."""
        if not is_grad_enabled():
            return result
        if isinstance(result, (Tensor, tuple, list)):
            return self._results.through(result)
        warnings.warn(
            "a module with backward hooks returned a "
            f"{type(result).__name__}, wanted a tensor or a tuple of tensors: its hooks "
            "are not called",
            stacklevel=4,
        )
        return result

    def _see_output(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in self._pre_hooks:
            answer = hook(self._module, gradients)
            if answer is not None:
                gradients = self._results.replaced(answer, "backward pre-hook")
        if self._inputs._places:
            self._outgoing = gradients
            return gradients
        for hook in self._hooks:  # at once, because no gradient reaches the inputs
            answer = hook(self._module, (None,) * self._inputs._count, gradients)
            if answer is not None and (
                not isinstance(answer, tuple) or any(gradient is not None for gradient in answer)
            ):
                raise RuntimeError(
                    "a backward hook of a module of which no input requires grad "
                    "returned gradients, wanted None"
                )
        return gradients

    def _see_input(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        if self._outgoing is None:  # the gradient did not come through the module's result
            return gradients
        outgoing, self._outgoing = self._outgoing, None
        for hook in self._hooks:
            answer = hook(self._module, gradients, outgoing)
            if answer is not None:
                gradients = self._inputs.replaced(answer, "backward hook")
        return gradients


def register_on_last_node(module: Module, hooks: list[Any], result: Any) -> None:
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


def _of(module: object, hook: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda grad_inputs, grad_outputs: hook(module, grad_inputs, grad_outputs)

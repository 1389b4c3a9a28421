# SPDX-License-Identifier: Apache-2.0
"""Calls of modules, and the hooks around them."""

from __future__ import annotations

import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from . import _hooks
from ._state import ModuleState


class _Call:
    """How far one call has come."""

    def __init__(self, args: Any, kwargs: Any) -> None:
        self.args, self.kwargs = args, kwargs
        self.result: Any = None
        self.hooks_called: set[int] = set()


class _SignatureOfCalls:
    """What inspect finds of a module: the signature of its call, which is the extension's or, in
    some subclasses, a method. A class has that of its constructor."""

    def __get__(self, module: Any, kind: Any) -> inspect.Signature:
        if module is None:
            raise AttributeError("__signature__")
        return inspect.signature(kind.__call__.__get__(module, kind))


class ModuleCalls(ModuleState):
    """ModuleBase, in C, calls forward, or _call_impl if there are hooks."""

    _forward_hooks: _hooks.Hooks
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: _hooks.Hooks
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _backward_hooks: _hooks.Hooks
    _backward_pre_hooks: _hooks.Hooks
    forward: Callable[..., Any]
    __signature__ = _SignatureOfCalls()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_call_impl" in cls.__dict__ and "__call__" not in cls.__dict__:
            cls.__call__ = cls._wrapped_call_impl  # type: ignore[assignment]

    def _wrapped_call_impl(self, *args: Any, **kwargs: Any) -> Any:
        return self._call_impl(*args, **kwargs)

    def _slow_forward(self, *input: Any, **kwargs: Any) -> Any:
        return self.forward(*input, **kwargs)

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        always = {**_hooks._global_forward_hooks_always_called, **self._forward_hooks_always_called}
        call = _Call(args, kwargs)
        try:
            return self._call_hooked(call)
        except Exception:
            for number, hook in self._all(_hooks._global_forward_hooks, self._forward_hooks):
                if number in always and number not in call.hooks_called:
                    self._call_after_failure(number, hook, call)
            raise

    def _call_hooked(self, call: _Call) -> Any:
        forward = self.forward  # before the hooks, of which a lazy module's changes the class
        args, kwargs = call.args, call.kwargs = self._through_pre_hooks(call.args, call.kwargs)
        hooks: list[Any] = []
        older: list[Any] = []
        pre_hooks: list[Any] = []
        if self._backward_hooks or _hooks._global_backward_hooks:
            hooks, older = self._get_backward_hooks()
        if self._backward_pre_hooks or _hooks._global_backward_pre_hooks:
            pre_hooks = self._get_backward_pre_hooks()
        watch: Any = None
        if hooks or pre_hooks:
            from ._backward_hooks import Watch

            watch = Watch(self, pre_hooks, hooks)
            args = watch.arguments(args)
        result = call.result = forward(*args, **kwargs)
        for number, hook in self._all(_hooks._global_forward_hooks, self._forward_hooks):
            call.hooks_called.add(number)
            answer = self._call_forward_hook(number, hook, args, kwargs, result)
            if answer is not None:
                result = call.result = answer
        if watch is not None:
            result = watch.result(result)
        if older:
            from ._backward_hooks import add_to_last

            add_to_last(self, older, result)
        return result

    @staticmethod
    def _all(of_all_modules: Any, own: Any) -> list[tuple[int, Any]]:
        return [*of_all_modules.items(), *own.items()]

    def _through_pre_hooks(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        hooks = self._all(_hooks._global_forward_pre_hooks, self._forward_pre_hooks)
        for number, hook in hooks:
            if number in self._forward_pre_hooks_with_kwargs:
                answer = hook(self, args, kwargs)
                if answer is not None:
                    if not isinstance(answer, tuple) or len(answer) != 2:
                        raise RuntimeError("a forward pre-hook with kwargs returned a "
                                           f"{type(answer).__name__}, wanted None or a pair of "
                                           "args and kwargs")  # fmt: skip
                    args, kwargs = answer
            else:
                answer = hook(self, args)
                if answer is not None:
                    args = answer if isinstance(answer, tuple) else (answer,)
        return args, kwargs

    def _call_forward_hook(self, number: int, hook: Any, args: Any, kwargs: Any,
                           result: Any) -> Any:  # fmt: skip
        if (number in self._forward_hooks_with_kwargs
                or number in _hooks._global_forward_hooks_with_kwargs):  # fmt: skip
            return hook(self, args, kwargs, result)
        return hook(self, args, result)

    def _call_after_failure(self, number: int, hook: Any, call: _Call) -> None:
        try:
            self._call_forward_hook(number, hook, call.args, call.kwargs, call.result)
        except Exception as error:
            warnings.warn(f"a forward hook with always_call=True raised {error!r}, which is hidden "
                          "by an earlier error of the call", stacklevel=4)  # fmt: skip

    def _get_backward_pre_hooks(self) -> list[Any]:
        return [*_hooks._global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]

    def _get_backward_hooks(self) -> tuple[list[Any], list[Any]]:
        """The full backward hooks, and those of the older kind."""
        full: list[Any] = []
        older: list[Any] = []
        everywhere = _hooks._global_backward_hooks.values()
        (full if _hooks._global_is_full_backward_hook else older).extend(everywhere)
        (full if self._is_full_backward_hook else older).extend(self._backward_hooks.values())
        return full, older

    # -- registration ------------------------------------------------------------------------------

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False,
        always_call: bool = False,
    ) -> _hooks.RemovableHandle:  # fmt: skip
        """Calls hook(module, args, output) after forward; its result replaces the output.

        Arguments:
            prepend: whether it is called before the module's other forward hooks
            with_kwargs: whether it is called as hook(module, args, kwargs, output)
            always_call: whether it is called even if the call raises; then the output may be None
        """
        marks = ((self._forward_hooks_with_kwargs, with_kwargs),
                 (self._forward_hooks_always_called, always_call))  # fmt: skip
        return _hooks.added(self._forward_hooks, hook, prepend, marks)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> _hooks.RemovableHandle:
        """Calls hook(module, args) before forward; its result replaces the arguments.

        Arguments:
            prepend: whether it is called before the module's other forward pre-hooks
            with_kwargs: whether it is called as hook(module, args, kwargs), and returns a pair
        """
        marks = ((self._forward_pre_hooks_with_kwargs, with_kwargs),)
        return _hooks.added(self._forward_pre_hooks, hook, prepend, marks)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any],
                                        prepend: bool = False) -> _hooks.RemovableHandle:  # fmt: skip
        """Calls hook(module, grad_output) in backward before the module's own part; its result
        replaces grad_output."""
        return _hooks.added(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any],
                                    prepend: bool = False) -> _hooks.RemovableHandle:  # fmt: skip
        """Calls hook(module, grad_input, grad_output) in backward; its result replaces grad_input.
        There is one place in grad_input for each argument, None where it requires no grad."""
        self._backward_hooks_are(True)
        return _hooks.added(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> _hooks.RemovableHandle:
        """Calls hook(module, grad_input, grad_output) for the last operator of the module; a full
        backward hook has the module's gradients."""
        self._backward_hooks_are(False)
        return _hooks.added(self._backward_hooks, hook)

    def _backward_hooks_are(self, full: bool) -> None:
        if self._is_full_backward_hook not in (None, full):
            raise RuntimeError("a module's backward hooks are either full ones or not: some of the "
                               "other kind were registered before")  # fmt: skip
        self._is_full_backward_hook = full

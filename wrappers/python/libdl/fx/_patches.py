# SPDX-License-Identifier: Apache-2.0
"""What is different while a program is traced: calls of modules, their parameters, and functions
that were wrapped."""

from __future__ import annotations

import builtins
import inspect
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..nn import Module
from ..utils import _pytree as pytree
from .graph_module import GraphModule
from .proxy import Proxy

if TYPE_CHECKING:
    from ._symbolic_trace import Tracer

# The globals of modules that called wrap, and the names there.
_wrapped: dict[tuple[int, str], dict[str, Any]] = {}


def wrap(fn_or_name: str | Callable[..., Any]) -> str | Callable[..., Any]:
    """At the top of a module: calls of its global function become one node while they are traced,
    also of builtins such as "len". As a decorator, or wrap("name").

    Raises: TypeError; RuntimeError, inside of a function."""
    name = fn_or_name if isinstance(fn_or_name, str) else getattr(fn_or_name, "__name__", "")
    if not name:
        raise TypeError(f"wrap: found {fn_or_name!r}, wanted a function or the name of one")
    frame = inspect.currentframe()
    caller = frame.f_back if frame is not None else None
    if caller is None or caller.f_code.co_name != "<module>":
        raise NotImplementedError("wrap: called inside of a function, wanted a module's top level")
    _wrapped[(id(caller.f_globals), name)] = caller.f_globals
    return fn_or_name


def recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which with a proxy among its arguments becomes a node."""

    def called(*args: Any, **kwargs: Any) -> Any:
        for value in pytree.arg_tree_leaves(*args, **kwargs):
            if isinstance(value, Proxy):
                return value.tracer.create_proxy("call_function", function, args, kwargs)
        return function(*args, **kwargs)

    called.__name__ = getattr(function, "__name__", "called")
    return called


_one_trace = threading.RLock()


class Patches:
    """with Patches(tracer, cache, function): what the tracer wants is patched, and put back.

    Only one thread traces at a time; modules that others call meanwhile are left alone."""

    def __init__(
        self, tracer: Tracer, parameters: dict[str, Proxy], function: Callable[..., Any]
    ) -> None:
        self.tracer, self.parameters = tracer, parameters
        inner = [m for m in tracer.root.modules() if isinstance(m, GraphModule)]
        self.spaces = [
            getattr(f, "__globals__", {}) for f in (function, *(type(m).forward for m in inner))
        ]
        self._undo: list[Callable[[], Any]] = []

    def __enter__(self) -> None:
        _one_trace.acquire()
        self._patch_modules()
        names = {id(f): f for f in self._autowrapped()}
        for space in (*self.spaces, *map(vars, self.tracer._autowrap_modules)):
            for name, value in list(space.items()):
                if id(value) in names and not name.startswith("_"):
                    self._replace(space, name, recorded(value))
        for (_, name), space in _wrapped.items():
            function = space.get(name, getattr(builtins, name, None))
            if function is not None:
                self._replace(space, name, recorded(function))

    def __exit__(self, *exception: object) -> None:
        while self._undo:
            self._undo.pop()()
        _one_trace.release()

    def _autowrapped(self) -> list[Any]:
        functions = list(self.tracer._autowrap_functions)
        for module in self.tracer._autowrap_modules:
            public = (value for name, value in vars(module).items() if not name.startswith("_"))
            functions += [value for value in public if callable(value)]
        return functions

    def _replace(self, space: dict[str, Any], name: str, value: Any) -> None:
        if name in space:
            before = space[name]
            self._undo.append(lambda: space.__setitem__(name, before))
        else:
            self._undo.append(lambda: space.pop(name))
        space[name] = value

    def _patch_modules(self) -> None:
        tracer, parameters, thread = self.tracer, self.parameters, threading.get_ident()
        get_attribute, call = Module.__getattr__, Module.__call__

        def traced_call(module: Module, *args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() != thread:
                return call(module, *args, **kwargs)

            def forward(*args: Any, **kwargs: Any) -> Any:
                return call(module, *args, **kwargs)

            return tracer.call_module(module, forward, args, kwargs)

        def traced_attribute(module: Module, name: str) -> Any:
            attribute = get_attribute(module, name)
            if threading.get_ident() != thread:
                return attribute
            return tracer.getattr(name, attribute, parameters)

        self._patch("__call__", traced_call)
        self._patch("__getattr__", traced_attribute)

    def _patch(self, name: str, function: Callable[..., Any]) -> None:
        """A trace may run inside another one, whose patch comes back after it."""
        before = vars(Module).get(name)
        if before is None:
            self._undo.append(lambda: delattr(Module, name))
        else:
            self._undo.append(lambda: setattr(Module, name, before))
        setattr(Module, name, function)

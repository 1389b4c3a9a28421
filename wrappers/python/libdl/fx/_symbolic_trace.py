# SPDX-License-Identifier: Apache-2.0
"""Symbolic tracing: a program runs once with proxies, and what it does becomes a graph."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .._C import Tensor
from .._package_name import shown_name
from ..nn import Module, Sequential
from ..nn.parameter import Parameter
from ._patches import Patches, wrap as wrap
from ._placeholders import PH as PH, Placeholders, annotation_of
from .graph import Graph
from .graph_module import GraphModule
from .node import Argument, Node
from .proxy import ParameterProxy, Proxy, TracerBase

__all__ = ["PH", "Tracer", "symbolic_trace", "wrap"]


class Tracer(TracerBase):
    """Traces modules and functions. Subclasses may choose what is a leaf (is_leaf_module), and how
    modules are called and nodes and proxies made.

    autowrap_modules: modules whose functions, given a proxy, become nodes. autowrap_functions: such
    functions. param_shapes_constant: whether shapes of parameters are numbers in the trace."""

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        self._autowrap_modules = list(autowrap_modules)
        self._autowrap_functions = autowrap_functions
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Module, str] | None = None
        self.root: Module = Module()
        self.traced_func_name = "forward"
        self.module_stack: dict[str, tuple[str, Any]] = {}

    # -- what subclasses may override --------------------------------------------------------------

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether a call of the module becomes one node: so it is for all of nn but Sequential."""
        return m.__module__.startswith(("libdl.nn", f"{shown_name()}.nn")) and not isinstance(
            m, Sequential
        )

    def call_module(
        self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """The result of a call of a submodule: one node for a leaf, else what forward returns."""
        path = self.path_of_module(m)
        before, self.module_stack = self.module_stack, {**self.module_stack, path: (path, type(m))}
        try:
            if self.is_leaf_module(m, path):
                return self.create_proxy("call_module", path, args, kwargs)
            return forward(*args, **kwargs)
        finally:
            self.module_stack = before

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        """What a module's attribute is in the trace: a proxy for a parameter, and for a buffer if
        proxy_buffer_attributes is set."""
        if isinstance(attr_val, Parameter):
            named: Any = self.root.named_parameters()
        elif self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            named = self.root.named_buffers()
        else:
            return attr_val
        for name, value in named:
            if value is attr_val:
                if name not in parameter_proxy_cache:
                    parameter_proxy_cache[name] = self._proxy_of(name, value)
                return parameter_proxy_cache[name]
        return attr_val

    def _proxy_of(self, name: str, value: Tensor) -> Proxy:
        if not self.param_shapes_constant:
            return self.create_proxy("get_attr", name, (), {})
        return self.create_proxy(
            "get_attr",
            name,
            (),
            {},
            proxy_factory_fn=lambda node: ParameterProxy(self, node, name, value),
        )

    # -- values of the module as arguments ---------------------------------------------------------

    def create_arg(self, a: Any) -> Argument:
        """As of every tracer; parameters, buffers and modules are read from the root, and other
        tensors become its attributes _tensor_constant0 and so on."""
        if isinstance(a, Tensor):
            return self._attribute(a)
        if isinstance(a, Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        return super().create_arg(a)

    def _attribute(self, a: Tensor) -> Node:
        for named in (self.root.named_parameters(), self.root.named_buffers()):
            for name, value in named:
                if value is a:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, Parameter):
            raise NameError("a parameter takes part that does not belong to the traced module")
        if id(a) not in self._constants:
            name = self.get_fresh_qualname("_tensor_constant")
            setattr(self.root, name, a)
            self._constants[id(a)] = name
        return self.create_node("get_attr", self._constants[id(a)], (), {})

    def get_fresh_qualname(self, prefix: str) -> str:
        """The prefix with the lowest number that no attribute of the root has."""
        number = 0
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        return f"{prefix}{number}"

    def path_of_module(self, mod: Module) -> str:
        """Where the module is below the root. Raises NameError if it is not."""
        paths = self.submodule_paths
        if paths is None:
            paths = {module: name for name, module in self.root.named_modules()}
        if mod not in paths:
            raise NameError(f"a {type(mod).__name__} is called that is no submodule of the root")
        return paths[mod]

    # -- tracing -----------------------------------------------------------------------------------

    def trace(
        self, root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None
    ) -> Graph:
        """The graph of a module, or of a function. concrete_args: values that arguments are to have
        in the trace; a structure with fx.PH in places is taken apart into placeholders.

        Raises: TraceError if the program depends on a traced value; TypeError, NameError."""
        function: Callable[..., Any]
        if isinstance(root, Module):
            self.root, function = root, getattr(type(root), self.traced_func_name)
        else:
            self.root, function = Module(), root
        self.submodule_paths = {module: name for name, module in self.root.named_modules()}
        self.graph = Graph(tracer_cls=type(self))
        self._constants = {
            id(value): f"{path}.{name}" if path else name
            for path, module in self.root.named_modules()
            for name, value in vars(module).items()
            if isinstance(value, Tensor)
        }
        self.module_stack = {}
        body, args = self.create_args_for_root(function, isinstance(root, Module), concrete_args)
        cache: dict[str, Proxy] = {}
        with Patches(self, cache, function):
            result = body(*args)
            self.create_node(
                "output",
                "output",
                (self.create_arg(result),),
                {},
                type_expr=annotation_of(function, "return"),
            )
        self.submodule_paths = None
        return self.graph

    def create_args_for_root(
        self,
        root_fn: Callable[..., Any],
        is_module: bool,
        concrete_args: dict[str, Any] | None = None,
    ) -> tuple[Callable[..., Any], list[Any]]:
        """The function to run, and the arguments to run it with: placeholders' proxies."""
        return Placeholders(self, root_fn, is_module, concrete_args or {}).made()


def symbolic_trace(
    root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None
) -> GraphModule:
    """A module that does what the traced module or function does, and has its graph.

    Arguments:
        root: a module, or a function
        concrete_args: values that arguments are to have in the trace; see Tracer.trace

    Raises: TraceError, if the program branches or iterates depending on a traced value.
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)

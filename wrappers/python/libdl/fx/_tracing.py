# SPDX-License-Identifier: Apache-2.0
"""What all tracers have in common: they make nodes, and turn values into arguments of nodes."""

from __future__ import annotations

import dataclasses
import traceback
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .. import _types
from .._C import Tensor
from .graph import Graph
from .node import Argument, Node, Target, map_aggregate

if TYPE_CHECKING:
    from .proxy import Proxy

__all__ = ["GraphAppendingTracer", "TraceError", "TracerBase"]

_PLAIN = (str, int, float, bool, complex, Tensor, bytes, range, type(None), type(...),
          _types.dtype, _types.device, _types.layout, _types.memory_format, _types.Generator, _types.Size)  # fmt: skip


class TraceError(ValueError):
    """The program did something with a traced value that depends on what it will be."""


class TracerBase:
    """Makes nodes in self.graph."""

    graph: Graph
    record_stack_traces: bool = False
    check_mutable_operations: bool = False
    trace_asserts: bool = False
    proxy_buffer_attributes: bool = False
    module_stack: dict[str, tuple[str, Any]]

    def create_node(self, kind: str, target: Target, args: tuple[Argument, ...],
                    kwargs: dict[str, Argument], name: str | None = None,
                    type_expr: Any = None) -> Node:  # fmt: skip
        """A new node of the graph. Subclasses may override it to see each one."""
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        stack = getattr(self, "module_stack", None)
        if stack:
            node.meta["nn_module_stack"] = dict(stack)
        return node

    def proxy(self, node: Node) -> Proxy:
        """The value that stands for the node. Subclasses may return their own."""
        from .proxy import Proxy

        return Proxy(node, self)

    def create_proxy(self, kind: str, target: Target, args: tuple[Any, ...],
                     kwargs: dict[str, Any], name: str | None = None, type_expr: Any = None,
                     proxy_factory_fn: Callable[[Node], Proxy] | None = None) -> Proxy:  # fmt: skip
        """A new node with these values as arguments, and the proxy of it."""
        node = self.create_node(kind, target, self.create_arg(args), self.create_arg(kwargs), name,
                                type_expr)  # fmt: skip
        proxy = self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)
        if self.record_stack_traces:
            frames = [f for f in traceback.extract_stack() if "/libdl/fx/" not in f.filename]
            proxy.node.stack_trace = "".join(traceback.format_list(frames)).strip()
        return proxy

    def create_arg(self, a: Any) -> Argument:
        """A value as an argument of a node. Raises NotImplementedError if a graph cannot hold it."""
        from .proxy import Proxy

        if not isinstance(a, Proxy) and hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, dict):
            return {self._key(key): self.create_arg(value) for key, value in a.items()}
        if type(a) is range:
            return range(*(self.create_arg(value) for value in (a.start, a.stop, a.step)))
        if isinstance(a, (tuple, list, slice)) and not isinstance(a, _types.Size):
            return self._sequence(a)
        if isinstance(a, (Node, *_PLAIN)) or (callable(a) and hasattr(a, "__qualname__")):
            return a  # functions and classes have qualified names
        if dataclasses.is_dataclass(a):
            fields = {f.name: self.create_arg(getattr(a, f.name)) for f in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), fields)
        raise NotImplementedError(
            f"a {type(a).__name__} cannot be an argument in a graph: {a!r}; a class may have "
            "__fx_create_arg__(tracer)")  # fmt: skip

    def _sequence(self, a: Any) -> Argument:
        if isinstance(a, slice):
            return slice(*(self.create_arg(value) for value in (a.start, a.stop, a.step)))
        values = [self.create_arg(value) for value in a]
        if isinstance(a, list):
            return values
        return type(a)(*values) if hasattr(a, "_fields") else tuple(values)

    def _key(self, key: Any) -> Any:
        def refuse(value: Any) -> Any:
            if isinstance(value, Node):
                raise RuntimeError(f"a traced value ({value}) cannot be a dictionary's key")
            return value

        return map_aggregate(self.create_arg(key), refuse)

    # -- what depends on values --------------------------------------------------------------------

    def to_bool(self, obj: Proxy) -> bool:
        """Asked for if a traced value decides a branch. Raises TraceError; subclasses may choose."""
        raise TraceError(f"{obj} decides a branch, but its value is not known while it is traced")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """Asked for if the program iterates over a traced value. Raises TraceError."""
        raise TraceError(f"the program iterates over {obj}, whose length is not known while it is "
                         "traced; *args and **kwargs of the traced function count as such")  # fmt: skip

    def keys(self, obj: Proxy) -> Any:
        """Asked for by **obj: a proxy of its keys, over which the program cannot iterate."""
        from .proxy import Attribute

        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Makes nodes in a graph that exists, for proxies outside a trace."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

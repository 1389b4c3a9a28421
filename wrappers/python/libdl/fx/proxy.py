# SPDX-License-Identifier: Apache-2.0
"""Proxies: they stand for values that do not exist yet, and record what is done with them. And what
all tracers have in common: they make nodes, and turn values into arguments of nodes."""

from __future__ import annotations

import dataclasses
import dis
import inspect
import operator
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from .. import _types
from .._C import Tensor
from .._types import Size
from ..utils import _pytree as pytree
from . import _texts
from .graph import Graph
from .node import Argument, Node, Target, map_aggregate

__all__ = [
    "Attribute",
    "GraphAppendingTracer",
    "ParameterProxy",
    "Proxy",
    "TraceError",
    "TracerBase",
]

_PLAIN = (
    str,
    int,
    float,
    bool,
    complex,
    Tensor,
    bytes,
    range,
    type(None),
    type(...),
    _types.dtype,
    _types.device,
    _types.layout,
    _types.memory_format,
    _types.Generator,
    _types.Size,
)


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

    def create_node(
        self,
        kind: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A new node of the graph. Subclasses may override it to see each one."""
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        stack = getattr(self, "module_stack", None)
        if stack:
            node.meta["nn_module_stack"] = dict(stack)
        return node

    def proxy(self, node: Node) -> Proxy:
        """The value that stands for the node. Subclasses may return their own."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """A new node with these values as arguments, and the proxy of it."""
        node = self.create_node(
            kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr
        )
        proxy = self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)
        if self.record_stack_traces:
            frames = [f for f in traceback.extract_stack() if "/libdl/fx/" not in f.filename]
            proxy.node.stack_trace = "".join(traceback.format_list(frames)).strip()
        return proxy

    def create_arg(self, a: Any) -> Argument:
        """A value as an argument of a node. Raises NotImplementedError if a graph cannot hold
        it."""
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
            "__fx_create_arg__(tracer)"
        )

    def _sequence(self, a: Any) -> Argument:
        if isinstance(a, slice):
            return slice(*(self.create_arg(value) for value in (a.start, a.stop, a.step)))
        values = [self.create_arg(value) for value in a]
        if isinstance(a, list):
            return values
        return type(a)(*values) if hasattr(a, "_fields") else tuple(values)

    def _key(self, key: object) -> Any:
        def refuse(value: Any) -> Any:
            if isinstance(value, Node):
                raise RuntimeError(f"a traced value ({value}) cannot be a dictionary's key")
            return value

        return map_aggregate(self.create_arg(key), refuse)

    # -- what depends on values --------------------------------------------------------------------

    def to_bool(self, obj: Proxy) -> bool:
        """Asked for if a traced value decides a branch. Raises TraceError; subclasses may
        choose."""
        raise TraceError(f"{obj} decides a branch, but its value is not known while it is traced")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """Asked for if the program iterates over a traced value. Raises TraceError."""
        raise TraceError(
            f"the program iterates over {obj}, whose length is not known while it is "
            "traced; *args and **kwargs of the traced function count as such"
        )

    def keys(self, obj: Proxy) -> Proxy:
        """Asked for by **obj: a proxy of its keys, over which the program cannot iterate."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Makes nodes in a graph that exists, for proxies outside a trace."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph


class Proxy:
    """The value of a node. Operators, methods, attributes and the library's functions become nodes
    of the same graph."""

    node: Node
    tracer: TracerBase

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        if k in ("__wrapped__", "__deepcopy__", "node", "tracer"):
            # inspect and copy ask for these; node and tracer may not be there yet.
            raise AttributeError(k)
        return Attribute(self, k)

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Proxy]:
        count = _unpacked(inspect.currentframe())
        if count is not None:
            return (self[i] for i in range(count))  # type: ignore[index]
        return self.tracer.iter(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def keys(self) -> Proxy:
        """What ** asks for."""
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "len() of a traced value is not known: to record the call, write "
            "libdl.fx.wrap('len') at the top of the module"
        )

    def __contains__(self, item: object) -> bool:
        raise TraceError("whether a value is in a traced one is not known")

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: tuple[type, ...], args: Any = (), kwargs: Any = None
    ) -> Proxy:
        kwargs = kwargs or {}
        proxies = [x for x in pytree.arg_tree_leaves(*args, **kwargs) if isinstance(x, Proxy)]
        tracer = proxies[0].tracer
        name = getattr(func, "__name__", "")
        if name in ("__get__", "__set__"):
            raise TraceError(f"a traced value was given to an attribute of a tensor ({func})")
        if _is_method(func):
            return tracer.create_proxy("call_method", name, args, kwargs)
        return tracer.create_proxy("call_function", func, args, kwargs)


def _is_method(func: object) -> bool:
    """Whether it is a method and not a function of the library, too."""
    name = getattr(func, "__name__", "")
    return getattr(Tensor, name, None) is func and not _texts.is_function(func)


def _unpacked(frame: Any) -> int | None:
    """Into how many names the calling line unpacks the value, as in a, b = proxy."""
    caller: Any = frame.f_back
    current = None
    for instruction in dis.get_instructions(caller.f_code):
        if instruction.offset > caller.f_lasti:
            break
        current = instruction
    if current is not None and current.opname == "UNPACK_SEQUENCE":
        return int(current.argval)
    return None


class Attribute(Proxy):
    """An attribute of a proxy: a method if it is called, else a call of getattr."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """Made only when somebody asks, since most attributes are methods."""
        if self._node is None:
            result = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {})
            self._node = result.node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """The proxy of a parameter whose shape is that of the real one (param_shapes_constant)."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Tensor) -> None:
        super().__init__(node, tracer)
        self.param, self.name = param, name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Size:
        return self.param.shape

    @property
    def ndim(self) -> int:
        return self.param.ndim

    def size(self, *args: Any) -> Size | int:
        size: Size | int = self.param.size(*args)
        return size

    def dim(self) -> int:
        return self.param.dim()

    def numel(self) -> int:
        return self.param.numel()

    def nelement(self) -> int:
        return self.param.numel()


def _operator(name: str, reflected: bool) -> None:
    function = getattr(operator, name)

    def traced(self: Proxy, *operands: object) -> Proxy:
        args = (*operands, self) if reflected else (self, *operands)
        return self.tracer.create_proxy("call_function", function, args, {})

    dunder = f"__{'r' if reflected else ''}{name.strip('_')}__"
    traced.__name__ = traced.__qualname__ = dunder
    setattr(Proxy, dunder, traced)


for _name in _texts.MAGIC:
    _operator(_name, reflected=False)
for _name in _texts.REFLECTED:
    _operator(_name, reflected=True)
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]  # == is recorded

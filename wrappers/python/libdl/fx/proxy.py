# SPDX-License-Identifier: Apache-2.0
"""Proxies: they stand for values that do not exist yet, and record what is done with them."""

from __future__ import annotations

import dis
import inspect
import operator
from collections.abc import Callable, Iterator
from typing import Any

from .._C import Tensor
from ..utils import _pytree as pytree
from . import _texts
from ._tracing import GraphAppendingTracer, TraceError, TracerBase
from .node import Node

__all__ = ["Attribute", "GraphAppendingTracer", "ParameterProxy", "Proxy", "TraceError",
           "TracerBase"]  # fmt: skip


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
            raise AttributeError(k)  # inspect and copy ask for these; node and tracer: not yet there
        return Attribute(self, k)

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        count = _unpacked(inspect.currentframe())
        if count is not None:
            return (self[i] for i in range(count))  # type: ignore[index]
        return self.tracer.iter(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """What ** asks for."""
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError("len() of a traced value is not known: to record the call, write "
                           "libdl.fx.wrap('len') at the top of the module")  # fmt: skip

    def __contains__(self, item: object) -> bool:
        raise TraceError("whether a value is in a traced one is not known")

    @classmethod
    def __torch_function__(cls, func: Callable[..., Any], types: Any, args: Any = (),
                           kwargs: Any = None) -> Proxy:  # fmt: skip
        kwargs = kwargs or {}
        proxies = [x for x in pytree.arg_tree_leaves(*args, **kwargs) if isinstance(x, Proxy)]
        tracer = proxies[0].tracer
        name = getattr(func, "__name__", "")
        if name in ("__get__", "__set__"):
            raise TraceError(f"a traced value was given to an attribute of a tensor ({func})")
        if _is_method(func):
            return tracer.create_proxy("call_method", name, args, kwargs)
        return tracer.create_proxy("call_function", func, args, kwargs)


def _is_method(func: Any) -> bool:
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
            made = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {})
            self._node = made.node
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
    def shape(self) -> Any:
        return self.param.shape

    @property
    def ndim(self) -> int:
        return self.param.ndim

    def size(self, *args: Any) -> Any:
        return self.param.size(*args)

    def dim(self) -> int:
        return self.param.dim()

    def numel(self) -> int:
        return self.param.numel()

    def nelement(self) -> int:
        return self.param.numel()


def _operator(name: str, reflected: bool) -> None:
    function = getattr(operator, name)

    def traced(self: Proxy, *operands: Any) -> Proxy:
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

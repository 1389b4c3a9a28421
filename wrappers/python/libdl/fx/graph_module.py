# SPDX-License-Identifier: Apache-2.0
"""Modules that run a graph."""

from __future__ import annotations

import copy
import itertools
import linecache
import os
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..nn import Module
from ._code import PythonCode
from ._folder import write_folder
from ._placeholders import StructureCodeGen
from .graph import Graph

__all__ = ["GraphModule"]

_numbers = itertools.count()


def _function_of(code: PythonCode) -> Callable[..., Any]:
    """The method that the code defines. Tracebacks show its lines."""
    filename = f"<libdl.fx {next(_numbers)}>"
    lines = code.src.splitlines(keepends=True)
    linecache.cache[filename] = (len(code.src), None, lines, filename)
    space = dict(code.globals)
    exec(compile(code.src, filename, "exec"), space)
    function: Callable[..., Any] = space["forward"]
    weakref.finalize(function, linecache.cache.pop, filename, None)
    return function


def _copy_path(source: Module, destination: Module, path: str) -> None:
    """Makes the attribute at the path of source one of destination; modules on the way are made."""
    *above, name = path.split(".")
    for part in above:
        source = getattr(source, part)
        if not hasattr(destination, part):
            setattr(destination, part, Module())
        destination = getattr(destination, part)
        if destination is source:  # the module itself is there already, with all that is in it
            return
    _assign(destination, name, getattr(source, name))


def _assign(module: Module, name: str, value: Any) -> None:
    from .._C import Tensor
    from ..nn import Parameter

    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        module.register_buffer(name, value)
    else:
        setattr(module, name, value)


class GraphModule(Module):
    """A module whose forward is generated from a graph. Assigning graph, or recompile() after
    changes of it, makes the code anew. Each has a class of its own.

    Arguments:
        root: a module that has what the graph reads, or a dict of it by its paths
        graph: the graph; it is used as it is, without a copy
        class_name: how the module prints
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        while "_own" in vars(cls):  # the class of another graph module
            cls = cls.__bases__[0]
        return Module.__new__(type(cls.__name__, (cls,), {"_own": True}))

    def __init__(
        self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule"
    ) -> None:
        super().__init__()
        type(self).__name__ = class_name
        self._class_name = class_name
        if isinstance(root, Module):
            self.training = root.training
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    _copy_path(root, self, str(node.target))
        else:
            self._take(root, graph)
        self.graph = graph
        if graph._tracer_cls is not None:
            self._tracer_cls = graph._tracer_cls
        self.meta: dict[str, Any] = {}

    def _take(self, root: dict[str, Any], graph: Graph) -> None:
        targets = {str(n.target): None for n in graph.nodes if n.op in ("get_attr", "call_module")}
        for path in targets:
            if path not in root:
                raise RuntimeError(f"GraphModule: the graph reads {path}, which root does not have")
        for path in sorted(targets, key=lambda path: path.count(".")):
            self._put(path, root[path])

    def _put(self, path: str, value: Any) -> bool:
        *above, name = path.split(".")
        place: Module = self
        for part in above:
            if not hasattr(place, part):
                setattr(place, part, Module())
            place = getattr(place, part)
            if not isinstance(place, Module):
                return False
        _assign(place, name, value)
        return True

    # -- graph and code ----------------------------------------------------------------------------

    @property
    def graph(self) -> Graph:
        """The graph. Assigning another one recompiles."""
        value: Graph = self.__dict__["_graph"]
        return value

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"GraphModule: graph is a {type(g).__name__}, wanted a Graph")
        self.__dict__["_graph"] = g
        g.owning_module = self
        self.recompile()

    def recompile(self) -> PythonCode:
        """Makes the code of the graph as it is now."""
        code = self.graph.python_code("self")
        self.__dict__["_code"] = code.src
        if isinstance(self.graph._codegen, StructureCodeGen):
            self._in_spec, self._out_spec = (
                self.graph._codegen.in_spec,
                self.graph._codegen.out_spec,
            )
        type(self).forward = _function_of(code)
        return code

    @property
    def code(self) -> str:
        """The Python code of forward."""
        value: str = self.__dict__["_code"]
        return value

    def print_readable(self, print_output: bool = True) -> str:
        """The code as a class; prints it, too, unless print_output is False."""
        lines = self.code.strip("\n").split("\n")
        text = "\n".join(
            [
                f"class {self._class_name}(libdl.nn.Module):",
                *(f"    {line}".rstrip() for line in lines),
                "",
            ]
        )
        if print_output:
            print(text)
        return text

    def to_folder(self, folder: str | os.PathLike[str], module_name: str = "FxModule") -> None:
        """Writes the module as a package: module.py, whose class has this name and takes no
        arguments, and its state in safetensors. Submodules whose repr does not make them are
        pickled, so import only packages that you trust.

        Errors: NotImplementedError for structures as arguments, and for functions that cannot be
        imported."""
        write_folder(self, Path(folder), module_name)

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self.code}"

    # -- submodules --------------------------------------------------------------------------------

    def add_submodule(self, target: str, m: Module) -> bool:
        """Adds a module at a path; False if something on the way is no module."""
        return self._put(target, m)

    def delete_submodule(self, target: str) -> bool:
        """Removes the module at a path; False if there is none."""
        *above, name = target.split(".")
        place: Any = self
        for part in above:
            place = getattr(place, part, None)
        if not isinstance(place, Module) or not isinstance(getattr(place, name, None), Module):
            return False
        delattr(place, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Removes the modules that no node calls or reads, and none of which such a one is a part
        or has as a part."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op in ("get_attr", "call_module"):
                parts = str(node.target).split(".")
                used |= {".".join(parts[: i + 1]) for i in range(len(parts))}
                inner = getattr(self._at(parts), "named_modules", None)
                if node.op == "call_module" and inner is not None:
                    used |= {f"{node.target}.{name}" for name, _ in inner() if name}
        for name, _ in list(self.named_modules()):
            if name and name not in used:
                self.delete_submodule(name)

    def _at(self, parts: list[str]) -> Any:
        place: Any = self
        for part in parts:
            place = getattr(place, part)
        return place

    # -- copies ------------------------------------------------------------------------------------

    def _fields(self) -> dict[str, Any]:
        own = {"_graph", "_code", "_class_name", "_tracer_cls", "meta"}
        return {name: value for name, value in self.__dict__.items() if name not in own}

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        fields = copy.deepcopy(self._fields(), memo)
        result = _rebuilt(_base(type(self)), fields, copy.deepcopy(self.graph), self._class_name)
        result.meta = copy.deepcopy(self.meta, memo)
        return result

    def __copy__(self) -> GraphModule:
        result = _rebuilt(_base(type(self)), self._fields(), self.graph, self._class_name)
        result.meta = dict(self.meta)
        return result

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _rebuilt, (_base(type(self)), self._fields(), self.graph, self._class_name)


def _base(cls: type) -> type:
    """The class that the program knows."""
    while "_own" in vars(cls):
        cls = cls.__bases__[0]
    return cls


def _rebuilt(cls: Any, fields: dict[str, Any], graph: Graph, class_name: str) -> GraphModule:
    instance: GraphModule = cls.__new__(cls)
    Module.__init__(instance)
    type(instance).__name__ = class_name
    instance.__dict__.update(fields)
    instance._class_name = class_name
    instance.meta = {}
    if graph._tracer_cls is not None:
        instance._tracer_cls = graph._tracer_cls
    instance.graph = graph
    return instance

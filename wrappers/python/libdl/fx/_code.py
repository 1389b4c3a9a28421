# SPDX-License-Identifier: Apache-2.0
"""Python code of graphs."""

from __future__ import annotations

import builtins
import enum
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _texts
from ._names import KNOWN, Namespace
from .node import Node, map_arg

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["CodeGen", "PythonCode"]


@dataclass
class PythonCode:
    """A function as text, and the globals that it reads."""

    src: str
    globals: dict[str, Any]


class CodeGen:
    """How a graph becomes a function. Subclasses may change its head and its return statement, and
    what happens to arguments and results."""

    func_name = "forward"

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """The line that begins the function. free_vars: its parameters without self."""
        return f"def {self.func_name}({', '.join(['self', *free_vars])}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any) -> str:
        """The return statement; output_args is the value as code."""
        return f"return {output_args}"

    def process_inputs(self, *args: Any) -> Sequence[Any]:
        """The values of the placeholders, from the arguments of a call."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """The result of a call, from the output's value."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Names that the head and the return statement need."""
        return []


class _Expression(str):
    """Code that is the same in an f-string with or without !r."""

    __repr__ = str.__str__


def path_text(base: str, target: str) -> str:
    """self.a.b, with getattr for names like "0"."""
    text = base
    for part in target.split("."):
        text = f"{text}.{part}" if part.isidentifier() else f'getattr({text}, "{part}")'
    return text


def last_uses(graph: Graph) -> dict[Node, list[Node]]:
    """For each node, the nodes that nothing after it reads."""
    seen: set[Node] = set()
    collected: dict[Node, list[Node]] = defaultdict(list)
    for user in reversed(graph.nodes):

        def note(node: Node, user: Node = user) -> Node:
            if node not in seen:
                seen.add(node)
                collected[user].append(node)
            return node

        map_arg(user.args, note)
        map_arg(user.kwargs, note)
    return collected


class Writer:
    """Writes one graph."""

    def __init__(self, graph: Graph, root: str) -> None:
        self.graph, self.root = graph, root
        self.codegen = graph._codegen
        self.globals: dict[str, Any] = {}
        self.names = Namespace()
        self.parameters: list[str] = []
        self.returns = ""
        self.last_uses = last_uses(graph)
        for node in graph.nodes:
            self.names.associate_name_with_obj(node.name, node)

    def written(self) -> PythonCode:
        for name, value in [*KNOWN.items(), *self.codegen.additional_globals()]:
            self.globals[name] = value
            self.names.associate_name_with_obj(name, value)
        lines = [self._statement(node) for node in self.graph.nodes]
        body = "".join(line for line in lines if line) or "pass\n"
        head = self.codegen.gen_fn_def(self.parameters, self.returns)
        indented = "\n".join(f"    {line}" for line in body.split("\n"))
        return PythonCode(f"\n\n\n{head}\n{indented}", self.globals)

    # -- names and values --------------------------------------------------------------------------

    def _global(self, hint: str, obj: object) -> str:
        if _texts.is_library(obj) and obj is not KNOWN["device"]:
            return hint
        name = self.names.create_name(hint.replace(".", "_"), obj)
        self.globals[name] = obj
        return name

    def _type(self, kind: object) -> str:
        if isinstance(kind, type) and kind.__module__ == "builtins":
            return str(_texts.type_text(kind))
        return self._global(_texts.type_text(kind), kind)

    def _value(self, value: Any) -> str:
        """A value as an expression."""
        if isinstance(value, Node):
            return value.name
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return f"{self._function(type(value))}{self._tuple(value)}"
        if isinstance(value, tuple):
            return self._tuple(value)
        if isinstance(value, list):
            return f"[{', '.join(map(self._value, value))}]"
        if isinstance(value, dict):
            return f"{{{', '.join(f'{k!r}: {self._value(v)}' for k, v in value.items())}}}"
        if isinstance(value, slice):
            return f"slice({', '.join(map(self._value, (value.start, value.stop, value.step)))})"
        if isinstance(value, enum.Enum):
            return f"{self._function(type(value))}.{value.name}"
        if isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
            return self._function(value)
        return repr(value)

    def _tuple(self, value: tuple[Any, ...]) -> str:
        inside = ", ".join(map(self._value, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"

    def _function(self, function: Any) -> str:
        name = _texts.qualified_name(function)
        if getattr(builtins, name, None) is function:
            return name
        return self._global(name, function)

    def _arguments(self, args: Any, kwargs: Any) -> str:
        named = [f"{name} = {self._value(value)}" for name, value in kwargs.items()]
        return ", ".join([*map(self._value, args), *named])

    # -- statements --------------------------------------------------------------------------------

    def _statement(self, node: Node) -> str:
        kind = f" : {self._type(node.type)}" if node.type is not None else ""
        if node.op == "placeholder":
            return self._parameter(node, kind)
        if node.op == "output":
            if node.type is not None:
                self.returns = f" -> {self._type(node.type)}"
            return f"{self.codegen.generate_output(_Expression(self._value(node.args[0])))}\n"
        return f"{self._assignment(node, kind)}{self._deletions(node)}\n"

    def _parameter(self, node: Node, kind: str) -> str:
        name = str(node.target)
        default = f" = {self._value(node.args[0])}" if node.args else ""
        self.parameters.append(f"{name}{kind}{default}")
        bare = name.replace("*", "")
        return "" if bare == node.name else f"{node.name} = {bare}\n"

    def _assignment(self, node: Node, kind: str) -> str:
        target = f"{node.name}{kind} ="
        if node.op == "get_attr":
            return f"{target} {path_text(self.root, str(node.target))}"
        if node.op == "call_method":
            receiver, *others = node.args
            return (
                f"{target} {path_text(self._value(receiver), str(node.target))}"
                f"({self._arguments(others, node.kwargs)})"
            )
        if node.op == "call_module":
            module = path_text(self.root, str(node.target))
            return f"{target} {module}({self._arguments(node.args, node.kwargs)})"
        return self._call(node, target)

    def _call(self, node: Node, target: str) -> str:
        function: Any = node.target
        name = getattr(function, "__name__", "")
        operands = [self._value(value) for value in node.args]
        if getattr(function, "__module__", None) == "_operator" and not node.kwargs:
            if name in _texts.MAGIC:
                return f"{target} {_texts.MAGIC[name].format(*operands)}"
            if name in _texts.IN_PLACE:
                return f"{_texts.IN_PLACE[name].format(*operands)};  {target} {operands[0]}"
        if function is getattr and len(node.args) == 2 and str(node.args[1]).isidentifier():
            return f"{target} {operands[0]}.{node.args[1]}"
        return f"{target} {self._function(function)}({self._arguments(node.args, node.kwargs)})"

    def _deletions(self, node: Node) -> str:
        """Ends the names that nothing below reads, so that their memory can be used again."""
        unused = [*self.last_uses.get(node, []), *([] if node.users else [node])]
        return f";  {' = '.join([*(n.name for n in unused), 'None'])}" if unused else ""

# SPDX-License-Identifier: Apache-2.0
"""Graphs: a list of nodes in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from . import _texts
from ._checks import lint
from ._code import CodeGen, PythonCode, Writer
from ._names import Namespace, name_of_target
from .node import Argument, Node, Target, map_aggregate, map_arg

if TYPE_CHECKING:
    from .graph_module import GraphModule

__all__ = ["CodeGen", "Graph", "PythonCode"]


class _Root(Node):
    """Stands before the first node and after the last."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.name, self.op, self.target = graph, "", "root", ""
        self.users, self.meta, self._input_nodes, self.type = {}, {}, {}, None
        self._args, self._kwargs = (), {}
        self._prev = self._next = self
        self._erased = False


class _Nodes:
    """The graph's nodes, in order; nodes may be erased or inserted on the way."""

    def __init__(self, graph: Graph, forward: bool = True) -> None:
        self._graph, self._forward = graph, forward

    def __len__(self) -> int:
        return self._graph._count

    def __iter__(self) -> Iterator[Node]:
        root = self._graph._root
        node = root._next if self._forward else root._prev
        while node is not root:
            if not node._erased:
                yield node
            node = node._next if self._forward else node._prev

    def __reversed__(self) -> _Nodes:
        return _Nodes(self._graph, not self._forward)


class _Inserting:
    """with graph.inserting_before(node): where new nodes go."""

    def __init__(self, graph: Graph, insert: Callable[[Node], None]) -> None:
        self._graph, self._before = graph, graph._insert
        graph._insert = insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        self._graph._insert = self._before


class Graph:
    """The calls of a program in order: placeholders first, then calls, and the output last."""

    def __init__(
        self,
        owning_module: GraphModule | None = None,
        tracer_cls: type | None = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:
        self._root: Node = _Root(self)
        self._insert: Callable[[Node], None] = self._root.prepend
        self._count = 0
        self._graph_namespace = Namespace()
        self._codegen = CodeGen()
        self.owning_module = owning_module
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras

    @property
    def nodes(self) -> _Nodes:
        """The nodes in order."""
        return _Nodes(self)

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """The nodes of this kind, with this target if one is given, in order."""
        if op in ("call_function",) and target is None:
            return [node for node in self.nodes if node.op == op]
        return [
            node
            for node in self.nodes
            if node.op == op and (target is None or node.target == target)
        ]

    def output_node(self) -> Node:
        """The output. Raises RuntimeError if there is none."""
        last = self._root._prev
        if last.op != "output":
            raise RuntimeError("output_node: the graph has no output")
        return last

    # -- making nodes ------------------------------------------------------------------------------

    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A new node, at the end or where inserting_before and inserting_after say."""
        hint = name if name is not None else name_of_target(target)
        unique = self._graph_namespace.create_name(hint, None)
        node = Node(self, unique, op, target, args or (), kwargs or {}, type_expr)
        self._graph_namespace.associate_name_with_obj(unique, node)
        self._insert(node)
        self._count += 1
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = ...) -> Node:
        """A new argument of the graph. A default of ... means none."""
        args = () if default_value is ... else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """A new node that reads a parameter, buffer or other attribute of the module."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A new call of a submodule."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A new call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """A new call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: Argument, type_expr: Any = None) -> Node:
        """The graph's result, with which it ends."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(
        self, node: Node, arg_transform: Callable[[Node], Argument] = lambda x: x
    ) -> Node:
        """A copy of a node of another graph; its arguments are arg_transform(node) of this
        graph."""
        args = map_arg(node.args, arg_transform)
        kwargs = map_arg(node.kwargs, arg_transform)
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = dict(node.meta)
        return copied

    def graph_copy(
        self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False
    ) -> Argument | tuple[Argument, Node]:
        """Copies the nodes of g that val_map does not have, and adds them to val_map; the value of
        its output, or (value, output node), or None if it has no output."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                value = map_arg(node.args[0], lambda n: val_map[n])
                return (value, node) if return_output_node else value
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo: Any = None) -> Graph:
        created = Graph(tracer_cls=self._tracer_cls)
        created._codegen = self._codegen
        values: dict[Node, Node] = {}
        copied = created.graph_copy(self, values, return_output_node=True)
        if copied is not None:
            result, before = copied
            created.output(result, before.type).meta = dict(before.meta)
        return created

    # -- changing the order ------------------------------------------------------------------------

    def erase_node(self, to_erase: Node) -> None:
        """Removes a node that nothing reads. Raises RuntimeError if something does."""
        if to_erase.users:
            raise RuntimeError(f"erase_node: {to_erase} is still read by {list(to_erase.users)}")
        if to_erase.graph is not self:
            raise RuntimeError(f"erase_node: {to_erase} belongs to another graph")
        if to_erase._erased:
            raise RuntimeError(f"erase_node: {to_erase} is erased already")
        to_erase._unlink()
        to_erase._erased = True
        self._count -= 1
        to_erase._set_arguments((), {})

    def inserting_before(self, n: Node | None = None) -> _Inserting:
        """Inside with, new nodes go before n; None: to the beginning."""
        if n is None:
            return self.inserting_after(self._root)
        self._check_owner("inserting_before", n)
        return _Inserting(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _Inserting:
        """Inside with, new nodes go after n, the last one made directly after it; None: to the
        end."""
        if n is None:
            return self.inserting_before(self._root)
        self._check_owner("inserting_after", n)
        return _Inserting(self, n.append)

    def _check_owner(self, name: str, n: Node) -> None:
        if n.graph is not self:
            raise ValueError(f"{name}: {n} belongs to another graph")

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Erases nodes that nothing reads and that have no effect of their own, as is_impure or the
        given function says. Whether any was erased."""
        lint(self)
        impure = Node.is_impure if is_impure_node is None else is_impure_node
        before = len(self.nodes)
        for node in reversed(self.nodes):
            if not node.users and node.op not in ("placeholder", "output") and not impure(node):
                self.erase_node(node)
        return len(self.nodes) < before

    # -- checking, printing, code ------------------------------------------------------------------

    def lint(self) -> None:
        """Raises RuntimeError if a name is given twice, a node reads one that comes later or is of
        another graph, or the module has no such submodule or attribute; ValueError if a target is
        of the wrong type."""
        lint(self)

    def set_codegen(self, codegen: CodeGen) -> None:
        """Sets how the graph becomes code."""
        self._codegen = codegen

    def process_inputs(self, *args: Any) -> Any:
        """The placeholders' values, from the arguments of a call."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """The result of a call, from the output's value."""
        return self._codegen.process_outputs(out)

    def python_code(self, root_module: str) -> PythonCode:
        """The graph as a method; root_module is what the code calls the module: "self"."""
        return Writer(self, root_module).written()

    def __str__(self) -> str:
        return "\n    ".join(["graph():", *(node.format_node() for node in self.nodes)])

    def print_tabular(self) -> None:
        """Prints the nodes as a table."""
        print(_texts.table(self))

    def __reduce__(self) -> tuple[Any, ...]:
        places = {node: i for i, node in enumerate(self.nodes)}

        def stored(value: Any) -> Any:
            return map_arg(value, lambda node: NodeAt(places[node]))

        nodes = [
            (n.op, n.target, stored(n.args), stored(n.kwargs), n.name, n.type) for n in self.nodes
        ]
        tracer = self._tracer_cls  # pickle cannot find a class inside of a function
        local = tracer is not None and "<locals>" in tracer.__qualname__
        return _rebuilt, (nodes, self._codegen, None if local else tracer)


class NodeAt(int):
    """In a pickled graph: the node at this place."""


def _rebuilt(nodes: list[Any], codegen: CodeGen, tracer_cls: type | None) -> Graph:
    graph = Graph(tracer_cls=tracer_cls)
    graph._codegen = codegen
    results: list[Node] = []

    def found(value: Any) -> Any:
        return map_aggregate(value, lambda x: results[x] if isinstance(x, NodeAt) else x)

    for op, target, args, kwargs, name, kind in nodes:
        results.append(graph.create_node(op, target, found(args), found(kwargs), name, kind))
    return graph

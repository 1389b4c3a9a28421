# SPDX-License-Identifier: Apache-2.0
"""Splitting a graph into submodules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import getitem
from typing import Any

from ...nn import Module
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node, map_arg

__all__ = ["split_module"]


@dataclass
class _Part:
    """The nodes of one submodule, which parts it needs, and what passes in and out."""

    name: str
    nodes: list[Node] = field(default_factory=list)
    inputs: dict[Node, None] = field(default_factory=dict)
    outputs: dict[Node, None] = field(default_factory=dict)
    needs: dict[str, None] = field(default_factory=dict)


def split_module(
    m: GraphModule,
    root_m: Module,
    split_callback: Callable[[Node], int],
    qualname_map: dict[str, str] | None = None,
) -> GraphModule:
    """A module that calls submod_X, submod_Y, ..., among which the calls of m are divided.

    Arguments:
        m: a traced module
        root_m: has the parameters and modules that m's graph reads
        split_callback: split_callback(node) is the name of the node's part: X
        qualname_map: gets the old path of each module, by its new one

    Raises: RuntimeError, if two parts need each other."""
    parts: dict[str, _Part] = {}
    part_of: dict[Node, _Part] = {}
    for node in m.graph.nodes:
        if node.op not in ("placeholder", "output", "get_attr"):
            name = str(split_callback(node))
            part_of[node] = parts.setdefault(name, _Part(name))
            part_of[node].nodes.append(node)
    for node in m.graph.nodes:
        for read in node.all_input_nodes:
            _connect(read, node, part_of)
    graph = Graph()
    values: dict[Node, Any] = {}
    root: dict[str, Any] = {}
    for node in m.graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            values[node] = graph.node_copy(node)
        if node.op == "get_attr":
            root[str(node.target)] = _at(root_m, str(node.target))
    for part in _ordered(parts):
        name = f"submod_{part.name}"
        root[name] = _module_of(part, root_m)
        if qualname_map is not None:
            qualname_map.update(
                {
                    f"{name}.{node.target}": str(node.target)
                    for node in part.nodes
                    if node.op == "call_module"
                }
            )
        result = graph.call_module(name, tuple(values[node] for node in part.inputs))
        outputs = list(part.outputs)
        for i, output in enumerate(outputs):
            values[output] = (
                result if len(outputs) == 1 else graph.call_function(getitem, (result, i))
            )
    for node in m.graph.find_nodes(op="output"):
        graph.output(map_arg(node.args[0], lambda n: values[n]), node.type)
    return GraphModule(root, graph)


def _connect(read: Node, node: Node, part_of: dict[Node, _Part]) -> None:
    """Notes that the node reads another one, from which other part or from where outside."""
    before, after = part_of.get(read), part_of.get(node)
    if before is after:
        return
    if before is not None:
        before.outputs[read] = None
    if after is not None:
        after.inputs[read] = None
        if before is not None:
            after.needs[before.name] = None


def _ordered(parts: dict[str, _Part]) -> list[_Part]:
    """Each after those that it needs."""
    done: dict[str, _Part] = {}
    while len(done) < len(parts):
        ready = [p for p in parts.values() if p.name not in done and set(p.needs) <= set(done)]
        if not ready:
            raise RuntimeError("split_module: two parts need each other")
        done[ready[0].name] = ready[0]
    return list(done.values())


def _module_of(part: _Part, root_m: Module) -> GraphModule:
    graph = Graph()
    values = {node: graph.placeholder(node.name, node.type) for node in part.inputs}
    root: dict[str, Any] = {}

    for node in part.nodes:
        if node.op == "call_module":
            root[str(node.target)] = _at(root_m, str(node.target))
        args, kwargs = (map_arg(a, lambda n: values[n]) for a in (node.args, node.kwargs))
        values[node] = graph.create_node(node.op, node.target, args, kwargs, type_expr=node.type)
        values[node].meta = dict(node.meta)
    outputs = [values[node] for node in part.outputs]
    graph.output(outputs[0] if len(outputs) == 1 else tuple(outputs))
    return GraphModule(root, graph)


def _at(module: Module, path: str) -> Any:
    place: Any = module
    for part in path.split("."):
        place = getattr(place, part)
    return place

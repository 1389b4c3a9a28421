# SPDX-License-Identifier: Apache-2.0
"""Replacing one pattern of calls by another throughout a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..nn import Module
from ._matcher import matches
from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule
from .node import Node, map_arg

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]

Pattern = Callable[..., Any] | GraphModule | Graph


class Match(NamedTuple):
    """One occurrence of a pattern."""

    anchor: Node
    """the node that stands for the pattern's first result"""
    nodes_map: dict[Node, Node]
    """from the pattern's nodes to those of the graph"""


@dataclass
class ReplacedPatterns:
    """One occurrence of a pattern, and what took its place."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


def replace_pattern(gm: GraphModule, pattern: Pattern, replacement: Pattern) -> list[Match]:
    """Replaces each occurrence of the pattern, which may not overlap one before it.

    Pattern and replacement are functions, modules or graphs with the same number of arguments. An
    occurrence has the same calls with the same constants; its arguments are any nodes, and nothing
    but the results may be read elsewhere. The module is recompiled.

    Returns: the occurrences.
    """
    return [
        Match(one.anchor, one.nodes_map)
        for one in replace_pattern_with_filters(gm, pattern, replacement)
    ]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Pattern,
    replacement: Pattern | None = None,
    match_filters: list[Callable[[Match, Graph, Graph], bool]] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[Match, Graph, Graph], Graph] | None = None,
) -> list[ReplacedPatterns]:
    """replace_pattern where every filter(match, graph, pattern's graph) is true.

    Arguments:
        ignore_literals: whether constants in calls may be others than in the pattern
        replacement_callback: makes the replacement of each match, given what filters get
    """
    searched = _graph_of(pattern)
    fixed = None if replacement is None else _graph_of(replacement)
    if fixed is None and replacement_callback is None:
        raise ValueError("replace_pattern_with_filters: wants replacement or replacement_callback")
    if isinstance(replacement, Module):
        _add_missing(gm, replacement)
    replaced = []
    moved: dict[Node, Node] = {}
    for nodes_map in matches(searched, gm.graph, ignore_literals):
        anchor = nodes_map[searched.output_node().all_input_nodes[0]]
        match = Match(anchor, nodes_map)
        if not all(keep(match, gm.graph, searched) for keep in match_filters or ()):
            continue
        graph = replacement_callback(match, gm.graph, searched) if replacement_callback else fixed
        assert graph is not None
        result = _replaced(gm.graph, searched, graph, nodes_map, moved)
        replaced.append(ReplacedPatterns(anchor, nodes_map, result))
    if isinstance(replacement, Module):
        gm.delete_all_unused_submodules()
    gm.recompile()
    return replaced


def _graph_of(pattern: Pattern) -> Graph:
    if isinstance(pattern, Graph):
        return pattern
    return pattern.graph if isinstance(pattern, GraphModule) else symbolic_trace(pattern).graph


def _replaced(
    graph: Graph,
    pattern: Graph,
    replacement: Graph,
    nodes_map: dict[Node, Node],
    moved: dict[Node, Node],
) -> list[Node]:
    """Puts the replacement in the place of one occurrence; moved has, for results of earlier
    occurrences, what took their place."""

    def now(node: Node) -> Node:
        while node in moved:
            node = moved[node]
        return node

    inputs = [now(nodes_map[n]) for n in pattern.nodes if n.op == "placeholder" and n in nodes_map]
    values = dict(zip(replacement.find_nodes(op="placeholder"), inputs, strict=False))
    before = [nodes_map[n] for n in pattern.output_node().all_input_nodes]
    users = {user for result in before for user in result.users}
    first = next(node for node in graph.nodes if node in users)
    results = []
    with graph.inserting_before(first):
        for node in replacement.nodes:
            if node.op not in ("placeholder", "output"):
                values[node] = graph.node_copy(node, lambda n: values[n])
                results.append(values[node])
    result = map_arg(replacement.output_node().args[0], lambda n: values[n])
    after = [result] if isinstance(result, Node) else [n for n in result if isinstance(n, Node)]
    if len(after) != len(before):
        raise ValueError(
            f"replace_pattern: the replacement has {len(after)} results, wanted {len(before)}"
        )
    for old, new in zip(before, after, strict=True):
        old.replace_all_uses_with(new, lambda user: user not in results)
        moved[old] = new
    for node in reversed(pattern.nodes):
        if node.op not in ("placeholder", "output") and not nodes_map[node].users:
            graph.erase_node(nodes_map[node])
    return results


def _add_missing(gm: GraphModule, replacement: Module) -> None:
    """Gives the module what the replacement calls and reads."""
    if not isinstance(replacement, GraphModule):
        replacement = symbolic_trace(replacement)
    for node in replacement.graph.nodes:
        if node.op in ("call_module", "get_attr"):
            value: Any = replacement
            place: Any = gm
            for part in str(node.target).split("."):
                value, place = getattr(value, part), getattr(place, part, None)
            if place is None:
                gm._put(str(node.target), value)

# SPDX-License-Identifier: Apache-2.0
"""Where a pattern occurs in a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .graph import Graph
from .node import Node


def matches(pattern: Graph, graph: Graph, ignore_literals: bool = False) -> list[dict[Node, Node]]:
    """For each occurrence, the node of the graph that stands for each node of the pattern; none
    shares a call with one before it. Only the pattern's results are read from outside of it."""
    results = pattern.output_node().all_input_nodes
    if not results:
        raise ValueError("replace_pattern: the pattern has no result")
    collected = []
    taken: set[Node] = set()
    for node in graph.nodes:
        for match in _from_results(results, [node], graph, ignore_literals):
            calls = {match[n] for n in match if n.op != "placeholder"}
            if not calls & taken and _is_closed(match, set(results)):
                taken |= calls
                collected.append(match)
                break
    return collected


def _from_results(
    results: list[Node], chosen: list[Node], graph: Graph, ignore_literals: bool
) -> Iterator[dict[Node, Node]]:
    """The first result at the chosen node, and the others wherever they fit."""
    if len(chosen) < len(results):
        match: dict[Node, Node] = {}
        if all(_fits(p, n, match, ignore_literals) for p, n in zip(results, chosen, strict=False)):
            for node in graph.nodes:
                yield from _from_results(results, [*chosen, node], graph, ignore_literals)
        return
    match = {}
    if all(_fits(p, n, match, ignore_literals) for p, n in zip(results, chosen, strict=True)):
        yield match


def _fits(pattern: Any, value: Any, match: dict[Node, Node], ignore_literals: bool) -> bool:
    """Whether the value is what the pattern's argument describes; adds the nodes to match."""
    if isinstance(pattern, Node):
        if not isinstance(value, Node):
            return False
        if pattern in match:
            return match[pattern] is value
        if pattern.op != "placeholder":
            if value in match.values() or not _same_call(pattern, value):
                return False
            match[pattern] = value
            return _fits(pattern.args, value.args, match, ignore_literals) and _fits(
                pattern.kwargs, value.kwargs, match, ignore_literals
            )
        match[pattern] = value
        return True
    if isinstance(pattern, (list, tuple)):
        return (
            isinstance(value, (list, tuple))
            and len(pattern) == len(value)
            and all(
                _fits(p, v, match, ignore_literals) for p, v in zip(pattern, value, strict=True)
            )
        )
    if isinstance(pattern, dict):
        return (
            isinstance(value, dict)
            and pattern.keys() == value.keys()
            and all(_fits(pattern[k], value[k], match, ignore_literals) for k in pattern)
        )
    if isinstance(value, Node):
        return False
    return ignore_literals or (type(pattern) is type(value) and bool(pattern == value))


def _same_call(pattern: Node, node: Node) -> bool:
    """Modules count by their paths, parameters and buffers not."""
    if pattern.op != node.op:
        return False
    return pattern.op == "get_attr" or bool(pattern.target == node.target)


def _is_closed(match: dict[Node, Node], results: set[Node]) -> bool:
    """Whether the nodes inside are read by nodes inside alone."""
    inside = {node for pattern, node in match.items() if pattern.op != "placeholder"}
    return all(
        pattern in results or pattern.op in ("placeholder", "get_attr") or set(node.users) <= inside
        for pattern, node in match.items()
    )

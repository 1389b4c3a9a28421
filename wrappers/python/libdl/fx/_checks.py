# SPDX-License-Identifier: Apache-2.0
"""What a graph must satisfy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .node import OPS, Node

if TYPE_CHECKING:
    from .graph import Graph


def lint(graph: Graph) -> None:
    """Graph.lint, without being a method."""
    names: set[str] = set()
    before: set[Node] = set()
    for node in graph.nodes:
        if node.graph is not graph:
            raise RuntimeError(f"lint: {node} belongs to another graph")
        _check_kind(node)
        for read in node.all_input_nodes:
            if read.graph is not graph:
                raise RuntimeError(f"lint: {node} reads {read}, which belongs to another graph")
            if read not in before:
                raise RuntimeError(f"lint: {node} reads {read}, which comes later or was erased")
        if node.name in names:
            raise RuntimeError(f"lint: two nodes are called {node.name}")
        names.add(node.name)
        before.add(node)
        if graph.owning_module is not None and node.op in ("get_attr", "call_module"):
            _check_path(graph.owning_module, node)


def _check_kind(node: Node) -> None:
    if node.op not in OPS:
        raise RuntimeError(f"lint: {node} has the op {node.op!r}, wanted one of {', '.join(OPS)}")
    called = node.op == "call_function"
    if not (callable(node.target) if called else isinstance(node.target, str)):
        raise ValueError(
            f"lint: {node} ({node.op}) has a {type(node.target).__name__} as its "
            f"target, wanted a {'function' if called else 'string'}"
        )


def _check_path(module: object, node: Node) -> None:
    place = module
    parts = str(node.target).split(".")
    for i, part in enumerate(parts):
        if not hasattr(place, part):
            above = ".".join(parts[:i]) or type(module).__name__
            raise RuntimeError(f"lint: {node} reads {node.target}, but {above} has no {part}")
        place = getattr(place, part)
    from ..nn import Module

    if node.op == "call_module" and not isinstance(place, Module):
        raise RuntimeError(
            f"lint: {node} calls {node.target}, a {type(place).__name__}, wanted a module"
        )

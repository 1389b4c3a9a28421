# SPDX-License-Identifier: Apache-2.0
"""The recorded graph as a drawing for Graphviz."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._C import Tensor
from ..autograd.graph import Node

__all__ = ["draw_graph"]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _reached(roots: Iterable[Node]) -> list[Node]:
    """All nodes behind these, each once, without recursion: graphs are as deep as programs ran."""
    seen: dict[Node, None] = {}
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen[node] = None
        waiting += [following for following, _ in node.next_functions if following is not None]
    return list(seen)


def _label(node: Node, names: Mapping[int, str]) -> tuple[str, bool]:
    """What stands in a node, and whether it is a leaf."""
    leaf = getattr(node, "variable", None)
    if leaf is None:
        return node.name(), False
    shape = str(list(leaf.shape))
    return "\n".join(filter(None, (names.get(id(leaf)), shape))), True


def _dot(tensors: list[Tensor], names: Mapping[int, str]) -> str:
    nodes = _reached([tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None])
    number = {node: i for i, node in enumerate(nodes)}
    lines = ["digraph {", "  node [shape=box, fontsize=10];"]
    for node in nodes:
        label, leaf = _label(node, names)
        style = ", style=filled, fillcolor=lightblue" if leaf else ""
        lines.append(f"  n{number[node]} [label={_quoted(label)}{style}];")
    for node in nodes:
        for following, _ in node.next_functions:
            if following is not None:
                lines.append(f"  n{number[following]} -> n{number[node]};")
    for i, tensor in enumerate(tensors):
        label = names.get(id(tensor)) or f"result {list(tensor.shape)}"
        lines.append(f"  r{i} [label={_quoted(label)}, style=filled, fillcolor=lightgreen];")
        if tensor.grad_fn is not None:
            lines.append(f"  n{number[tensor.grad_fn]} -> r{i};")
    return "\n".join([*lines, "}", ""])


def draw_graph(
    tensors: Tensor | Iterable[Tensor],
    params: Mapping[str, Tensor] | Iterable[tuple[str, Tensor]] | None = None,
    path: str | None = None,
) -> Any:
    """Draws what was recorded to compute the tensors: operators as boxes, leaves in blue, and the
    tensors in green.

    Arguments:
        tensors: one tensor or several
        params: names of tensors, such as model.named_parameters()
        path: also written there: as text if it ends in .dot or .gv, else as a picture (.png, .svg,
            .pdf), which needs the graphviz package and its programs

    Returns a graphviz.Source, which notebooks show, if the graphviz package is installed; else the
    text in Graphviz' language.
    """
    all_tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    items = params.items() if isinstance(params, Mapping) else params or ()
    text = _dot(all_tensors, {id(tensor): name for name, tensor in items})
    try:
        import graphviz
    except ImportError:
        graphviz = None
    if path is not None and path.endswith((".dot", ".gv")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    elif path is not None:
        if graphviz is None:
            raise ImportError(
                "draw_graph: pictures need the graphviz package, which is not installed "
                "(pip install graphviz); a path that ends in .dot gets the text"
            )
        graphviz.Source(text).render(outfile=path, cleanup=True)
    return text if graphviz is None else graphviz.Source(text)

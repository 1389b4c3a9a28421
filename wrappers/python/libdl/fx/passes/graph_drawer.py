# SPDX-License-Identifier: Apache-2.0
"""Drawings of graphs, in the language of Graphviz."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from .._texts import target_text
from ..graph_module import GraphModule
from ..node import Node

__all__ = ["Dot", "FxGraphDrawer"]

_COLOURS = {
    "placeholder": "AliceBlue",
    "get_attr": "LightGrey",
    "call_function": "LightGoldenrod",
    "call_method": "PapayaWhip",
    "call_module": "LemonChiffon1",
    "output": "PowderBlue",
}


class Dot:
    """A drawing: to_string() is its text; the other methods run Graphviz's program dot."""

    def __init__(self, text: str) -> None:
        self._text = text

    def to_string(self) -> str:
        return self._text

    def create(self, format: str) -> bytes:
        """The drawing in a format of Graphviz, such as "svg". Raises FileNotFoundError if there is
        no program dot, and CalledProcessError if it fails."""
        command = ["dot", f"-T{format}"]
        done = subprocess.run(command, input=self._text.encode(), capture_output=True, check=True)
        return done.stdout

    def create_svg(self) -> bytes:
        return self.create("svg")

    def write(self, path: str, format: str = "raw") -> None:
        """Writes a file: the text, or a format of Graphviz."""
        data = self._text.encode() if format == "raw" else self.create(format)
        Path(path).write_bytes(data)

    def write_raw(self, path: str) -> None:
        self.write(path)

    def write_svg(self, path: str) -> None:
        self.write(path, "svg")

    def write_png(self, path: str) -> None:
        self.write(path, "png")


class FxGraphDrawer:
    """Draws the graph of a module, and of the traced modules that it calls.

    Arguments:
        graph_module: a traced module; shapes are shown if passes.shape_prop has found them
        name: the drawing's name
        ignore_getattr: whether to leave out parameters and buffers
        ignore_parameters_and_buffers: the same
    """

    def __init__(
        self,
        graph_module: GraphModule,
        name: str,
        ignore_getattr: bool = False,
        ignore_parameters_and_buffers: bool = False,
    ) -> None:
        self._without = {"get_attr"} if ignore_getattr or ignore_parameters_and_buffers else set()
        self._name = name
        self._drawings = {name: self._drawn(graph_module, name)}
        for path, module in graph_module.named_children():
            if isinstance(module, GraphModule):
                self._drawings[f"{name}_{path}"] = self._drawn(module, f"{name}_{path}")

    def get_dot_graph(self, submod_name: str | None = None) -> Dot:
        """The drawing of the module, or of a traced submodule."""
        return self._drawings[self._name if submod_name is None else f"{self._name}_{submod_name}"]

    def get_main_dot_graph(self) -> Dot:
        """The drawing of the module."""
        return self._drawings[self._name]

    def get_all_dot_graphs(self) -> dict[str, Dot]:
        """The drawings by their names."""
        return dict(self._drawings)

    def _drawn(self, module: GraphModule, name: str) -> Dot:
        nodes = [node for node in module.graph.nodes if node.op not in self._without]
        lines = [f"digraph {json.dumps(name)} {{", "rankdir=TB;"]
        lines += [f"{node.name} [{_options(node, module)}];" for node in nodes]
        lines += [
            f"{read.name} -> {node.name};"
            for node in nodes
            for read in node.all_input_nodes
            if read.op not in self._without
        ]
        return Dot("\n".join([*lines, "}", ""]))


def _options(node: Node, module: GraphModule) -> str:
    rows = [f"name=%{node.name}", f"op_code={node.op}"]
    if node.op == "call_module":
        kind = type(module.get_submodule(str(node.target)))
        rows.append(f"{kind.__module__}.{kind.__qualname__}")
    if node.op not in ("placeholder", "output"):
        rows.append(f"target={target_text(node.target)}")
    meta = node.meta.get("tensor_meta")
    if meta is not None and hasattr(meta, "shape"):
        rows.append(f"dtype={meta.dtype}, shape={tuple(meta.shape)}, stride={meta.stride}")
    rows.append(f"num_users={len(node.users)}")
    label = "{" + "|".join(map(_escaped, rows)) + "}"
    return f'label="{label}", shape=record, style="filled,rounded", fillcolor={_COLOURS[node.op]}'


def _escaped(text: object) -> str:
    """A record's label gives a meaning to these characters."""
    return "".join(f"\\{c}" if c in '\\{}|<>"' else c for c in str(text))

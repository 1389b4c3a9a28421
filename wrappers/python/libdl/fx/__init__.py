# SPDX-License-Identifier: Apache-2.0
"""Programs as graphs: tracing, changing the graph, and running it as a module again.

Example:
    >>> traced = torch.fx.symbolic_trace(nn.ReLU())
    >>> [node.op for node in traced.graph.nodes]
    ['placeholder', 'call_function', 'output']
"""

from __future__ import annotations

from . import graph, immutable_collections, interpreter, node, passes, proxy, subgraph_rewriter
from ._symbolic_trace import PH, Tracer, symbolic_trace, wrap
from .graph import CodeGen, Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy
from .subgraph_rewriter import replace_pattern

__all__ = [
    "CodeGen",
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "PH",
    "Proxy",
    "Tracer",
    "Transformer",
    "graph",
    "has_side_effect",
    "immutable_collections",
    "interpreter",
    "map_arg",
    "node",
    "passes",
    "proxy",
    "replace_pattern",
    "subgraph_rewriter",
    "symbolic_trace",
    "wrap",
]

_LAZY_MODULES = ("_pytree", "experimental")

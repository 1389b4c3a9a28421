# SPDX-License-Identifier: Apache-2.0
"""Graphs of CUDA's calls that are captured once and replayed, which are not offered in Python."""

from __future__ import annotations

from typing import Any

from .._named_only import NamedOnly, refusing

__all__ = [
    "CUDAGraph",
    "graph",
    "graph_pool_handle",
    "is_current_stream_capturing",
    "make_graphed_callables",
]

_REASON = "a program's CUDA calls are not captured in Python; they run one by one"
graph_pool_handle = refusing("cuda.graph_pool_handle", _REASON)
make_graphed_callables = refusing("cuda.make_graphed_callables", _REASON)


def is_current_stream_capturing() -> bool:
    """False: no stream captures."""
    return False


class CUDAGraph(NamedOnly, path="cuda.CUDAGraph", reason=_REASON):
    """A name for annotations: none can be made."""


class graph(NamedOnly, path="cuda.graph", reason=_REASON):  # noqa: N801  (PyTorch's name)
    """A name to import: no capture can be begun."""

    default_capture_stream: Any = None

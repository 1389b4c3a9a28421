# SPDX-License-Identifier: Apache-2.0
"""Helpers around training and devices: data, checkpoint, benchmark, tensorboard,
draw_graph, intercept, load_plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import benchmark as benchmark, checkpoint as checkpoint, data as data
    from . import tensorboard as tensorboard
    from ._graph_drawing import draw_graph as draw_graph
    from ._intercept import Call as Call
    from ._intercept import intercept as intercept
    from ._plugins import load_plugin as load_plugin
    from ._plugins import set_provider_enabled as set_provider_enabled

__all__ = [
    "Call", "benchmark", "checkpoint", "data", "draw_graph", "intercept", "load_plugin",
    "set_provider_enabled", "tensorboard",
]  # fmt: skip
_FROM = {
    "Call": "._intercept",
    "draw_graph": "._graph_drawing",
    "intercept": "._intercept",
    "load_plugin": "._plugins",
    "set_provider_enabled": "._plugins",
}


def __getattr__(name: str) -> Any:
    import importlib

    if name in ("benchmark", "checkpoint", "data", "tensorboard"):
        return importlib.import_module(f".{name}", __name__)
    if name in _FROM:
        return getattr(importlib.import_module(_FROM[name], __name__), name)
    from .._missing import explain

    raise AttributeError(explain(name, __name__))


def __dir__() -> list[str]:
    return __all__

# SPDX-License-Identifier: Apache-2.0
"""Helpers around training and devices: data, checkpoint, benchmark, tensorboard,
draw_graph, intercept, load_plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import (
        benchmark as benchmark,
        checkpoint as checkpoint,
        collect_env as collect_env,
        cpp_extension as cpp_extension,
        data as data,
        dlpack as dlpack,
        hooks as hooks,
        model_zoo as model_zoo,
        tensorboard as tensorboard,
    )
    from ._graph_drawing import draw_graph as draw_graph
    from ._intercept import Call as Call
    from ._intercept import intercept as intercept
    from ._plugins import load_plugin as load_plugin
    from ._plugins import set_provider_enabled as set_provider_enabled
    from ._swapping import swap_tensors as swap_tensors

_LAZY_MODULES = (
    "_python_dispatch",
    "_pytree",
    "benchmark",
    "checkpoint",
    "collect_env",
    "cpp_extension",
    "data",
    "deterministic",
    "dlpack",
    "hooks",
    "model_zoo",
    "tensorboard",
    "_contextlib",
    "_foreach_utils",
    "weak",
)
__all__ = [
    "Call",
    *_LAZY_MODULES[2:-3],
    "draw_graph",
    "intercept",
    "load_plugin",
    "set_provider_enabled",
    "swap_tensors",
]
_LAZY_NAMES = {
    "Call": "_intercept",
    "draw_graph": "_graph_drawing",
    "intercept": "_intercept",
    "load_plugin": "_plugins",
    "set_provider_enabled": "_plugins",
    "swap_tensors": "_swapping",
}

# SPDX-License-Identifier: Apache-2.0
"""Differentiation: backward, grad, custom functions, checks, forward mode."""

from .. import _backward_passes
from .._modes import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from . import forward_ad, functional, grad_mode, graph, variable
from ._gradients import backward, grad
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .function import Function, once_differentiable
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .variable import Variable

__all__ = [
    "Function",
    "GradcheckError",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "once_differentiable",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]


def _is_checkpoint_valid() -> bool:
    """Whether a checkpoint may run a pass of its own: not in one that goes to chosen inputs
    only."""
    return _backward_passes.goes_to_all_leaves()


# What most programs do not use is not imported before.
_LAZY_MODULES = ("profiler", "profiler_util")
_LAZY_NAMES = {"DeviceType": "profiler"}

# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's classes, and of what programs import from there."""

from ..container import (
    Container as Container, ModuleDict as ModuleDict, ModuleList as ModuleList,
    Sequential as Sequential,
)  # fmt: skip
from ..module import Module as Module
from ..parameter import Parameter as Parameter
from ..parameter_container import ParameterDict as ParameterDict, ParameterList as ParameterList
from .module import _addindent as _addindent

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]

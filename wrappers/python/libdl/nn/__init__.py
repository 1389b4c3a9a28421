# SPDX-License-Identifier: Apache-2.0
"""Networks: modules, their parameters, layers and losses."""

from . import modules  # first: the functions need the options of one of its losses
from . import attention, common_types, functional, grad, init, parallel, utils
from .modules import *
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "attention",
    "Buffer",
    "common_types",
    "DataParallel",
    "functional",
    "init",
    "modules",
    "parallel",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "utils",
]
__all__ += modules.__all__

# SPDX-License-Identifier: Apache-2.0
"""Memory formats of weights: there is nothing to convert, because libdl keeps weights as its
kernels like them, whatever their strides."""

from __future__ import annotations

from typing import TypeVar

from ..._types import memory_format as MemoryFormat
from ..modules.module import Module

M = TypeVar("M", bound=Module)


def convert_conv2d_weight_memory_format(module: M, memory_format: MemoryFormat) -> M:
    """Returns the module unchanged."""
    return module


def convert_conv3d_weight_memory_format(module: M, memory_format: MemoryFormat) -> M:
    """Returns the module unchanged."""
    return module

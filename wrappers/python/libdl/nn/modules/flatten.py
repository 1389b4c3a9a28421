# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's classes, and of what programs import from there."""

from ..._C import Tensor as Tensor
from ..layer import Flatten as Flatten, Unflatten as Unflatten
from ..module import Module as Module

__all__ = ["Flatten", "Unflatten"]

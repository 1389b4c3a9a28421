# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's classes, and of what programs import from there."""

from ..._C import Tensor as Tensor
from .. import functional as F
from ..adaptive import (
    AdaptiveLogSoftmaxWithLoss as AdaptiveLogSoftmaxWithLoss, _ASMoutput as _ASMoutput,
)  # fmt: skip
from ..container import ModuleList as ModuleList, Sequential as Sequential
from ..layer import Linear as Linear
from ..module import Module as Module

__all__ = ["AdaptiveLogSoftmaxWithLoss", "_ASMoutput"]

# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's classes, and of what programs import from there."""

from ..._C import Tensor as Tensor
from .. import functional as F, init as init
from ..distance import CrossMapLRN2d as CrossMapLRN2d, LocalResponseNorm as LocalResponseNorm
from ..layer import LayerNorm as LayerNorm
from ..module import Module as Module
from ..normalisation import GroupNorm as GroupNorm, RMSNorm as RMSNorm
from ..parameter import Parameter as Parameter

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]

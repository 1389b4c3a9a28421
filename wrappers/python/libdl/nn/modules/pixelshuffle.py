# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's classes, and of what programs import from there."""

from ..._C import Tensor as Tensor
from .. import functional as F
from ..module import Module as Module
from ..upsampling import PixelShuffle as PixelShuffle, PixelUnshuffle as PixelUnshuffle

__all__ = ["PixelShuffle", "PixelUnshuffle"]

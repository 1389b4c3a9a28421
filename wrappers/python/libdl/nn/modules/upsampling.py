# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's classes, and of what programs import from there."""

from ..._C import Tensor as Tensor
from .. import functional as F
from ..module import Module as Module
from ..upsampling import (
    Upsample as Upsample, UpsamplingBilinear2d as UpsamplingBilinear2d,
    UpsamplingNearest2d as UpsamplingNearest2d,
)  # fmt: skip

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]

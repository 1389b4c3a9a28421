# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's classes, and of what programs import from there."""

from ..._C import Tensor as Tensor
from .. import functional as F, init as init
from ..lazy import (
    LazyBatchNorm1d as LazyBatchNorm1d, LazyBatchNorm2d as LazyBatchNorm2d,
    LazyBatchNorm3d as LazyBatchNorm3d, LazyModuleMixin as LazyModuleMixin,
    _LazyNormBase as _LazyNormBase,
)  # fmt: skip
from ..module import Module as Module
from ..normalisation import (
    BatchNorm1d as BatchNorm1d, BatchNorm2d as BatchNorm2d, BatchNorm3d as BatchNorm3d,
    SyncBatchNorm as SyncBatchNorm, _BatchNorm as _BatchNorm, _NormBase as _NormBase,
)  # fmt: skip
from ..parameter import (
    Parameter as Parameter, UninitializedBuffer as UninitializedBuffer,
    UninitializedParameter as UninitializedParameter,
)  # fmt: skip

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LazyBatchNorm1d", "LazyBatchNorm2d",
    "LazyBatchNorm3d", "SyncBatchNorm", "_BatchNorm", "_LazyNormBase", "_NormBase",
]  # fmt: skip

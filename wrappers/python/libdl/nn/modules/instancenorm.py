# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's classes, and of what programs import from there."""

from ..._C import Tensor as Tensor
from .. import functional as F
from ..lazy import (
    LazyInstanceNorm1d as LazyInstanceNorm1d, LazyInstanceNorm2d as LazyInstanceNorm2d,
    LazyInstanceNorm3d as LazyInstanceNorm3d, _LazyNormBase as _LazyNormBase,
)  # fmt: skip
from ..normalisation import (
    InstanceNorm1d as InstanceNorm1d, InstanceNorm2d as InstanceNorm2d,
    InstanceNorm3d as InstanceNorm3d, _InstanceNorm as _InstanceNorm, _NormBase as _NormBase,
)  # fmt: skip

__all__ = [
    "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LazyInstanceNorm1d",
    "LazyInstanceNorm2d", "LazyInstanceNorm3d", "_InstanceNorm",
]  # fmt: skip

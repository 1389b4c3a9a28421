# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's classes, and of what programs import from there."""

from ..._C import Tensor as Tensor
from .. import functional as F, init as init
from ..convolution import (
    Conv1d as Conv1d, Conv2d as Conv2d, Conv3d as Conv3d, ConvTranspose1d as ConvTranspose1d,
    ConvTranspose2d as ConvTranspose2d, ConvTranspose3d as ConvTranspose3d, _ConvNd as _ConvNd,
    _ConvTransposeNd as _ConvTransposeMixin, _ConvTransposeNd as _ConvTransposeNd,
)  # fmt: skip
from ..lazy import (
    LazyConv1d as LazyConv1d, LazyConv2d as LazyConv2d, LazyConv3d as LazyConv3d,
    LazyConvTranspose1d as LazyConvTranspose1d, LazyConvTranspose2d as LazyConvTranspose2d,
    LazyConvTranspose3d as LazyConvTranspose3d, LazyModuleMixin as LazyModuleMixin,
    _LazyConvXdMixin as _LazyConvXdMixin,
)  # fmt: skip
from ..module import Module as Module
from ..parameter import Parameter as Parameter, UninitializedParameter as UninitializedParameter
from .utils import (
    _pair as _pair, _reverse_repeat_tuple as _reverse_repeat_tuple, _single as _single,
    _triple as _triple,
)  # fmt: skip

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
    "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d",
    "LazyConvTranspose3d", "_ConvNd", "_ConvTransposeNd", "_LazyConvXdMixin",
]  # fmt: skip

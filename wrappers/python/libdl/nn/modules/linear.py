# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's classes, and of what programs import from there."""

from ..._C import Tensor as Tensor
from .. import functional as F, init as init
from ..distance import Bilinear as Bilinear
from ..layer import Identity as Identity, Linear as Linear
from ..lazy import LazyLinear as LazyLinear, LazyModuleMixin as LazyModuleMixin
from ..module import Module as Module
from ..multihead import NonDynamicallyQuantizableLinear as NonDynamicallyQuantizableLinear
from ..parameter import Parameter as Parameter, UninitializedParameter as UninitializedParameter

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear", "NonDynamicallyQuantizableLinear"]

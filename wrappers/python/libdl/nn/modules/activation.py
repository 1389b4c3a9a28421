# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's classes, and of what programs import from there."""

from ..._C import Tensor as Tensor
from .. import functional as F
from ..activation import (
    ELU as ELU, GELU as GELU, Hardshrink as Hardshrink, LeakyReLU as LeakyReLU,
    LogSoftmax as LogSoftmax, ReLU as ReLU, SiLU as SiLU, Sigmoid as Sigmoid, Softmax as Softmax,
    Softplus as Softplus, Tanh as Tanh,
)  # fmt: skip
from ..module import Module as Module
from ..multihead import (
    MultiheadAttention as MultiheadAttention,
    NonDynamicallyQuantizableLinear as NonDynamicallyQuantizableLinear,
)  # fmt: skip
from ..parameter import Parameter as Parameter
from ..units import (
    CELU as CELU, GLU as GLU, Hardsigmoid as Hardsigmoid, Hardswish as Hardswish,
    Hardtanh as Hardtanh, LogSigmoid as LogSigmoid, Mish as Mish, PReLU as PReLU, RReLU as RReLU,
    ReLU6 as ReLU6, SELU as SELU, Softmax2d as Softmax2d, Softmin as Softmin,
    Softshrink as Softshrink, Softsign as Softsign, Tanhshrink as Tanhshrink,
    Threshold as Threshold,
)  # fmt: skip

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh",
    "LeakyReLU", "LogSigmoid", "LogSoftmax", "Mish", "MultiheadAttention", "PReLU", "RReLU",
    "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax", "Softmax2d", "Softmin", "Softplus",
    "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
]  # fmt: skip

# SPDX-License-Identifier: Apache-2.0
"""Networks: modules, their parameters, layers and losses."""

from . import functional, init, modules, parallel, utils
from .activation import (
    ELU, GELU, Hardshrink, LeakyReLU, LogSoftmax, ReLU, Sigmoid, SiLU, Softmax, Softplus, Tanh,
)  # fmt: skip
from .cell import GRUCell, LSTMCell, RNNCell, RNNCellBase
from .container import ModuleDict, ModuleList, Sequential
from .convolution import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .layer import Dropout, Embedding, Flatten, Identity, LayerNorm, Linear, Unflatten
from .lazy import (
    LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d, LazyConv1d, LazyConv2d, LazyConv3d,
    LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d, LazyInstanceNorm1d,
    LazyInstanceNorm2d, LazyInstanceNorm3d, LazyLinear,
)  # fmt: skip
from .loss import CrossEntropyLoss, L1Loss, MSELoss, NLLLoss
from .module import Module
from .normalisation import (
    BatchNorm1d, BatchNorm2d, BatchNorm3d, GroupNorm, InstanceNorm1d, InstanceNorm2d,
    InstanceNorm3d, RMSNorm, SyncBatchNorm,
)  # fmt: skip
from .padding import (
    CircularPad1d, CircularPad2d, CircularPad3d, ConstantPad1d, ConstantPad2d, ConstantPad3d,
    ReflectionPad1d, ReflectionPad2d, ReflectionPad3d, ReplicationPad1d, ReplicationPad2d,
    ReplicationPad3d, ZeroPad1d, ZeroPad2d, ZeroPad3d,
)  # fmt: skip
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
from .parameter_container import ParameterDict, ParameterList
from .pooling import (
    AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AdaptiveMaxPool1d,
    AdaptiveMaxPool2d, AdaptiveMaxPool3d, AvgPool1d, AvgPool2d, AvgPool3d, FractionalMaxPool2d,
    FractionalMaxPool3d, LPPool1d, LPPool2d, LPPool3d, MaxPool1d, MaxPool2d, MaxPool3d,
    MaxUnpool1d, MaxUnpool2d, MaxUnpool3d,
)  # fmt: skip
from .rnn import GRU, LSTM, RNN, RNNBase
from .upsampling import (
    ChannelShuffle, Fold, PixelShuffle, PixelUnshuffle, Unfold, Upsample, UpsamplingBilinear2d,
    UpsamplingNearest2d,
)  # fmt: skip

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d",
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "Buffer", "ChannelShuffle", "CircularPad1d",
    "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
    "CrossEntropyLoss", "DataParallel", "Dropout", "ELU", "Embedding", "Flatten", "Fold",
    "FractionalMaxPool2d", "FractionalMaxPool3d", "functional", "GELU", "GroupNorm", "GRU",
    "GRUCell", "Hardshrink", "Identity", "init", "InstanceNorm1d", "InstanceNorm2d",
    "InstanceNorm3d", "L1Loss", "LayerNorm", "LazyBatchNorm1d", "LazyBatchNorm2d",
    "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d",
    "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d",
    "LazyInstanceNorm3d", "LazyLinear", "LeakyReLU", "Linear", "LogSoftmax", "LPPool1d",
    "LPPool2d", "LPPool3d", "LSTM", "LSTMCell", "MaxPool1d", "MaxPool2d", "MaxPool3d",
    "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "Module", "ModuleDict", "ModuleList",
    "modules", "MSELoss", "NLLLoss", "parallel", "Parameter", "ParameterDict", "ParameterList",
    "PixelShuffle", "PixelUnshuffle", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d",
    "ReLU", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "RMSNorm", "RNN",
    "RNNBase", "RNNCell", "RNNCellBase", "Sequential", "Sigmoid", "SiLU", "Softmax", "Softplus",
    "SyncBatchNorm", "Tanh", "Unflatten", "Unfold", "UninitializedBuffer",
    "UninitializedParameter", "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d",
    "utils", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip


import typing as _typing  # noqa: E402

from .._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)

# SPDX-License-Identifier: Apache-2.0
"""PyTorch's paths of classes that lie elsewhere in libdl: the names that pickles have for them."""

from __future__ import annotations

import importlib
import pickle
from typing import Any

_OWN, _PYTORCHS = "libdl", "torch"


def foreign(module: str) -> str:
    """A module's name in files."""
    first, dot, rest = module.partition(".")
    return _PYTORCHS + dot + rest if first == _OWN else module


def own(module: str) -> str:
    first, dot, rest = module.partition(".")
    return _OWN + dot + rest if first == _PYTORCHS else module


def is_pytorchs(module: str) -> bool:
    return module == _PYTORCHS or module.startswith(_PYTORCHS + ".")


def path_of(obj: Any, name: str) -> tuple[str, str] | None:
    """Module and name in files of what belongs to libdl; None: of anything else, and of what no
    module has."""
    module = pickle.whichmodule(obj, name)  # type: ignore[attr-defined]
    if foreign(module) == module and not is_pytorchs(module) or "." in name:
        return None
    for known in (_BY_NAME.get(name), *_PUBLIC, foreign(module)):
        if known is not None and _found(known, name) is obj:
            return known, name
    return None


def _found(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(own(module)), name, None)
    except ImportError:
        return None


_PUBLIC = ("torch.nn.functional", "torch.nn.init", "torch")  # of functions
_PATHS: dict[str, str] = {
    "torch.amp.autocast_mode": "autocast",
    "torch.autograd.grad_mode": "enable_grad inference_mode no_grad set_grad_enabled",
    "torch.distributions.transforms":
        "AbsTransform AffineTransform CatTransform ComposeTransform CorrCholeskyTransform "
        "CumulativeDistributionTransform ExpTransform IndependentTransform "
        "LowerCholeskyTransform PositiveDefiniteTransform PowerTransform ReshapeTransform "
        "SigmoidTransform SoftmaxTransform SoftplusTransform StackTransform "
        "StickBreakingTransform TanhTransform Transform",
    "torch.nn.modules.activation":
        "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid "
        "LogSoftmax Mish MultiheadAttention PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid "
        "Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold",
    "torch.nn.modules.adaptive": "AdaptiveLogSoftmaxWithLoss",
    "torch.nn.modules.batchnorm":
        "BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d "
        "LazyBatchNorm3d SyncBatchNorm",
    "torch.nn.modules.channelshuffle": "ChannelShuffle",
    "torch.nn.modules.container": "ModuleDict ModuleList ParameterDict ParameterList Sequential",
    "torch.nn.modules.conv":
        "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d "
        "LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d "
        "LazyConvTranspose3d",
    "torch.nn.modules.distance": "CosineSimilarity PairwiseDistance",
    "torch.nn.modules.dropout":
        "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
    "torch.nn.modules.flatten": "Flatten Unflatten",
    "torch.nn.modules.fold": "Fold Unfold",
    "torch.nn.modules.instancenorm":
        "InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d "
        "LazyInstanceNorm2d LazyInstanceNorm3d",
    "torch.nn.modules.linear":
        "Bilinear Identity LazyLinear Linear NonDynamicallyQuantizableLinear",
    "torch.nn.modules.loss":
        "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss "
        "GaussianNLLLoss HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss "
        "MarginRankingLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss "
        "NLLLoss PoissonNLLLoss SmoothL1Loss SoftMarginLoss TripletMarginLoss "
        "TripletMarginWithDistanceLoss",
    "torch.nn.modules.module": "Module",
    "torch.nn.modules.normalization": "GroupNorm LayerNorm LocalResponseNorm RMSNorm",
    "torch.nn.modules.padding":
        "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d "
        "ConstantPad3d ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d "
        "ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d",
    "torch.nn.modules.pixelshuffle": "PixelShuffle PixelUnshuffle",
    "torch.nn.modules.pooling":
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
        "AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d "
        "FractionalMaxPool2d FractionalMaxPool3d LPPool1d LPPool2d LPPool3d MaxPool1d "
        "MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d",
    "torch.nn.modules.rnn": "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
    "torch.nn.modules.sparse": "Embedding EmbeddingBag",
    "torch.nn.modules.transformer":
        "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder "
        "TransformerEncoderLayer",
    "torch.nn.modules.upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
    "torch.nn.parallel.data_parallel": "DataParallel",
    "torch.optim": "Adafactor Muon",
    "torch.optim.adamw": "AdamW",
    "torch.optim.lr_scheduler":
        "ChainedScheduler ConstantLR CosineAnnealingLR CosineAnnealingWarmRestarts "
        "CyclicLR ExponentialLR LRScheduler LambdaLR LinearLR MultiStepLR "
        "MultiplicativeLR OneCycleLR PolynomialLR ReduceLROnPlateau SequentialLR StepLR",
}
_BY_NAME = {name: module for module, names in _PATHS.items() for name in names.split()}

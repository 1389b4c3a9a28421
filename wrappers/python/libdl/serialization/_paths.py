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
    public = (foreign(module).partition("._")[0],) if "._" in module else ()
    for called in (_OTHERWISE.get(name, name), name):
        for known in (*_BY_NAME.get(called, ()), *_PUBLIC, *public, foreign(module)):
            if _found(known, called) is obj:
                return known, called
    return None


def _found(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(own(module)), name, None)
    except ImportError:
        return None


_PUBLIC = ("torch.nn.functional", "torch", "torch.linalg", "torch.nn.init")  # of functions
_PATHS: dict[str, str] = {
    "torch.amp.autocast_mode": "autocast",
    "torch.autograd.grad_mode":
        "enable_grad inference_mode no_grad set_grad_enabled set_multithreading_enabled",
    "torch.autograd.graph":
        "allow_mutation_on_saved_tensors disable_saved_tensors_hooks GradientEdge save_on_cpu "
        "saved_tensors_hooks",
    "torch.autograd.profiler": "record_function",
    "torch.autograd.profiler_util": "EventList FunctionEvent FunctionEventAvg Interval",
    "torch.cuda":
        "current_stream default_stream device device_of ExternalStream get_device_properties "
        "set_device set_stream stream StreamContext",
    "torch.distributions.constraints":
        "_Cat _Dependent _DependentProperty _IndependentConstraint _Stack Constraint "
        "is_dependent MixtureSameFamilyConstraint",
    "torch.distributions.transforms":
        "AbsTransform AffineTransform CatTransform ComposeTransform CorrCholeskyTransform "
        "CumulativeDistributionTransform ExpTransform IndependentTransform "
        "LowerCholeskyTransform PositiveDefiniteTransform PowerTransform ReshapeTransform "
        "SigmoidTransform SoftmaxTransform SoftplusTransform StackTransform "
        "StickBreakingTransform TanhTransform Transform _InverseTransform",
    "torch.fx.graph": "CodeGen PythonCode",
    "torch.fx.proxy": "GraphAppendingTracer TraceError TracerBase",
    "torch.linalg": "LinAlgError",
    "torch.nn.modules.activation":
        "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid "
        "LogSoftmax Mish MultiheadAttention PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid "
        "Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold",
    "torch.nn.modules.adaptive": "AdaptiveLogSoftmaxWithLoss _ASMoutput",
    "torch.nn.modules.batchnorm":
        "BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d "
        "SyncBatchNorm _BatchNorm _LazyNormBase _NormBase",
    "torch.nn.modules.channelshuffle": "ChannelShuffle",
    "torch.nn.modules.container":
        "ModuleDict ModuleList ParameterDict ParameterList Sequential Container",
    "torch.nn.modules.conv":
        "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d "
        "LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d "
        "_ConvNd _ConvTransposeNd _LazyConvXdMixin",
    "torch.nn.modules.distance": "CosineSimilarity PairwiseDistance",
    "torch.nn.modules.dropout":
        "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout _DropoutNd",
    "torch.nn.modules.flatten": "Flatten Unflatten",
    "torch.nn.modules.fold": "Fold Unfold",
    "torch.nn.modules.instancenorm":
        "InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d LazyInstanceNorm2d "
        "LazyInstanceNorm3d _InstanceNorm",
    "torch.nn.modules.lazy": "LazyModuleMixin",
    "torch.nn.modules.linear":
        "Bilinear Identity LazyLinear Linear NonDynamicallyQuantizableLinear",
    "torch.nn.modules.linear_cross_entropy_options": "LinearCrossEntropyOptions",
    "torch.nn.modules.loss":
        "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss "
        "HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss MarginRankingLoss "
        "MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss PoissonNLLLoss "
        "SmoothL1Loss SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss _Loss "
        "_WeightedLoss LinearCrossEntropyLoss NLLLoss2d",
    "torch.nn.modules.module":
        "Module _IncompatibleKeys _WrappedHook register_module_backward_hook "
        "register_module_buffer_registration_hook register_module_forward_hook "
        "register_module_forward_pre_hook register_module_full_backward_hook "
        "register_module_full_backward_pre_hook register_module_module_registration_hook "
        "register_module_parameter_registration_hook",
    "torch.nn.modules.normalization": "GroupNorm LayerNorm LocalResponseNorm RMSNorm CrossMapLRN2d",
    "torch.nn.modules.padding":
        "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d "
        "ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d "
        "ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d _CircularPadNd _ConstantPadNd "
        "_ReflectionPadNd _ReplicationPadNd",
    "torch.nn.modules.pixelshuffle": "PixelShuffle PixelUnshuffle",
    "torch.nn.modules.pooling":
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
        "AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d FractionalMaxPool2d "
        "FractionalMaxPool3d LPPool1d LPPool2d LPPool3d MaxPool1d MaxPool2d MaxPool3d "
        "MaxUnpool1d MaxUnpool2d MaxUnpool3d _AdaptiveAvgPoolNd _AdaptiveMaxPoolNd _AvgPoolNd "
        "_LPPoolNd _MaxPoolNd _MaxUnpoolNd",
    "torch.nn.modules.rnn": "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
    "torch.nn.modules.sparse": "Embedding EmbeddingBag",
    "torch.nn.modules.transformer":
        "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder "
        "TransformerEncoderLayer",
    "torch.nn.modules.upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
    "torch.nn.parallel.data_parallel": "DataParallel",
    "torch.nn.parameter": "is_lazy UninitializedTensorMixin",
    "torch.nn.utils": "clip_grads_with_norm_ get_total_norm",
    "torch.nn.utils.parametrizations": "orthogonal",
    "torch.nn.utils.prune":
        "BasePruningMethod CustomFromMask Identity L1Unstructured LnStructured PruningContainer "
        "RandomStructured RandomUnstructured",
    "torch.optim": "Adafactor Muon",
    "torch.optim.adamw": "AdamW adamw",
    "torch.optim.lr_scheduler":
        "ChainedScheduler ConstantLR CosineAnnealingLR CosineAnnealingWarmRestarts "
        "CyclicLR ExponentialLR LRScheduler LambdaLR LinearLR MultiStepLR "
        "MultiplicativeLR OneCycleLR PolynomialLR ReduceLROnPlateau SequentialLR StepLR",
    "torch.optim.optimizer": "register_optimizer_step_post_hook register_optimizer_step_pre_hook",
    "torch.profiler":
        "profile ProfilerAction ProfilerActivity schedule supported_activities "
        "tensorboard_trace_handler",
    "torch.random": "fork_rng",
    "torch.utils.benchmark": "Compare Measurement select_unit TaskSpec Timer trim_sigfig",
    "torch.utils.data._utils.collate":
        "collate collate_float_fn collate_int_fn collate_numpy_array_fn collate_numpy_scalar_fn "
        "collate_str_fn collate_tensor_fn default_collate default_convert",
    "torch.utils.data._utils.worker": "get_worker_info WorkerInfo",
    "torch.utils.data.dataloader": "_DatasetKind",
    "torch.utils.hooks": "RemovableHandle",
}
_OTHERWISE = {  # of what PyTorch names otherwise
    "DatasetKind": "_DatasetKind", "_Uninitialized": "UninitializedTensorMixin",
    "grad_enabled": "is_grad_enabled", "inference_mode": "is_inference_mode_enabled",
    "standard_gamma": "_standard_gamma",
}  # fmt: skip
_BY_NAME: dict[str, list[str]] = {}
for _module, _names in _PATHS.items():
    for _name in _names.split():
        _BY_NAME.setdefault(_name, []).append(_module)

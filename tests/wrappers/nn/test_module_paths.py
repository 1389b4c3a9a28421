# SPDX-License-Identifier: Apache-2.0
"""Modules of layers have PyTorch's classes as their own names, and classes PyTorch's families."""

import importlib
import inspect
import warnings

import pytest
from wrappers.processes import program

import libdl
from libdl import nn

# The classes that each of PyTorch 2.15's modules defines.
CLASSES = {
    "activation": "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU "
    "LogSigmoid LogSoftmax Mish MultiheadAttention PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid "
    "Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold",
    "adaptive": "AdaptiveLogSoftmaxWithLoss _ASMoutput",
    "batchnorm": "BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d "
    "LazyBatchNorm3d SyncBatchNorm _BatchNorm _LazyNormBase _NormBase",
    "channelshuffle": "ChannelShuffle",
    "container": "Container ModuleDict ModuleList ParameterDict ParameterList Sequential",
    "conv": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d "
    "LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d _ConvNd "
    "_ConvTransposeMixin _ConvTransposeNd _LazyConvXdMixin",
    "distance": "CosineSimilarity PairwiseDistance",
    "dropout": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout _DropoutNd",
    "flatten": "Flatten Unflatten",
    "fold": "Fold Unfold",
    "instancenorm": "InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d "
    "LazyInstanceNorm2d LazyInstanceNorm3d _InstanceNorm",
    "lazy": "LazyModuleMixin",
    "linear": "Bilinear Identity LazyLinear Linear NonDynamicallyQuantizableLinear",
    "loss": "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss "
    "GaussianNLLLoss HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss MarginRankingLoss "
    "MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss NLLLoss2d "
    "PoissonNLLLoss SmoothL1Loss SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss "
    "_Loss _WeightedLoss",
    "module": "Module _IncompatibleKeys",
    "normalization": "CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm",
    "padding": "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d "
    "ConstantPad3d ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d "
    "ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d _CircularPadNd _ConstantPadNd "
    "_ReflectionPadNd _ReplicationPadNd",
    "pixelshuffle": "PixelShuffle PixelUnshuffle",
    "pooling": "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
    "AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d FractionalMaxPool2d "
    "FractionalMaxPool3d LPPool1d LPPool2d LPPool3d MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d "
    "MaxUnpool2d MaxUnpool3d _AdaptiveAvgPoolNd _AdaptiveMaxPoolNd _AvgPoolNd _LPPoolNd _MaxPoolNd "
    "_MaxUnpoolNd",
    "rnn": "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
    "sparse": "Embedding EmbeddingBag",
    "transformer": "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder "
    "TransformerEncoderLayer",
    "upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
}


@pytest.mark.parametrize("path", CLASSES)
def test_classes_are_found_in_the_module(path):
    module = importlib.import_module(f"libdl.nn.modules.{path}")
    for name in CLASSES[path].split():
        assert inspect.isclass(vars(module)[name])
        assert vars(module)[name].__module__ == module.__name__
        if not name.startswith("_"):
            assert vars(module)[name] is getattr(nn, name, vars(module)[name])
            if path not in ("lazy", "linear"):
                assert vars(nn.modules)[name] is vars(module)[name]


# What else programs import from there, although some of it stands in another module.
BESIDE = {
    "activation": "F Module NonDynamicallyQuantizableLinear Parameter Tensor",
    "adaptive": "F Linear Module ModuleList Sequential Tensor",
    "batchnorm": "F LazyModuleMixin Module Parameter Tensor UninitializedBuffer "
    "UninitializedParameter init",
    "channelshuffle": "F Module Tensor",
    "container": "Module Parameter _addindent",
    "conv": "F LazyModuleMixin Module Parameter Tensor UninitializedParameter _pair "
    "_reverse_repeat_tuple _single _triple init",
    "distance": "F Module Tensor",
    "dropout": "F Module Tensor",
    "flatten": "Module Tensor",
    "fold": "F Module Tensor",
    "instancenorm": "F Tensor _LazyNormBase _NormBase",
    "lazy": "is_lazy",
    "linear": "F LazyModuleMixin Module Parameter Tensor UninitializedParameter init",
    "linear_cross_entropy_options": "LinearCrossEntropyOptions",
    "loss": "F Linear LinearCrossEntropyLoss Module PairwiseDistance Tensor",
    "module": "Buffer Parameter RemovableHandle _EXTRA_STATE_KEY_SUFFIX _WrappedHook _addindent "
    "_global_backward_hooks _global_backward_pre_hooks _global_buffer_registration_hooks "
    "_global_forward_hooks _global_forward_hooks_always_called _global_forward_hooks_with_kwargs "
    "_global_forward_pre_hooks _global_module_registration_hooks "
    "_global_parameter_registration_hooks register_module_backward_hook "
    "register_module_buffer_registration_hook register_module_forward_hook "
    "register_module_forward_pre_hook register_module_full_backward_hook "
    "register_module_full_backward_pre_hook register_module_module_registration_hook "
    "register_module_parameter_registration_hook",
    "normalization": "F Module Parameter Tensor init",
    "padding": "F Module Tensor _ntuple _pair _quadruple",
    "pixelshuffle": "F Module Tensor",
    "pooling": "F Module Tensor _pair _single _triple",
    "rnn": "Module PackedSequence Parameter Tensor init",
    "sparse": "F Module Parameter Tensor init",
    "transformer": "Dropout F LayerNorm Linear Module ModuleList MultiheadAttention Tensor "
    "_detect_is_causal_mask _generate_square_subsequent_mask _get_activation_fn _get_clones "
    "_get_seq_len",
    "upsampling": "F Module Tensor",
    "utils": "_list_with_default _ntuple _pair _quadruple _reverse_repeat_tuple _single _triple "
    "consume_prefix_in_state_dict_if_present",
}


@pytest.mark.parametrize("path", BESIDE)
def test_what_programs_import_beside_the_classes(path):
    names = vars(importlib.import_module(f"libdl.nn.modules.{path}"))
    assert set(BESIDE[path].split()) <= set(names)


# Each class with those of the public and private ones that it is a subclass of.
FAMILIES = {
    "Dropout2d": ["_DropoutNd"],
    "AlphaDropout": ["_DropoutNd"],
    "Dropout": ["_DropoutNd"],
    "ZeroPad2d": ["ConstantPad2d", "_ConstantPadNd"],
    "ReLU6": ["Hardtanh"],
    "LazyBatchNorm1d": ["_BatchNorm", "_NormBase"],
    "LazyInstanceNorm3d": ["_InstanceNorm", "_NormBase"],
    "LazyConv2d": ["Conv2d", "_ConvNd"],
    "ConvTranspose3d": ["_ConvTransposeNd", "_ConvNd"],
    "AdaptiveAvgPool2d": ["_AdaptiveAvgPoolNd"],
    "LSTM": ["RNNBase"],
    "UpsamplingNearest2d": ["Upsample"],
    "CrossEntropyLoss": ["_WeightedLoss", "_Loss"],
    "CTCLoss": ["_Loss"],
    "BCEWithLogitsLoss": ["_Loss"],
    "MultiMarginLoss": ["_WeightedLoss", "_Loss"],
    "NLLLoss2d": ["NLLLoss", "_WeightedLoss", "_Loss"],
    "GaussianNLLLoss": ["_Loss"],
    "TripletMarginLoss": ["_Loss"],
    "Conv2d": ["_ConvNd"],
    "BCELoss": ["_WeightedLoss", "_Loss"],
}


@pytest.mark.parametrize("name", FAMILIES)
def test_families(name):
    found = {
        n
        for path in CLASSES
        for n in CLASSES[path].split()
        if n not in ("Module", "_ConvTransposeMixin", "LazyModuleMixin")
        and not n.startswith("_Lazy")
        and issubclass(
            getattr(nn, name), getattr(importlib.import_module(f"libdl.nn.modules.{path}"), n)
        )
    }
    assert found - {name} == set(FAMILIES[name])


def test_losses_of_ones_own():
    from libdl.nn.modules.loss import _Loss, _WeightedLoss

    class Own(_WeightedLoss):
        def forward(self, input, target):
            return (input * self.weight).sum()

    loss = Own(libdl.tensor([1.0, 2.0]), reduction="sum")
    assert loss.reduction == "sum" and list(loss.state_dict()) == ["weight"]
    assert loss(libdl.ones(2), None).item() == 3.0
    assert _Loss().reduction == "mean" and _Loss(reduction="none").reduction == "none"
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert (
            _Loss(size_average=False).reduction == "sum"
            and nn.MSELoss(reduce=False).reduction == "none"
        )
    assert len(told) == 2 and told[1].filename == __file__


def test_signatures_of_modules():
    class Calls(nn.Linear):
        def __call__(self, x, scale=2):
            return super().__call__(x) * scale

    assert str(inspect.signature(nn.Linear(2, 2))) == "(*args, **kwargs)"
    assert str(inspect.signature(nn.Sequential())) == "(*args, **kwargs)"
    assert str(inspect.signature(Calls(2, 2))) == "(x, scale=2)"
    assert list(inspect.signature(nn.Linear).parameters) == [
        "in_features",
        "out_features",
        "bias",
        "device",
        "dtype",
    ]
    assert list(inspect.signature(nn.Linear(2, 2).forward).parameters) == ["input"]
    assert not hasattr(nn.Linear, "__signature__")


def test_a_container_of_names():
    with pytest.warns(FutureWarning, match="deprecated"):
        made = nn.Container(first=nn.ReLU())
    assert list(made._modules) == ["first"]


def test_root_mean_squares_by_the_argument_s_name():
    x = libdl.ones(2, 3)
    assert libdl.equal(nn.RMSNorm(3)(x=x), nn.RMSNorm(3)(x))


@pytest.mark.parametrize(
    "call, error, text",
    [
        (
            lambda: nn.Unflatten(1, 2),
            TypeError,
            "unflattened_size is a int, wanted a tuple of ints",
        ),
        (
            lambda: nn.Unflatten(1, (2, 2.0)),
            TypeError,
            r"unflattened_size\[1\] is a float, wanted an int",
        ),
        (
            lambda: nn.ConvTranspose1d(1, 1, 1, padding_mode="circular"),
            ValueError,
            "padding_mode is 'circular'",
        ),
        (
            lambda: nn.CircularPad2d(1)(libdl.ones(2, 2)),
            ValueError,
            r"expected 3D or 4D input \(got 2D input\)",
        ),
        (lambda: nn.SyncBatchNorm(1)(libdl.ones(2, 0, 3)), ValueError, "no channels"),
        (
            lambda: nn.GRU(2, 3)(libdl.ones(4, 2), libdl.ones(1, 1, 3)),
            RuntimeError,
            r"argument 2 \(hx\): the state is 3D, wanted 2D",
        ),
        (
            lambda: nn.LSTM(2, 3)(libdl.ones(4, 1, 2), (libdl.ones(1, 1, 3), libdl.ones(1, 3))),
            RuntimeError,
            "the cell state is 2D, wanted 3D",
        ),
        (lambda: nn.RNN(2, 3)(libdl.ones(2)), ValueError, "is 1D, wanted 2D or 3D"),
        (
            lambda: nn.modules.conv._ConvNd(
                1, 1, (1,), (1,), (0,), (1,), False, (0,), 1, True, "zeros"
            )._conv_forward(1, 2, 3),
            NotImplementedError,
            "no method _conv_forward",
        ),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    "path",
    """
        _functorch.eager_transforms _functorch.vmap fx._pytree fx.experimental
        nn.modules.linear_cross_entropy_options nn.parallel.distributed nn.parallel.scatter_gather
        nn.utils._named_member_accessor optim._adafactor optim._muon utils._contextlib
        utils._foreach_utils utils.weak
    """.split(),
)
def test_a_module_that_pytorch_has_imported_is_an_attribute(path):
    """Of a program that imports libdl alone."""
    program(f"    import libdl, types\n    assert isinstance(libdl.{path}, types.ModuleType)")


def test_a_name_that_is_no_submodule_either_is_explained():
    with pytest.raises(
        AttributeError, match="module 'libdl.nn.parallel' has no attribute 'absent'"
    ):
        libdl.nn.parallel.absent

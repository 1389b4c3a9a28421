# SPDX-License-Identifier: Apache-2.0
"""Modules of nn traced through, for test_fx_modules.py; tests/answered.py stores PyTorch's
graphs."""

from wrappers.fx.seen_fx import fx_of, text

# What is made, and the shapes of inputs that it takes; n * m: integers below m.
CASES = """
Linear(3,4): 2,3 | Bilinear(3,3,4): 2,3 2,3 | Conv1d(3,4,2): 2,3,5 | Conv2d(3,4,2): 2,3,5,5
Conv3d(3,4,2): 1,3,4,4,4 | Conv2d(3,4,3,padding='same'): 2,3,5,5 | ReLU(): 2,3 | ReLU6(): 2,3
SiLU(): 2,3 | GELU(): 2,3 | Sigmoid(): 2,3 | Tanh(): 2,3 | Softsign(): 2,3 | Tanhshrink(): 2,3
ELU(): 2,3 | SELU(): 2,3 | CELU(): 2,3 | LeakyReLU(): 2,3 | Hardshrink(): 2,3 | Mish(): 2,3
Hardsigmoid(): 2,3 | Hardswish(): 2,3 | Hardtanh(): 2,3 | Softplus(): 2,3 | Softshrink(): 2,3
GLU(): 2,4 | PReLU(): 2,3 | Identity(): 2,3 | Flatten(): 2,3,4 | MSELoss(): 2,3 2,3
CrossEntropyLoss(): 2,3 2,3 | BCEWithLogitsLoss(): 2,3 2,3 | SmoothL1Loss(): 2,3 2,3
HuberLoss(): 2,3 2,3 | KLDivLoss(reduction='sum',log_target=True): 2,3 2,3 | PoissonNLLLoss(): 2,3 2,3
HingeEmbeddingLoss(): 2,3 2,3 | MarginRankingLoss(): 2 2 2 | SoftMarginLoss(): 2,3 2,3
CosineEmbeddingLoss(): 2,3 2,3 2 | TripletMarginLoss(): 2,3 2,3 2,3 | CosineSimilarity(): 2,3 2,3
MultiLabelSoftMarginLoss(): 2,3 2,3 | TripletMarginWithDistanceLoss(): 2,3 2,3 2,3
PairwiseDistance(): 2,3 2,3 | Dropout(0.5): 2,3 | Dropout1d(0.5): 2,3,4 | Dropout2d(0.5): 2,3,4,4
AlphaDropout(0.5): 2,3 | LayerNorm(3): 2,3 | GroupNorm(1,3): 2,3,4 | LocalResponseNorm(2): 2,3,4
Embedding(5,3): 2*5 | EmbeddingBag(5,3): 2,3*5 | MaxPool1d(2): 2,3,4 | MaxPool2d(2): 2,3,4,4
MaxPool3d(2): 2,3,4,4,4 | AvgPool1d(2): 2,3,4 | AvgPool2d(2): 2,3,4,4 | AvgPool3d(2): 2,3,4,4,4
AdaptiveAvgPool1d(2): 2,3,4 | AdaptiveAvgPool2d(2): 2,3,4,4 | AdaptiveMaxPool1d(2): 2,3,4
AdaptiveMaxPool2d(2): 2,3,4,4 | LPPool1d(2,2): 2,3,4 | LPPool2d(2,2): 2,3,4,4 | ZeroPad2d(1): 2,3,4,4
ConstantPad1d(1,2.): 2,3,4 | ReflectionPad2d(1): 2,3,4,4 | ReplicationPad1d(1): 2,3,4
PixelShuffle(2): 2,4,3,3 | PixelUnshuffle(2): 2,3,4,4 | ChannelShuffle(3): 2,6,4,4
Upsample(scale_factor=2): 2,3,4 | UpsamplingBilinear2d(scale_factor=2): 2,3,4,4 | Unfold(2): 2,3,4,4
UpsamplingNearest2d(scale_factor=2): 2,3,4,4 | Fold((2,2),2): 2,4,1 | Unflatten(1,(1,3)): 2,3
"""
MODULES = dict(
    case.strip().split(": ") for line in CASES.strip().split("\n") for case in line.split("|")
)


def traced(m, module):
    """The graph of a module of which no part is a leaf."""

    class Through(fx_of(m).Tracer):
        def is_leaf_module(self, module, name):
            return False

    return Through().trace(module)


def through(m):
    """The calls of each module, and their arguments."""
    answers = {}
    for made in MODULES:
        graph = traced(m, eval(f"m.nn.{made}"))
        answers[made] = [
            [
                n.op,
                text(n.target) if isinstance(n.target, str) else n.target.__name__,
                str(n.args),
                str(dict(n.kwargs)),
            ]
            for n in graph.nodes
        ]
    return answers


def refused(m):
    """Modules whose forward depends on values."""
    found = []
    for made in ("BatchNorm2d(3)", "InstanceNorm2d(3)", "RNNCell(3,4)", "LSTM(3,4)", "Softmax2d()"):
        try:
            traced(m, eval(f"m.nn.{made}"))
        except fx_of(m).proxy.TraceError:
            found.append(made)
    return found


PROGRAMS = (through, refused)

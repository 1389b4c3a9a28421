# SPDX-License-Identifier: Apache-2.0
"""The settings that are fixed once a layer is made, as PyTorch's classes list them: programs that
walk over modules print or compare them."""

from __future__ import annotations

from typing import Any

# A class and its settings, further ones indented.
_SETTINGS = """
_AdaptiveAvgPoolNd output_size
_AdaptiveMaxPoolNd output_size return_indices
_AvgPoolNd kernel_size stride padding ceil_mode count_include_pad
_CircularPadNd padding
_ConstantPadNd padding value
_ConvNd stride padding dilation groups padding_mode output_padding in_channels out_channels
    kernel_size
_DropoutNd p inplace
_LPPoolNd norm_type kernel_size stride ceil_mode
_MaxPoolNd kernel_size stride padding dilation return_indices ceil_mode
_NormBase track_running_stats momentum eps num_features affine
_ReflectionPadNd padding
_ReplicationPadNd padding
AvgPool2d kernel_size stride padding ceil_mode count_include_pad divisor_override
AvgPool3d kernel_size stride padding ceil_mode count_include_pad divisor_override
BCELoss reduction
Bilinear in1_features in2_features out_features
CELU alpha inplace
ChannelShuffle groups
ConstantPad2d padding value
CosineEmbeddingLoss margin reduction
CosineSimilarity dim eps
CrossEntropyLoss ignore_index reduction label_smoothing
CTCLoss blank reduction
ELU alpha inplace
Embedding num_embeddings embedding_dim padding_idx max_norm norm_type scale_grad_by_freq sparse
EmbeddingBag num_embeddings embedding_dim max_norm norm_type scale_grad_by_freq mode sparse
    include_last_offset padding_idx
Flatten start_dim end_dim
Fold output_size kernel_size dilation padding stride
FractionalMaxPool2d kernel_size return_indices output_size output_ratio
FractionalMaxPool3d kernel_size return_indices output_size output_ratio
GaussianNLLLoss full eps reduction
GELU approximate
GLU dim
GroupNorm num_groups num_channels eps affine
Hardshrink lambd
Hardsigmoid inplace
Hardswish inplace
Hardtanh min_val max_val inplace
HingeEmbeddingLoss margin reduction
HuberLoss reduction delta
KLDivLoss reduction
L1Loss reduction
LayerNorm normalized_shape eps elementwise_affine
LeakyReLU inplace negative_slope
Linear in_features out_features
LinearCrossEntropyLoss num_classes out_features reduction ignore_index label_smoothing
LocalResponseNorm size alpha beta k
LogSoftmax dim
MarginRankingLoss margin reduction
Mish inplace
MSELoss reduction
MultiheadAttention batch_first
MultiLabelMarginLoss reduction
MultiLabelSoftMarginLoss reduction
MultiMarginLoss p margin reduction
NLLLoss ignore_index reduction
PairwiseDistance norm eps keepdim
PixelShuffle upscale_factor
PixelUnshuffle downscale_factor
PoissonNLLLoss log_input full eps reduction
PReLU num_parameters
ReLU inplace
RMSNorm normalized_shape eps elementwise_affine
RNNBase mode input_size hidden_size num_layers bias batch_first dropout bidirectional proj_size
RNNCell input_size hidden_size bias nonlinearity
RNNCellBase input_size hidden_size bias
RReLU lower upper inplace
SELU inplace
SiLU inplace
SmoothL1Loss reduction
SoftMarginLoss reduction
Softmax dim
Softmin dim
Softplus beta threshold
Softshrink lambd
Threshold threshold value inplace
TransformerDecoder norm
TransformerDecoderLayer norm_first
TransformerEncoder norm
TransformerEncoderLayer norm_first
TripletMarginLoss margin p eps swap reduction
TripletMarginWithDistanceLoss margin swap reduction
Unflatten dim unflattened_size
Unfold kernel_size dilation padding stride
Upsample size scale_factor mode align_corners name recompute_scale_factor
"""


def name_settings(layers: dict[str, Any]) -> None:
    """Gives the classes, and the bases that they share, their __constants__."""
    lines = _SETTINGS.replace("\n    ", " ").strip().splitlines()
    wanted = {name: names for name, *names in map(str.split, lines)}
    layer: Any
    for layer in layers.values():
        for base in getattr(layer, "__mro__", ()):
            names = wanted.pop(base.__name__, None)
            if names is not None:
                base.__constants__ = names

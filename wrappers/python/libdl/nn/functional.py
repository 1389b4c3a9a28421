# SPDX-License-Identifier: Apache-2.0
"""The operators of neural networks as functions: pooling and losses are in files of their own."""

from __future__ import annotations

import enum
import math
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from .. import _C, _functional as _generated, _functions
from .._C import Tensor, overridable
from .._cast_operands import in_lower
from .._convolution import conv1d, conv2d, conv3d
from .._dropout import drops_nothing
from .._errors import (
    ArgumentTypeError,
    ArgumentValueError,
    Error,
    ShapeError,
    UnsupportedError,
    rename_error,
)
from .._functional import (
    batch_norm,
    bilinear,
    channel_shuffle,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    cosine_similarity,
    fold,
    glu,
    group_norm,
    grouped_mm,
    hardshrink,
    instance_norm,
    layer_norm,
    linear,
    local_response_norm,
    logsigmoid,
    normalize,
    one_hot,
    pad,
    pairwise_distance,
    pdist,
    pixel_shuffle,
    pixel_unshuffle,
    prelu,
    rms_norm,
    scaled_dot_product_attention,
    sigmoid,
    softplus,
    softshrink,
    softsign,
    tanh,
    tanhshrink,
    unfold,
)
from .._modes import no_grad
from .._types import DtypeLike, Generator, bool_
from . import _linear_cross_entropy, _losses, _pooling
from ._linear_cross_entropy import *
from ._losses import *
from ._pooling import *

__all__ = [
    "ScalingType",
    "SwizzleType",
    "affine_grid",
    "alpha_dropout",
    "batch_norm",
    "bilinear",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_similarity",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "grouped_mm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "instance_norm",
    "interpolate",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "mish",
    "multi_head_attention_forward",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "rrelu",
    "rrelu_",
    "scaled_dot_product_attention",
    "scaled_grouped_mm",
    "scaled_mm",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]
__all__ += _linear_cross_entropy.__all__ + _losses.__all__ + _pooling.__all__


# -- activations -----------------------------------------------------------------------------------


@overridable
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The larger of each element and 0.

    Example:
        >>> F.relu(torch.tensor([-1., 2.]))
        tensor([0., 2.])
    """
    return input.relu_() if inplace else _functions.relu(input)


@overridable
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Each element times the normal distribution function at it; "tanh" approximates."""
    return _generated.gelu(input, approximate=approximate)


@overridable
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Each element times its sigmoid.

    Example:
        >>> F.silu(torch.tensor([-1., 2.]))
        tensor([-0.2689,  1.7616])
    """
    if inplace:
        return _C.silu_into(input, input)
    return _generated.silu(input)


@overridable
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """The element where positive, alpha (exp(element) - 1) elsewhere."""
    if inplace:
        return _C.elu_into(input, alpha, input)
    return _generated.elu(input, alpha)


@overridable
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """The element where positive, negative_slope times it elsewhere."""
    if inplace:
        return _C.leaky_relu_into(input, negative_slope, input)
    return _generated.leaky_relu(input, negative_slope)


@overridable
def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """The element, limited to min_val to max_val."""
    if inplace:
        return _C.hardtanh_into(input, min_val, max_val, input)
    return _generated.hardtanh(input, min_val, max_val)


@overridable
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """The element, limited to 0 to 6."""
    if inplace:
        return _C.relu6_into(input, input)
    return _generated.relu6(input)


@overridable
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """(x + 3) / 6, limited to 0 to 1."""
    if inplace:
        return _C.hardsigmoid_into(input, input)
    return _generated.hardsigmoid(input)


@overridable
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Each element times its hardsigmoid."""
    if inplace:
        return _C.hardswish_into(input, input)
    return _generated.hardswish(input)


@overridable
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """1.0507 times elu with alpha=1.6733."""
    if inplace:
        return _C.selu_into(input, input)
    return _generated.selu(input)


@overridable
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """The element where positive, alpha (exp(element / alpha) - 1) elsewhere."""
    if inplace:
        return _C.celu_into(input, alpha, input)
    return _generated.celu(input, alpha)


@overridable
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Each element times tanh(softplus(element))."""
    if inplace:
        return _C.mish_into(input, input)
    return _generated.mish(input)


@overridable
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """The element where positive; elsewhere times a number drawn from lower to upper or, without
    training, their mean."""
    if inplace:
        return _C.rrelu_into(input, lower, upper, training, generator, input)
    return _generated.rrelu(input, lower, upper, training, generator=generator)


@overridable
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """The element where above the threshold, value elsewhere."""
    if inplace:
        return _C.threshold_into(input, threshold, value, input)
    return _functions.threshold(input, threshold, value)


_THRESHOLD = threshold  # an argument has its name


# -- activations in place, under PyTorch's names with an underscore --------------------------------


@overridable
def relu_(input: Tensor) -> Tensor:
    """relu in place."""
    return relu(input, inplace=True)


@overridable
def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """elu in place."""
    return elu(input, alpha, inplace=True)


@overridable
def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """leaky_relu in place."""
    return leaky_relu(input, negative_slope, inplace=True)


@overridable
def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """celu in place."""
    return celu(input, alpha, inplace=True)


@overridable
def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """hardtanh in place. Where min_val is above max_val it is max_val, as in PyTorch, which
    hardtanh refuses."""
    if min_val > max_val:
        return input.clamp_(min_val, max_val)
    return hardtanh(input, min_val, max_val, inplace=True)


@overridable
def selu_(input: Tensor) -> Tensor:
    """selu in place."""
    return selu(input, inplace=True)


@overridable
def rrelu_(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False
) -> Tensor:
    """rrelu in place."""
    return rrelu(input, lower, upper, training, inplace=True)


@overridable
def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """threshold in place."""
    return _THRESHOLD(input, threshold, value, inplace=True)


# -- softmax ---------------------------------------------------------------------------------------


def _implicit(name: str, ndim: int) -> int:
    """The dimension that PyTorch uses if none is given."""
    return 0 if ndim in (0, 1, 3) else 1


@overridable
def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DtypeLike | None = None
) -> Tensor:
    """exp(input) scaled so that its sum along dim is 1.

    Example:
        >>> F.softmax(torch.tensor([[0., 1., 2.]]), dim=1)
        tensor([[0.0900, 0.2447, 0.6652]])
    """
    return _functions.softmax(
        input, _implicit("softmax", input.ndim) if dim is None else dim, dtype
    )


@overridable
def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DtypeLike | None = None
) -> Tensor:
    """The logarithm of softmax.

    Example:
        >>> F.log_softmax(torch.tensor([0., 1., 2.]), dim=0)
        tensor([-2.4076, -1.4076, -0.4076])
    """
    return _functions.log_softmax(
        input, _implicit("log_softmax", input.ndim) if dim is None else dim, dtype
    )


@overridable
def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DtypeLike | None = None
) -> Tensor:
    """softmax of the negated input."""
    return _generated.softmin(
        input, _implicit("softmin", input.ndim) if dim is None else dim, dtype
    )


@overridable
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A sample of the Gumbel-softmax distribution.

    Arguments:
        logits: logarithms of unnormalised probabilities
        tau: the temperature
        hard: whether the sample is one-hot, with the gradient of the soft one
        eps: has no effect
        dim: the dimension of the classes
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    return _generated.gumbel_softmax(logits, tau, hard, dim)


# -- dropout ---------------------------------------------------------------------------------------


@overridable
def dropout(
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Elements set to zero with probability p, the others divided by 1 - p.

    Example:
        >>> F.dropout(torch.ones(3), p=0.5, training=False)
        tensor([1., 1., 1.])
        >>> x = F.dropout(torch.ones(100), p=0.5)
        >>> x.unique()
        tensor([0., 2.])
    """
    if drops_nothing(input, p, training):
        return input
    if inplace:
        return _C.dropout_into(input, p, training, generator, input)
    return _generated.dropout(input, p, training, generator=generator)


def _dropout_by_channel(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    if drops_nothing(input, p, training):
        return input
    if inplace:
        return _C.feature_dropout_into(input, p, training, None, input)
    return _functions.feature_dropout(input, p, training)


def _dropout_without_batch(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    """The same of a sample without a batch."""
    if inplace:
        _dropout_by_channel(input.unsqueeze(0), p, training, True)
        return input
    return _dropout_by_channel(input.unsqueeze(0), p, training, False).squeeze(0)


@overridable
def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Whole channels of [n, c, l] or [c, l] set to zero with probability p, the others divided by
    1 - p."""
    if input.ndim not in (2, 3):
        raise ShapeError(
            f"dropout1d: argument 1 (input) has shape {list(input.shape)}, wanted [n, c, l] or "
            "[c, l]"
        )
    drop = _dropout_by_channel if input.ndim == 3 else _dropout_without_batch
    return drop(input, p, training, inplace)


@overridable
def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Whole channels of [n, c, h, w] set to zero with probability p, the others divided by 1 - p.
    Three dimensions are read as [n, c, l], as in PyTorch."""
    if input.ndim not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {input.ndim}-D input to dropout2d, which is deprecated; "
            "please use dropout instead",
            stacklevel=2,
        )
    if input.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input, which is interpreted as (N, C, L); please use "
            "dropout1d instead",
            stacklevel=2,
        )
    return _dropout_by_channel(input, p, training, inplace)


@overridable
def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Whole channels of [n, c, d, h, w] or [c, d, h, w] set to zero with probability p, the others
    divided by 1 - p."""
    if input.ndim not in (4, 5):
        warnings.warn(
            f"dropout3d: Received a {input.ndim}-D input to dropout3d, which is deprecated; "
            "please use dropout instead",
            stacklevel=2,
        )
    drop = _dropout_by_channel if input.ndim == 5 else _dropout_without_batch
    return drop(input, p, training, inplace)


@overridable
def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Elements set to selu's limit with probability p; mean 0 and variance 1 stay what they are."""
    if drops_nothing(input, p, training):
        return input
    if inplace:
        return _C.alpha_dropout_into(input, p, training, None, input)
    return _functions.alpha_dropout(input, p, training)


@overridable
def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """alpha_dropout of whole channels."""
    if drops_nothing(input, p, training):
        return input
    if inplace:
        return _C.feature_alpha_dropout_into(input, p, training, None, input)
    return _functions.feature_alpha_dropout(input, p, training)


# -- convolutions over steps -----------------------------------------------------------------------


conv_tbc = _functions.conv_tbc


# -- tables ----------------------------------------------------------------------------------------


@overridable
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """weight[input]: rows of a table. With max_norm, rows that are read and have a larger norm are
    first scaled down in the table itself, without history.

    Arguments:
        input: int64 or int32 indices of rows, any shape
        weight: [rows, columns]
        padding_idx: a row that receives no gradient; negative counts from the end
        max_norm: the largest norm of a row; None: no limit
        norm_type: the p of the norm
        scale_grad_by_freq: whether a row's gradient is divided by how often the row was read
        sparse: whether weight's gradient is a sparse tensor, which holds the rows that were read
    """
    if max_norm is not None:
        _shorten(input, weight, max_norm, norm_type)
    return _generated.embedding(input, weight, padding_idx, scale_grad_by_freq, sparse)


@overridable
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Rows of a table in bags, each reduced to one row.

    Arguments:
        input: int64 or int32 indices of rows: [n], or [bags, n], where each row is a bag
        weight: [rows, columns]
        offsets: where in input each bag begins; None if input has two dimensions
        max_norm: as in embedding; None: no limit
        norm_type: the p of the norm
        scale_grad_by_freq: whether a row's gradient is divided by how often the row was read
        mode: "sum", "mean" or "max"
        sparse: whether weight's gradient is a sparse tensor, which holds the rows that were read
        per_sample_weights: of a sum, a factor for each index
        include_last_offset: whether offsets also tells where the last bag ends
        padding_idx: a row that is in no bag and receives no gradient; negative counts from the end
    """
    options = (scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset)
    if max_norm is not None:
        with no_grad():  # what is refused must leave the table as it was
            _generated.embedding_bag(input, weight, offsets, *options, padding_idx)
        _shorten(input, weight, max_norm, norm_type)
    return _generated.embedding_bag(input, weight, offsets, *options, padding_idx)


def _shorten(input: Tensor, weight: Tensor, max_norm: float, norm_type: float) -> None:
    try:
        _generated.embedding_renorm_(weight, input, max_norm, norm_type)
    except Error as error:  # under the names that the function has
        text = {"indices": (1, "input"), "input": (2, "weight")}
        rename_error(error, "embedding", "embedding_renorm", text)
        raise


# -- images of another size, or seen elsewhere -----------------------------------------------------


@overridable
def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """input [n, c, ...], with one to three further dimensions, in another size, or scaled.

    Arguments:
        size, scale_factor: one of them: the new sizes, or what the old ones are multiplied by; one
            number, or one for each dimension
        mode: "nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear" or "area"
        align_corners: whether the centres of the corners' pixels coincide, or else their edges
        recompute_scale_factor: whether places follow from the sizes, or else from scale_factor
        antialias: whether what becomes smaller is smoothed ("bilinear" and "bicubic")

    Example:
        >>> F.interpolate(torch.tensor([[[1., 2.]]]), scale_factor=2)
        tensor([[[1., 1., 2., 2.]]])
        >>> F.interpolate(torch.zeros(1, 3, 8, 8), size=(16, 16), mode="bilinear").shape
        libdl.Size([1, 3, 16, 16])
    """
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        raise ArgumentValueError(
            f"interpolate: argument 5 (align_corners) is {align_corners}, "
            f"wanted None in mode {mode!r}"
        )
    if scale_factor is None:
        if size is None:
            raise ArgumentValueError(
                "interpolate: argument 2 (size) is None, wanted size or scale_factor"
            )
        return _generated.interpolate(
            input,
            size,
            mode=mode,
            align_corners=bool(align_corners),
            recompute_scale_factor=bool(recompute_scale_factor),
            antialias=antialias,
        )
    if size is not None:
        raise ArgumentValueError(
            f"interpolate: argument 3 (scale_factor) is {scale_factor}, "
            "wanted None, for size is given"
        )
    dims = input.ndim - 2
    if isinstance(scale_factor, (list, tuple)):
        factors = [float(factor) for factor in scale_factor]
        if len(factors) != dims:
            raise ArgumentValueError(
                f"interpolate: argument 3 (scale_factor) has {len(factors)} entries, wanted {dims}"
            )
    else:
        factors = [_scale_of(scale_factor)] * dims
    each: list[Any] = [None] * max(0, 3 - dims) + factors
    return _generated.interpolate(
        input,
        None,
        each[0],
        each[1],
        each[2],
        mode=mode,
        align_corners=bool(align_corners),
        recompute_scale_factor=bool(recompute_scale_factor),
        antialias=antialias,
    )


def _scale_of(pack: Any) -> float:
    try:
        return float(pack)
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"interpolate: argument 3 (scale_factor) is {pack!r}, wanted a "
            "number, or one for each dimension"
        ) from None


@overridable
def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """As interpolate."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """As interpolate with mode "nearest"."""
    return interpolate(input, size, scale_factor)


def upsample_bilinear(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """As interpolate with mode "bilinear" and align_corners=True."""
    return interpolate(input, size, scale_factor, "bilinear", True)


@overridable
@in_lower
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid for grid_sample that applies the maps theta, [n, 2, 3] or [n, 3, 4], to the places
    of a result of this size, [n, c, h, w] or [n, c, d, h, w]."""
    return _generated.affine_grid(theta, size, bool(align_corners))


@overridable
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Images [n, c, h, w] at the places grid [n, h', w', 2], or volumes with a grid of three
    coordinates.

    Arguments:
        mode: "bilinear", "nearest" or, for images, "bicubic"
        padding_mode: what lies outside: "zeros", "border" (the edge) or "reflection"
        align_corners: whether -1 and 1 are the centres of the outermost pixels, or else their edges
    """
    return _generated.grid_sample(input, grid, mode, padding_mode, bool(align_corners))


# -- attention of several heads --------------------------------------------------------------------

_POSITIONS = {
    "key": 2,
    "value": 3,
    "attn_mask": 17,
    "key_padding_mask": 15,
    "bias_k": 8,
    "bias_v": 9,
    "q_proj_weight": 19,
    "k_proj_weight": 20,
    "v_proj_weight": 21,
    "static_k": 22,
    "static_v": 23,
    "in_proj_weight": 6,
    "query": 1,
    "num_heads": 5,
}


@overridable
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of h heads, each of d = e / h features, between projections (Vaswani et al. 2017,
    section 3.2.2): concat(softmax(q_i k_i^T / sqrt(d) + mask) v_i) W^T + b, with q, k and v
    projected from query, key and value.

    Arguments:
        query: [l, n, e], or [l, e] without a batch; floating
        key, value: [s, n, ek] and [s, n, ev], or [s, ek] and [s, ev]
        embed_dim_to_check: e
        num_heads: h
        in_proj_weight, in_proj_bias: [3 e, e] and [3 e] (or None): projections of q, k and v
        bias_k, bias_v: [1, 1, e] or None: one more key and value, appended to all sequences
        add_zero_attn: whether a key and a value of zeros are appended
        dropout_p: a weight becomes 0 with this probability if training is True
        out_proj_weight, out_proj_bias: W [e, e] and b [e] (or None)
        key_padding_mask: [n, s], or [s] without a batch; bool: True where a key is left out;
            floating: added to the scores
        need_weights: whether the weights are returned, which costs time and memory; without them,
            scaled_dot_product_attention computes, which gives 0 where all keys are left out (with
            them it is NaN)
        attn_mask: [l, s] or [n h, l, s], like key_padding_mask
        use_separate_proj_weight: whether q_proj_weight [e, e], k_proj_weight [e, ek] and
            v_proj_weight [e, ev] are read instead of in_proj_weight
        static_k, static_v: [n h, s, d]: read instead of the projected key and value
        average_attn_weights: whether the weights are the mean over the heads
        is_causal: promises that attn_mask is the causal one, which is then not read if there is no
            key_padding_mask and no weights are needed

    Result: [l, n, e] or [l, e], and the weights after dropout: [n, l, s], or [n, h, l, s] without
    the mean, without n if there is no batch; or None.

    Errors: as in PyTorch, AssertionError (dimensions, embed_dim_to_check, num_heads, weights or
    masks that do not fit) and RuntimeError (attn_mask of a wrong shape, is_causal without it).
    """
    batched = _batched(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "multi_head_attention_forward: argument 17 (attn_mask) is None, wanted "
            "the causal mask that is_causal promises: "
            "Transformer.generate_square_subsequent_mask makes it"
        )
    # Where the promise is believed, the mask is not read: scaled_dot_product_attention has its own.
    is_causal = is_causal and key_padding_mask is None and not need_weights
    if is_causal:
        attn_mask = None
    _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)

    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias, separate)
    mask = _by_head(attn_mask, query, key, num_heads)
    padding = _canonical_mask(key_padding_mask, "key_padding_mask", target_type=query.dtype)
    _check_biases(bias_k, bias_v, static_k, static_v)
    appended = int(bias_k is not None) + int(add_zero_attn)
    if bias_k is not None and bias_v is not None:
        k = _functions.cat([k, bias_k.expand(1, k.shape[1], -1)])
        v = _functions.cat([v, bias_v.expand(1, v.shape[1], -1)])

    if static_k is None and key.shape[1] != query.shape[1]:
        _refuse(ShapeError, "key", f"has a batch of {key.shape[1]}, wanted {query.shape[1]}")
    q = _in_heads(q, num_heads)
    k = _in_heads(k, num_heads) if static_k is None else _static_in_heads(static_k, "static_k", q)
    v = _in_heads(v, num_heads) if static_v is None else _static_in_heads(static_v, "static_v", q)
    if add_zero_attn:
        k, v = (_with_zeros(x) for x in (k, v))
    mask = _merged_masks(mask, padding, appended, k)

    weights = None
    p = dropout_p if training else 0.0
    if need_weights:
        y, weights = _attention_with_weights(q, k, v, mask, p, average_attn_weights)
    else:
        y = scaled_dot_product_attention(q, k, v, mask, p, is_causal)
    y = linear(y.permute(2, 0, 1, 3).flatten(2), out_proj_weight, out_proj_bias)
    if not batched:
        y, weights = y.squeeze(1), None if weights is None else weights.squeeze(0)
    return y, weights


def _refuse(kind: type[Exception], name: str, text: str) -> NoReturn:
    raise kind(f"multi_head_attention_forward: argument {_POSITIONS[name]} ({name}) {text}")


def _batched(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> bool:
    """Whether there is a batch, if all numbers of dimensions fit."""
    if query.ndim not in (2, 3):
        _refuse(AssertionError, "query", f"is {query.ndim}D, wanted 2D (without a batch) or 3D")
    dims = query.ndim
    for name, x, enabled in (
        ("key", key, (dims,)),
        ("value", value, (dims,)),
        ("attn_mask", attn_mask, (2, 3)),
        ("key_padding_mask", key_padding_mask, (dims - 1,)),
    ):
        if x is not None and x.ndim not in enabled:
            shown = " or ".join(f"{n}D" for n in enabled)
            _refuse(AssertionError, name, f"is {x.ndim}D, wanted {shown} for a {dims}D query")
    if dims == 2 and attn_mask is not None and attn_mask.ndim == 3:
        shape = (num_heads, query.shape[0], key.shape[0])
        if tuple(attn_mask.shape) != shape:
            _refuse(
                AssertionError,
                "attn_mask",
                f"has shape {list(attn_mask.shape)}, wanted {list(shape)}",
            )
    return dims == 3


def _check_sizes(
    query: Tensor, key: Tensor, value: Tensor, embed_dim: int, num_heads: int, separate: bool
) -> None:
    if query.shape[2] != embed_dim:
        _refuse(AssertionError, "query", f"has {query.shape[2]} features, wanted {embed_dim}")
    if embed_dim % num_heads:
        _refuse(AssertionError, "num_heads", f"is {num_heads}, wanted a divisor of {embed_dim}")
    same = 2 if separate else 3
    if key.shape[:same] != value.shape[:same]:
        _refuse(
            AssertionError,
            "value",
            f"has shape {list(value.shape)}, wanted "
            f"{'the first two sizes' if separate else 'the shape'} of key, "
            f"{list(key.shape)}",
        )


def _projected(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    separate: Sequence[Any] | None,
) -> tuple[Tensor, ...]:
    """q, k and v, each [steps, n, e]."""
    if separate is not None:
        biases = (None,) * 3 if bias is None else bias.chunk(3)
        for name, x, w in zip(("q", "k", "v"), (query, key, value), separate):
            shape = (query.shape[2], x.shape[2])
            if w is None or tuple(w.shape) != shape:
                description = "is None" if w is None else f"has shape {list(w.shape)}"
                _refuse(
                    AssertionError, f"{name}_proj_weight", f"{description}, wanted {list(shape)}"
                )
        return tuple(map(linear, (query, key, value), separate, biases))
    if weight is None:
        _refuse(AssertionError, "in_proj_weight", "is None, wanted the projections' weights")
    e = query.shape[2]
    if key is value and query is key:  # one product instead of three
        return linear(query, weight, bias).unflatten(-1, (3, e)).unbind(-2)
    if key is value:
        w, ws = weight.split([e, 2 * e])
        b, bs = (None, None) if bias is None else bias.split([e, 2 * e])
        k, v = linear(key, ws, bs).unflatten(-1, (2, e)).unbind(-2)
        return linear(query, w, b), k, v
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    return tuple(map(linear, (query, key, value), weight.chunk(3), biases))


def _by_head(mask: Tensor | None, query: Tensor, key: Tensor, num_heads: int) -> Tensor | None:
    """attn_mask as numbers, [1, 1, l, s] or [n, h, l, s]."""
    mask = _canonical_mask(mask, "attn_mask", target_type=query.dtype)
    if mask is None:
        return None
    shape = [query.shape[0], key.shape[0]]
    if mask.ndim == 3:
        shape = [query.shape[1] * num_heads, *shape]
    if list(mask.shape) != shape:
        _refuse(RuntimeError, "attn_mask", f"has shape {list(mask.shape)}, wanted {shape}")
    if mask.ndim == 2:
        return mask.view(1, 1, *shape)
    return mask.unflatten(0, (query.shape[1], num_heads))


def _check_biases(
    bias_k: Tensor | None, bias_v: Tensor | None, static_k: Tensor | None, static_v: Tensor | None
) -> None:
    if (bias_k is None) != (bias_v is None):
        absent, value = ("bias_k", "bias_v") if bias_k is None else ("bias_v", "bias_k")
        _refuse(AssertionError, absent, f"is None, wanted a tensor, for {value} is given")
    for name, static in (("static_k", static_k), ("static_v", static_v)):
        if bias_k is not None and static is not None:
            _refuse(AssertionError, name, "is a tensor, wanted None, for bias_k is given")


def _in_heads(x: Tensor, num_heads: int) -> Tensor:
    """[steps, n, e] as [n, h, steps, d]."""
    return x.unflatten(2, (num_heads, -1)).permute(1, 2, 0, 3)


def _with_zeros(x: Tensor) -> Tensor:
    """[n, h, s, d] and one more step of zeros."""
    step = _functions.zeros(*x.shape[:2], 1, x.shape[3], dtype=x.dtype, device=x.device)
    return _functions.cat([x, step], 2)


def _static_in_heads(value: Tensor, name: str, q: Tensor) -> Tensor:
    """[n h, s, d] as [n, h, s, d]."""
    n, h, _, d = q.shape
    if value.shape[0] != n * h or value.shape[2] != d:
        _refuse(AssertionError, name, f"has shape {list(value.shape)}, wanted [{n * h}, s, {d}]")
    return value.unflatten(0, (n, h))


def _merged_masks(
    mask: Tensor | None, padding: Tensor | None, appended: int, k: Tensor
) -> Tensor | None:
    """The sum of both masks, in the dtype of k, with a column of zeros for each appended key."""
    if mask is not None and appended:
        mask = pad(mask, (0, appended))
    if padding is not None:
        if appended:
            padding = pad(padding, (0, appended))
        n, s = k.shape[0], k.shape[2]
        if tuple(padding.shape) != (n, s):
            _refuse(
                AssertionError,
                "key_padding_mask",
                f"has shape "
                f"{[padding.shape[0], padding.shape[1] - appended]}, wanted "
                f"{[n, s - appended]}",
            )
        padding = padding.view(n, 1, 1, s)
        mask = padding if mask is None else mask + padding
    return None if mask is None else mask.to(k.dtype)


def _attention_with_weights(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, p: float, average: bool
) -> tuple[Tensor, Tensor]:
    scores = _functions.matmul(q * math.sqrt(1 / q.shape[3]), k.transpose(2, 3))
    weights = (scores if mask is None else scores + mask).softmax(-1)
    if p > 0:
        weights = dropout(weights, p, True)
    return _functions.matmul(weights, v), weights.mean(1) if average else weights


def _canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: DtypeLike | None = None,
    other_name: str = "",
    target_type: DtypeLike | None = None,
    check_other: bool = True,
) -> Tensor | None:
    """The mask as numbers to be added to the scores: a bool one is -inf where True, else 0.

    Arguments:
        mask: bool, floating or None
        mask_name: for the error
        target_type: the result's dtype for a bool mask
        other_type, other_name, check_other: accepted and not read: masks of two dtypes are added

    Errors: AssertionError (a mask of integers).
    """
    if mask is None or mask.dtype.is_floating_point:
        return mask
    if mask.dtype != bool_:
        raise AssertionError(f"{mask_name} is {mask.dtype}, wanted bool or a floating dtype")
    result = _functions.zeros(mask.shape, dtype=target_type, device=mask.device)
    return result.masked_fill_(mask, -math.inf)


def _none_or_dtype(input: Tensor | None) -> DtypeLike | None:
    """The dtype of a tensor, None of None."""
    if input is None or isinstance(input, Tensor):
        return None if input is None else input.dtype
    raise RuntimeError(
        f"none_or_dtype: argument 1 (input) is a {type(input).__name__}, wanted a tensor or None"
    )


# -- products of scaled float8 --------------------------------------------------------------------


class ScalingType(enum.Enum):
    """What one scale belongs to: the tensor, a row, or a block."""

    TensorWise = 0
    RowWise = 1
    BlockWise1x16 = 2
    BlockWise1x32 = 3
    BlockWise1x128 = 4
    BlockWise128x128 = 5


class SwizzleType(enum.Enum):
    """The order of scales in memory."""

    NO_SWIZZLE = 0
    SWIZZLE_32_4_4 = 1
    SWIZZLE_32_8 = 2


def _no_float8(name: str) -> NoReturn:
    raise UnsupportedError(f"{name}: its operands are float8, and no tensor has this dtype yet")


@overridable
def scaled_mm(mat_a: Tensor, mat_b: Tensor, *args: Any, **options: Any) -> Tensor:
    """Raises: the operands of a scaled product are float8, which no tensor has."""
    _no_float8("scaled_mm")


@overridable
def scaled_grouped_mm(mat_a: Tensor, mat_b: Tensor, *args: Any, **options: Any) -> Tensor:
    """Raises: the operands of a scaled product are float8, which no tensor has."""
    _no_float8("scaled_grouped_mm")

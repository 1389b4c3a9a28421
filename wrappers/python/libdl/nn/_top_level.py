# SPDX-License-Identifier: Apache-2.0
"""Functions of networks under their names in torch's top namespace, where the order of arguments is
another, and numbers stand for words: a reduction is 0 ("none"; the default, as in PyTorch's
Python), 1 ("mean") or 2 ("sum"). cudnn_enabled= is accepted and changes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from .. import _functions as f, _functional as _generated
from .._C import Tensor, overridable
from .._cast_operands import in_lower, left_alone
from .._dropout import drops_nothing
from .._errors import ArgumentValueError, DtypeError, ShapeError
from .._modes import no_grad
from .._overrides import own_function
from .._types import DtypeLike, Generator
from . import functional as F
from .functional import alpha_dropout, feature_alpha_dropout

__all__ = [
    "_grouped_mm",
    "affine_grid_generator",
    "alpha_dropout_",
    "batch_norm",
    "binary_cross_entropy_with_logits",
    "celu_",
    "constant_pad_nd",
    "convolution",
    "cosine_embedding_loss",
    "ctc_loss",
    "dropout_",
    "embedding",
    "embedding_bag",
    "embedding_renorm_",
    "feature_alpha_dropout_",
    "feature_dropout_",
    "grid_sampler",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "group_norm",
    "hinge_embedding_loss",
    "instance_norm",
    "kl_div",
    "layer_norm",
    "margin_ranking_loss",
    "native_batch_norm",
    "native_channel_shuffle",
    "native_dropout",
    "native_group_norm",
    "native_layer_norm",
    "poisson_nll_loss",
    "rrelu",
    "rrelu_",
    "selu_",
    "threshold_",
    "triplet_margin_loss",
]

celu_, selu_ = F.celu_, F.selu_


def _word(function: str, argument: str, number: int, words: Sequence[str]) -> str:
    if not 0 <= number < len(words):
        raise ArgumentValueError(
            f"{function}: argument {argument} is {number}, wanted 0 to {len(words) - 1}"
        )
    return words[number]


def _reduction(function: str, number: int) -> str:
    return _word(function, "reduction", number, ("none", "mean", "sum"))


def _grouped_mm(
    self: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: DtypeLike | None = None,
) -> Tensor:
    """See nn.functional.grouped_mm."""
    return F.grouped_mm(self, mat2, offs=offs, bias=bias, out_dtype=out_dtype)


# -- normalisation ---------------------------------------------------------------------------------


@overridable
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:
    """See nn.functional.layer_norm."""
    return _generated.layer_norm(input, normalized_shape, weight, bias, eps)


@overridable
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:
    """nn.functional.group_norm, which may also have one value a group: it becomes bias."""
    if 0 < num_groups == input.numel() == input.size(1):
        both = f.cat([input, input])
        return _generated.group_norm(both, num_groups, weight, bias, eps)[:1]
    return _generated.group_norm(input, num_groups, weight, bias, eps)


@overridable
def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """See nn.functional.batch_norm; weight and bias come before the running statistics."""
    return _generated.batch_norm(
        input,
        running_mean,  # type: ignore[arg-type]  # the operator says what is missing
        running_var,  # type: ignore[arg-type]
        weight,
        bias,
        training,
        momentum,
        eps,
    )


@overridable
def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """See nn.functional.instance_norm; weight and bias come before the running statistics."""
    return _generated.instance_norm(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


def _moments(x: Tensor, dims: list[int], eps: float) -> tuple[Tensor, Tensor]:
    """Mean and 1 / sqrt(var + eps) over dims, which stay with size 1; without gradients, which no
    program needs of them."""
    with no_grad():
        return (f.mean(x, dims, True), (f.var(x, dims, correction=0, keepdim=True) + eps).rsqrt())


@overridable
def native_layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """layer_norm, the means and the reciprocal deviations, [.., 1, ..]; these two without
    gradients."""
    result = _generated.layer_norm(input, normalized_shape, weight, bias, eps)
    dims = list(range(input.ndim - len(normalized_shape), input.ndim))
    return result, *_moments(input, dims, eps)


@overridable
def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """group_norm of N samples with C channels of HxW elements, the means and the reciprocal
    deviations, [N, group]; these two without gradients."""
    if input.ndim < 2 or input.shape[:2] != (N, C) or input.numel() != N * C * HxW:
        raise ShapeError(
            f"native_group_norm: argument 1 (input) has shape {list(input.shape)}, "
            f"wanted [{N}, {C}, ...] of {N * C * HxW} elements"
        )
    result = _generated.group_norm(input, group, weight, bias, eps)
    mean, rstd = _moments(input.reshape(N, group, C // group * HxW), [2], eps)
    return result, mean.squeeze(2), rstd.squeeze(2)


@overridable
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """batch_norm, and in training the batch's means and reciprocal deviations, [channels], without
    gradients; in evaluation these are empty."""
    result = batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps, False
    )
    if not training:
        return result, input.new_empty(0), input.new_empty(0)
    mean, rstd = _moments(input, [d for d in range(input.ndim) if d != 1], eps)
    return result, mean.flatten(), rstd.flatten()


# -- activations and dropout -----------------------------------------------------------------------


@overridable
def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """In place: see threshold."""
    return F.threshold(input, threshold, value, inplace=True)


@overridable
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """See nn.functional.rrelu."""
    return _generated.rrelu(input, lower, upper, training, generator=generator)


@overridable
def rrelu_(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """In place: see nn.functional.rrelu."""
    return F.rrelu(input, lower, upper, training, inplace=True, generator=generator)


@overridable
def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """In place: see nn.functional.dropout."""
    return F.dropout(input, p, train, inplace=True)


@overridable
def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """In place: see nn.functional.alpha_dropout."""
    return alpha_dropout(input, p, train, inplace=True)


@overridable
def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """In place: whole channels of [n, channels, ...] set to zero; see nn.functional.dropout."""
    if input.ndim < 2:
        raise ShapeError(
            f"feature_dropout_: argument 1 (input) has shape {list(input.shape)}, wanted "
            "[n, channels, ...]"
        )
    if drops_nothing(input, p, train):
        return input
    kept = f.dropout(input.new_ones((*input.shape[:2], *[1] * (input.ndim - 2))), p, train)
    return input.mul_(kept)


@overridable
def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """In place: see nn.functional.feature_alpha_dropout."""
    return feature_alpha_dropout(input, p, train, inplace=True)


@overridable
def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """dropout, and which elements stayed, as truths. train None: True."""
    kept = f.ones_like(input, dtype=bool)
    if train is False:
        return input.clone(), kept
    scale = _generated.dropout(f.ones_like(input), p, True)
    return input * scale, scale != 0


# -- tables ----------------------------------------------------------------------------------------


@overridable
def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """See nn.functional.embedding; the table comes first, and padding_idx -1 means none."""
    return _generated.embedding(
        indices, weight, None if padding_idx < 0 else padding_idx, scale_grad_by_freq, sparse
    )


@overridable
def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Scales the rows that indices name down to max_norm, in the table itself."""
    return _generated.embedding_renorm_(input, indices, max_norm, norm_type)


@overridable
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """See nn.functional.embedding_bag; mode is 0 ("sum"), 1 ("mean") or 2 ("max"). What PyTorch
    keeps for its gradient, the other three results, is empty here."""
    word = _word("embedding_bag", "mode", mode, ("sum", "mean", "max"))
    result = _generated.embedding_bag(
        indices,
        weight,
        offsets,
        scale_grad_by_freq,
        word,
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )
    none = indices.new_empty(0)
    return result, none, none.clone(), none.clone()


# -- losses ----------------------------------------------------------------------------------------


@overridable
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = 0,
) -> Tensor:
    """See nn.functional.binary_cross_entropy_with_logits."""
    word = _reduction("binary_cross_entropy_with_logits", reduction)
    return _generated.binary_cross_entropy_with_logits(input, target, weight, word, pos_weight)


@overridable
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """See nn.functional.cosine_embedding_loss."""
    word = _reduction("cosine_embedding_loss", reduction)
    return _generated.cosine_embedding_loss(input1, input2, target, margin, word)


@overridable
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: int = 0,
    zero_infinity: bool = False,
) -> Tensor:
    """See nn.functional.ctc_loss."""
    return F.ctc_loss(
        log_probs,
        targets,
        input_lengths,
        target_lengths,
        blank,
        _reduction("ctc_loss", reduction),
        zero_infinity,
    )


@overridable
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0
) -> Tensor:
    """See nn.functional.hinge_embedding_loss."""
    word = _reduction("hinge_embedding_loss", reduction)
    return _generated.hinge_embedding_loss(input, target, margin, word)


@overridable
def kl_div(
    input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False
) -> Tensor:
    """See nn.functional.kl_div."""
    return _generated.kl_div(input, target, _reduction("kl_div", reduction), log_target)


@overridable
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """See nn.functional.margin_ranking_loss."""
    word = _reduction("margin_ranking_loss", reduction)
    return _generated.margin_ranking_loss(input1, input2, target, margin, word)


@overridable
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    """See nn.functional.poisson_nll_loss."""
    word = _reduction("poisson_nll_loss", reduction)
    return _generated.poisson_nll_loss(input, target, log_input, full, eps, word)


@overridable
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 0,
) -> Tensor:
    """See nn.functional.triplet_margin_loss."""
    word = _reduction("triplet_margin_loss", reduction)
    return _generated.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, word)


# -- images and convolutions -----------------------------------------------------------------------


@overridable
@in_lower
def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """See nn.functional.affine_grid."""
    return _generated.affine_grid(theta, size, align_corners)


@overridable
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """See nn.functional.grid_sample; the modes are 0 ("bilinear", "zeros"), 1 ("nearest", "border")
    or 2 ("bicubic", "reflection")."""
    mode = _word(
        "grid_sampler", "interpolation_mode", interpolation_mode, ("bilinear", "nearest", "bicubic")
    )
    padding = _word("grid_sampler", "padding_mode", padding_mode, ("zeros", "border", "reflection"))
    return _generated.grid_sample(input, grid, mode, padding, align_corners)


grid_sampler_2d = own_function(grid_sampler, "grid_sampler_2d", "libdl")
grid_sampler_3d = own_function(grid_sampler, "grid_sampler_3d", "libdl")


@overridable
def constant_pad_nd(input: Tensor, pad: Sequence[int], value: complex = 0) -> Tensor:
    """See nn.functional.pad in mode "constant"; of complex tensors the value may be complex."""
    if isinstance(value, complex):
        if not input.is_complex():
            raise DtypeError(
                f"constant_pad_nd: argument 3 (value) is {value}, wanted a number that "
                f"{input.dtype} holds"
            )
        inside = _generated.pad(f.ones_like(input, dtype=bool), pad, "constant", 0)
        return f.where(inside, _generated.pad(input, pad, "constant", 0), value)
    return _generated.pad(input, pad, "constant", value)


@overridable
def native_channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """See nn.functional.channel_shuffle."""
    return _generated.channel_shuffle(input, groups)


@overridable
@left_alone
def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """conv1d to conv3d, or conv_transpose1d to conv_transpose3d, by weight's dimensions."""
    if not 3 <= weight.ndim <= 5:
        raise ShapeError(
            f"convolution: argument 2 (weight) has shape {list(weight.shape)}, wanted "
            "three to five dimensions"
        )
    if transposed:
        back = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[weight.ndim - 3]
        return back(input, weight, bias, stride, padding, output_padding, groups, dilation)
    forward = (F.conv1d, F.conv2d, F.conv3d)[weight.ndim - 3]
    return forward(input, weight, bias, stride, padding, dilation, groups)

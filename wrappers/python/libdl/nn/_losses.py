# SPDX-License-Identifier: Apache-2.0
"""The losses as functions, with PyTorch's signatures: size_average and reduce are the predecessors
of reduction, and keep their places among the arguments."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

from .. import _functional as _generated, _functions
from .._C import Tensor, overridable
from .._creation import tensor
from .._errors import ArgumentValueError, ShapeError
from .._types import int64

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cross_entropy",
    "ctc_loss",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


def reduction_of(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction; size_average and reduce take precedence if one is given."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is None or reduce:
        text = "mean" if size_average is None or size_average else "sum"
    else:
        text = "none"
    warnings.warn(
        f"size_average and reduce are deprecated, please use reduction={text!r} instead",
        stacklevel=4,
    )
    return text


def _same_size(input: Tensor, target: Tensor) -> None:
    """Warns if shapes differ: a loss of all pairs is seldom intended."""
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=3,
        )


@overridable
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    _same_size(input, target)
    return _generated.l1_loss(input, target, reduction, weight)


@overridable
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    _same_size(input, target)
    return _generated.mse_loss(input, target, reduction, weight)


@overridable
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.nll_loss(input, target, weight, ignore_index, reduction)


@overridable
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)


@overridable
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    _same_size(input, target)
    return _generated.smooth_l1_loss(input, target, reduction, beta)


@overridable
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    _same_size(input, target)
    return _generated.huber_loss(input, target, reduction, delta, weight)


@overridable
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.binary_cross_entropy(input, target, weight, reduction)


@overridable
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.binary_cross_entropy_with_logits(input, target, weight, reduction, pos_weight)


@overridable
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    elif reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size. "
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.",
            stacklevel=2,
        )
    return _generated.kl_div(input, target, reduction, log_target)


@overridable
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.poisson_nll_loss(input, target, log_input, full, eps, reduction)


@overridable
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    return _generated.gaussian_nll_loss(input, target, var, full, eps, reduction)


@overridable
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """The negative log-probability that outputs, with repetitions merged and blanks removed, are
    the targets.

    Arguments:
        log_probs: log-probabilities [t, n, classes], or [t, classes]
        targets: classes [n, s], of which the first target_lengths count, or all of them joined
        input_lengths, target_lengths: one for each sequence, a tensor or a list
        blank: the class of the blank
        reduction: "mean" divides each loss by its target's length before averaging
        zero_infinity: whether infinite losses and their gradients become 0
    """
    return _generated.ctc_loss(
        log_probs,
        targets,
        _lengths(input_lengths),
        _lengths(target_lengths),
        blank,
        reduction,
        zero_infinity,
    )


def _lengths(lengths: object) -> Tensor:
    return lengths if isinstance(lengths, Tensor) else tensor(lengths, dtype=int64)


# -- with a margin ---------------------------------------------------------------------------------


@overridable
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.hinge_embedding_loss(input, target, margin, reduction)


@overridable
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.cosine_embedding_loss(input1, input2, target, margin, reduction)


@overridable
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.margin_ranking_loss(input1, input2, target, margin, reduction)


@overridable
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.multi_margin_loss(input, target, p, margin, weight, reduction)


@overridable
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.multilabel_margin_loss(input, target, reduction)


@overridable
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.multilabel_soft_margin_loss(input, target, weight, reduction)


@overridable
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.soft_margin_loss(input, target, reduction)


@overridable
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, reduction
    )


@overridable
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """max(0, margin + d(anchor, positive) - d(anchor, negative)).

    Arguments:
        distance_function: d, of two tensors; None: pairwise_distance
        margin: above 0
        swap: whether d(positive, negative) counts where it is smaller than d(anchor, negative)
        reduction: "mean", "sum" or "none"
    """
    op = "triplet_margin_with_distance_loss"
    if reduction not in ("mean", "sum", "none"):
        raise ArgumentValueError(
            f'{op}: argument 7 (reduction) is "{reduction}", wanted "mean", "sum" or "none"'
        )
    if not margin > 0:
        raise ArgumentValueError(f"{op}: argument 5 (margin) is {margin}, wanted above 0")
    for place, (name, x) in enumerate((("positive", positive), ("negative", negative)), start=2):
        if x.ndim != anchor.ndim:
            raise ShapeError(
                f"{op}: argument {place} ({name}) has shape {list(x.shape)}, wanted "
                f"{anchor.ndim} dimensions, as anchor has"
            )
    distance = _functions.pairwise_distance if distance_function is None else distance_function
    far = distance(anchor, negative)
    if swap:
        far = _functions.minimum(far, distance(positive, negative))
    loss = (distance(anchor, positive) + margin - far).clamp(min=0)
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


# Their documentation is that of the generated functions.
for _function in (
    mse_loss,
    nll_loss,
    cross_entropy,
    l1_loss,
    smooth_l1_loss,
    huber_loss,
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    kl_div,
    poisson_nll_loss,
    gaussian_nll_loss,
    hinge_embedding_loss,
    cosine_embedding_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    soft_margin_loss,
    triplet_margin_loss,
):
    _function.__doc__ = getattr(_generated, _function.__name__).__doc__

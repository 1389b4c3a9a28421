# SPDX-License-Identifier: Apache-2.0
"""The losses with a margin as functions, with PyTorch's signatures."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Callable

from .. import _functional as _generated, _functions
from .._C import Tensor, overridable
from .._errors import ArgumentValueError, ShapeError
from ._losses import reduction_of

__all__ = [
    "cosine_embedding_loss", "hinge_embedding_loss", "margin_ranking_loss", "multi_margin_loss",
    "multilabel_margin_loss", "multilabel_soft_margin_loss", "soft_margin_loss",
    "triplet_margin_loss", "triplet_margin_with_distance_loss",
]  # fmt: skip


@overridable
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0,
                         size_average: bool | None = None, reduce: bool | None = None,
                         reduction: str = "mean") -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.hinge_embedding_loss(input, target, margin, reduction)


@overridable
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                          size_average: bool | None = None, reduce: bool | None = None,
                          reduction: str = "mean") -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.cosine_embedding_loss(input1, input2, target, margin, reduction)


@overridable
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                        size_average: bool | None = None, reduce: bool | None = None,
                        reduction: str = "mean") -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.margin_ranking_loss(input1, input2, target, margin, reduction)


@overridable
def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0,
                      weight: Tensor | None = None, size_average: bool | None = None,
                      reduce: bool | None = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.multi_margin_loss(input, target, p, margin, weight, reduction)


@overridable
def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
                           reduce: bool | None = None,
                           reduction: str = "mean") -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.multilabel_margin_loss(input, target, reduction)


@overridable
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                size_average: bool | None = None, reduce: bool | None = None,
                                reduction: str = "mean") -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.multilabel_soft_margin_loss(input, target, weight, reduction)


@overridable
def soft_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
                     reduce: bool | None = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.soft_margin_loss(input, target, reduction)


@overridable
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0,
                        p: float = 2, eps: float = 1e-6, swap: bool = False,
                        size_average: bool | None = None, reduce: bool | None = None,
                        reduction: str = "mean") -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap,
                                          reduction)  # fmt: skip


for _function in (hinge_embedding_loss, cosine_embedding_loss, margin_ranking_loss,
                  multi_margin_loss, multilabel_margin_loss, multilabel_soft_margin_loss,
                  soft_margin_loss, triplet_margin_loss):  # fmt: skip
    _function.__doc__ = getattr(_generated, _function.__name__).__doc__


@overridable
def triplet_margin_with_distance_loss(
        anchor: Tensor, positive: Tensor, negative: Tensor, *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: float = 1.0,
        swap: bool = False, reduction: str = "mean") -> Tensor:  # fmt: skip
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
            f'{op}: argument 7 (reduction) is "{reduction}", wanted "mean", "sum" or "none"')
    if not margin > 0:
        raise ArgumentValueError(f"{op}: argument 5 (margin) is {margin}, wanted above 0")
    for place, (name, x) in enumerate((("positive", positive), ("negative", negative)), start=2):
        if x.ndim != anchor.ndim:
            raise ShapeError(f"{op}: argument {place} ({name}) has shape {list(x.shape)}, wanted "
                             f"{anchor.ndim} dimensions, as anchor has")  # fmt: skip
    distance = _functions.pairwise_distance if distance_function is None else distance_function
    far = distance(anchor, negative)
    if swap:
        far = _functions.minimum(far, distance(positive, negative))
    loss = (distance(anchor, positive) + margin - far).clamp(min=0)
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()

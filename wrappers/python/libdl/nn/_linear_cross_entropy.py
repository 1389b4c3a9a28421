# SPDX-License-Identifier: Apache-2.0
"""Cross entropy of a linear layer's scores, for layers with so many classes that the scores of the
whole batch are too large to be kept."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any

from .. import _C, _functional as _generated, _functions as f
from .._C import Tensor, overridable
from .._errors import ArgumentValueError, ShapeError
from .._types import bfloat16, dtype as Dtype, float16, float32
from ._losses import cross_entropy
from .modules.linear_cross_entropy_options import LinearCrossEntropyOptions

__all__ = ["linear_cross_entropy"]


@overridable
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Tensor:
    """cross_entropy of linear(input, linear_weight, linear_bias); probabilities of another dtype
    promote the loss.

    Arguments:
        input: [n, in_features] or [in_features]
        linear_weight: [classes, in_features], or [classes, ..., in_features] for scores and losses
            of more dimensions
        target: classes or their probabilities, as of cross_entropy
        linear_bias: [classes] or [classes, ...], added to the scores
        weight, reduction, label_smoothing: as of cross_entropy
        ignore_index: the class that does not count; None: -100; not with probabilities
        options: how to go through the batch in chunks; None: at once

    Example:
        >>> x, head = torch.ones(3, 4), torch.zeros(10, 4)
        >>> F.linear_cross_entropy(x, head, torch.tensor([1, 2, 3]))
        tensor(2.3026)
    """
    _check(input, linear_weight, linear_bias)
    classes, *more, features = linear_weight.shape
    flat = linear_weight.reshape(-1, features)
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    probabilities = target.is_floating_point()
    if probabilities and ignore_index is not None:
        raise ArgumentValueError(
            f"linear_cross_entropy: ignore_index is {ignore_index} and target has probabilities, "
            "wanted classes or ignore_index=None"
        )
    ignored = -100 if ignore_index is None else ignore_index
    promoted = (
        _C.dtype_of_code(_C.dtype_promote(input.dtype, target.dtype))
        if probabilities
        else (input.dtype)
    )

    def losses(x: Tensor, y: Tensor, reduction: str, dtype: Dtype) -> Tensor:
        scores = _generated.linear(x, flat, bias).reshape(*x.shape[:-1], classes, *more).to(dtype)
        y = y.to(dtype) if probabilities else y
        scales = None if weight is None else weight.to(dtype)
        return cross_entropy(
            scores,
            y,
            scales,
            ignore_index=ignored,
            reduction=reduction,
            label_smoothing=label_smoothing,
        )

    rows = len(input) if input.ndim == 2 else 1
    each = rows if options is None else options.rows(rows, features, classes)
    if options is None or each >= rows or len(target) != rows:
        return losses(input, target, reduction, promoted)
    dtype = options.acc_dtype or (float32 if promoted in (float16, bfloat16) else promoted)
    chunks = _in_chunks(losses, input, target, each, dtype)
    if reduction == "mean":
        return (chunks.sum() / _count(target, classes, weight, ignored, dtype)).to(promoted)
    return _reduced(chunks, reduction).to(promoted)


def _check(input: Tensor, linear_weight: Tensor, linear_bias: Tensor | None) -> None:
    name = "linear_cross_entropy: argument"
    if input.ndim not in (1, 2):
        raise ShapeError(f"{name} 1 (input) has {input.ndim} dimensions, wanted 1 or 2")
    if linear_weight.ndim < 2:
        raise ShapeError(
            f"{name} 2 (linear_weight) has {linear_weight.ndim} dimensions, wanted 2 or more"
        )
    if input.shape[-1] != linear_weight.shape[-1]:
        raise ShapeError(
            f"{name} 2 (linear_weight) has shape {list(linear_weight.shape)}, wanted "
            f"[classes, ..., {input.shape[-1]}] as input has features"
        )
    if linear_bias is not None and linear_bias.shape != linear_weight.shape[:-1]:
        raise ShapeError(
            f"{name} (linear_bias) has shape {list(linear_bias.shape)}, wanted "
            f"{list(linear_weight.shape[:-1])}"
        )
    if linear_weight.ndim > 2 and input.ndim == 1:
        raise ShapeError(
            f"{name} 1 (input) has shape {list(input.shape)}, wanted [n, features]: "
            "linear_weight has more than 2 dimensions"
        )


def _in_chunks(losses: Any, input: Tensor, target: Tensor, each: int, dtype: Dtype) -> Tensor:
    """The losses of all rows, of a chunk at a time; backward computes its scores once more."""
    from ..utils.checkpoint import checkpoint

    pairs = zip(input.split(each), target.split(each), strict=True)
    return f.cat([checkpoint(losses, x, y, "none", dtype, use_reentrant=False) for x, y in pairs])


def _count(target: Tensor, classes: int, weight: Tensor | None, ignored: int, dtype: Dtype) -> Any:
    """What a mean divides by: the weights of the targets' classes, or the number of losses."""
    if target.is_floating_point():
        return target.numel() // classes
    counted = target != ignored
    if weight is None:
        return counted.sum()
    return weight.to(dtype)[target[counted]].sum()


def _reduced(losses: Tensor, reduction: str) -> Tensor:
    if reduction not in ("none", "sum"):
        raise ArgumentValueError(
            f"linear_cross_entropy: argument (reduction) is {reduction!r}, "
            "wanted 'mean', 'sum' or 'none'"
        )
    return losses.sum() if reduction == "sum" else losses

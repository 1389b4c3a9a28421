# SPDX-License-Identifier: Apache-2.0
"""Cross entropy of a linear layer's scores, for layers with so many classes that the scores of the
whole batch are too large to be kept."""

from __future__ import annotations

from typing import Any

from .. import _C, _functional as _generated, _functions as f
from .._C import Tensor, overridable
from .._errors import ArgumentValueError
from .._types import bfloat16, dtype as Dtype, float16, float32
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
    rows = each = len(input) if input.ndim == 2 else 1
    if options is not None and input.ndim == 2 and linear_weight.ndim >= 2:
        each = options.rows(rows, input.shape[1], linear_weight.shape[0])
    if options is None or each >= rows or len(target) != rows:
        return _generated.linear_cross_entropy(
            input,
            linear_weight,
            target,
            linear_bias=linear_bias,
            weight=weight,
            reduction=reduction,
            ignore_index=ignore_index,
            label_smoothing=label_smoothing,
        )
    promoted = input.dtype
    if target.is_floating_point():
        promoted = _C.dtype_of_code(_C.dtype_promote(input.dtype, target.dtype))
    dtype = options.acc_dtype or (float32 if promoted in (float16, bfloat16) else promoted)

    def losses(x: Tensor, y: Tensor) -> Tensor:
        return _generated.linear_cross_entropy(
            x,
            linear_weight,
            y,
            linear_bias=linear_bias,
            weight=weight,
            reduction="none",
            ignore_index=ignore_index,
            label_smoothing=label_smoothing,
            dtype=dtype,
        )

    chunks = _in_chunks(losses, input, target, each)
    if reduction == "mean":
        ignored = -100 if ignore_index is None else ignore_index
        return (chunks.sum() / _count(target, linear_weight.shape[0], weight, ignored, dtype)).to(
            promoted
        )
    return _reduced(chunks, reduction).to(promoted)


def _in_chunks(losses: Any, input: Tensor, target: Tensor, each: int) -> Tensor:
    """The losses of all rows, of a chunk at a time; backward computes its scores once more."""
    from ..utils.checkpoint import checkpoint

    pairs = zip(input.split(each), target.split(each), strict=True)
    return f.cat([checkpoint(losses, x, y, use_reentrant=False) for x, y in pairs])


def _count(
    target: Tensor, classes: int, weight: Tensor | None, ignored: int, dtype: Dtype
) -> Tensor | int:
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

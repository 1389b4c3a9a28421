# SPDX-License-Identifier: Apache-2.0
"""The losses as functions, with PyTorch's signatures: size_average and reduce are the predecessors
of reduction, and keep their places among the arguments."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import warnings
from typing import Any

from .. import _functional as _generated
from .._C import Tensor, overridable
from .._creation import tensor
from .._types import int64


def reduction_of(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction; size_average and reduce take precedence if one is given."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is None or reduce:
        told = "mean" if size_average is None or size_average else "sum"
    else:
        told = "none"
    warnings.warn(
        f"size_average and reduce are deprecated, please use reduction={told!r} instead",
        stacklevel=4,
    )
    return told


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
def l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
            reduce: bool | None = None, reduction: str = "mean",
            weight: Tensor | None = None) -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    _same_size(input, target)
    return _generated.l1_loss(input, target, reduction, weight)


@overridable
def mse_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
             reduce: bool | None = None, reduction: str = "mean",
             weight: Tensor | None = None) -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    _same_size(input, target)
    return _generated.mse_loss(input, target, reduction, weight)


@overridable
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None,
             size_average: bool | None = None, ignore_index: int = -100,
             reduce: bool | None = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.nll_loss(input, target, weight, ignore_index, reduction)


@overridable
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None,
                  size_average: bool | None = None, ignore_index: int = -100,
                  reduce: bool | None = None, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.cross_entropy(
        input, target, weight, ignore_index, reduction, label_smoothing
    )


@overridable
def smooth_l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
                   reduce: bool | None = None, reduction: str = "mean",
                   beta: float = 1.0) -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    _same_size(input, target)
    return _generated.smooth_l1_loss(input, target, reduction, beta)


@overridable
def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0,
               weight: Tensor | None = None) -> Tensor:  # fmt: skip
    _same_size(input, target)
    return _generated.huber_loss(input, target, reduction, delta, weight)


@overridable
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None,
                         size_average: bool | None = None, reduce: bool | None = None,
                         reduction: str = "mean") -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.binary_cross_entropy(input, target, weight, reduction)


@overridable
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                     size_average: bool | None = None, reduce: bool | None = None,
                                     reduction: str = "mean",
                                     pos_weight: Tensor | None = None) -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.binary_cross_entropy_with_logits(
        input, target, weight, reduction, pos_weight
    )


@overridable
def kl_div(input: Tensor, target: Tensor, size_average: bool | None = None,
           reduce: bool | None = None, reduction: str = "mean",
           log_target: bool = False) -> Tensor:  # fmt: skip
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
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False,
                     size_average: bool | None = None, eps: float = 1e-8,
                     reduce: bool | None = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.poisson_nll_loss(input, target, log_input, full, eps, reduction)


@overridable
def gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor | float, full: bool = False,
                      eps: float = 1e-6, reduction: str = "mean") -> Tensor:  # fmt: skip
    return _generated.gaussian_nll_loss(input, target, var, full, eps, reduction)


@overridable
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any,
             blank: int = 0, reduction: str = "mean",
             zero_infinity: bool = False) -> Tensor:  # fmt: skip
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
    return _generated.ctc_loss(log_probs, targets, _lengths(input_lengths),
                               _lengths(target_lengths), blank, reduction,
                               zero_infinity)  # fmt: skip


def _lengths(given: Any) -> Tensor:
    return given if isinstance(given, Tensor) else tensor(given, dtype=int64)


__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "ctc_loss", "gaussian_nll_loss",
    "huber_loss", "kl_div", "poisson_nll_loss", "smooth_l1_loss",
]  # fmt: skip

for _function in (mse_loss, nll_loss, cross_entropy, l1_loss, smooth_l1_loss, huber_loss,
                  binary_cross_entropy, binary_cross_entropy_with_logits, kl_div, poisson_nll_loss,
                  gaussian_nll_loss):  # fmt: skip
    _function.__doc__ = getattr(_generated, _function.__name__).__doc__

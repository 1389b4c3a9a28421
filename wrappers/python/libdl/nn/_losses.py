# SPDX-License-Identifier: Apache-2.0
"""The losses as functions, with PyTorch's signatures: size_average and reduce are the predecessors
of reduction, and keep their places among the arguments."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import warnings
from typing import Any

from .. import _functional as _generated
from .._C import Tensor


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
        stacklevel=3,
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


def l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
            reduce: bool | None = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    """The absolute differences, their "mean" or "sum", or all of them ("none")."""
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    _same_size(input, target)
    difference = (input - target).abs()
    if reduction == "none":
        return difference
    if reduction not in ("mean", "sum"):
        raise ValueError(
            f'l1_loss: argument 5 (reduction) is "{reduction}", wanted "none", "mean" or "sum"'
        )
    return difference.mean() if reduction == "mean" else difference.sum()


def mse_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
             reduce: bool | None = None, reduction: str = "mean",
             weight: Tensor | None = None) -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    _same_size(input, target)
    return _generated.mse_loss(input, target, reduction, weight)


def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None,
             size_average: bool | None = None, ignore_index: int = -100,
             reduce: bool | None = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.nll_loss(input, target, weight, ignore_index, reduction)


def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None,
                  size_average: bool | None = None, ignore_index: int = -100,
                  reduce: bool | None = None, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:  # fmt: skip
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    return _generated.cross_entropy(
        input, target, weight, ignore_index, reduction, label_smoothing
    )


for _function in (mse_loss, nll_loss, cross_entropy):
    _function.__doc__ = getattr(_generated, _function.__name__).__doc__

# SPDX-License-Identifier: Apache-2.0
"""Dropout under its names in torch's top namespace. One that drops nothing returns its input."""

from __future__ import annotations


from . import _C, _functions
from ._C import Tensor, overridable

__all__ = ["alpha_dropout", "dropout", "feature_alpha_dropout", "feature_dropout"]


def drops_nothing(input: Tensor, p: float, training: bool) -> bool:
    """Whether the input is the result, and a call in place raises no version that backward
    compares. Calls that a mode or a subclass sees are left to it, and wrong ones to the checks."""
    if not isinstance(input, Tensor) or _C.has_override(input):
        return False
    return 0 <= p <= 1 and (p == 0 or not training or input.numel() == 0)


@overridable
def dropout(input: Tensor, p: float, train: bool, *, out: Tensor | None = None) -> Tensor:
    """Elements set to zero with probability p, the others divided by 1 - p."""
    if out is None and drops_nothing(input, p, train):
        return input
    return _functions.dropout(input, p, train, out=out)


@overridable
def feature_dropout(input: Tensor, p: float, train: bool, *, out: Tensor | None = None) -> Tensor:
    """Whole channels of [n, c, ...] set to zero with probability p, the others divided by 1 - p."""
    if out is None and drops_nothing(input, p, train):
        return input
    return _functions.feature_dropout(input, p, train, out=out)


@overridable
def alpha_dropout(input: Tensor, p: float, train: bool, *, out: Tensor | None = None) -> Tensor:
    """Elements set to selu's limit with probability p; mean 0 and variance 1 stay what they are."""
    if out is None and drops_nothing(input, p, train):
        return input
    return _functions.alpha_dropout(input, p, train, out=out)


@overridable
def feature_alpha_dropout(
    input: Tensor, p: float, train: bool, *, out: Tensor | None = None
) -> Tensor:
    """alpha_dropout of whole channels of [n, c, ...]: mean 0 and variance 1 stay what they are."""
    if out is None and drops_nothing(input, p, train):
        return input
    return _functions.feature_alpha_dropout(input, p, train, out=out)

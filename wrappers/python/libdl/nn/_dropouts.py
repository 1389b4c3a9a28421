# SPDX-License-Identifier: Apache-2.0
"""Variants of dropout, with PyTorch's signatures."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import warnings
from typing import Any

from .. import _C, _functions
from .._C import Tensor, overridable
from .._dropping import drops_nothing
from .._errors import ShapeError

__all__ = ["alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]


def _by_channel(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    if drops_nothing(input, p, training):
        return input
    if inplace:
        return _C.feature_dropout_into(input, p, training, None, input)
    return _functions.feature_dropout(input, p, training)


def _with_batch(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    """The same of a sample without a batch."""
    if inplace:
        _by_channel(input.unsqueeze(0), p, training, True)
        return input
    return _by_channel(input.unsqueeze(0), p, training, False).squeeze(0)


@overridable
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True,
              inplace: bool = False) -> Tensor:  # fmt: skip
    """Whole channels of [n, c, l] or [c, l] set to zero with probability p, the others divided by
    1 - p."""
    if input.ndim not in (2, 3):
        raise ShapeError(
            f"dropout1d: argument 1 (input) has shape {list(input.shape)}, wanted [n, c, l] or "
            "[c, l]")
    return (_by_channel if input.ndim == 3 else _with_batch)(input, p, training, inplace)


@overridable
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True,
              inplace: bool = False) -> Tensor:  # fmt: skip
    """Whole channels of [n, c, h, w] set to zero with probability p, the others divided by 1 - p.
    Three dimensions are read as [n, c, l], as in PyTorch."""
    if input.ndim not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {input.ndim}-D input to dropout2d, which is deprecated; "
            "please use dropout instead", stacklevel=2)
    if input.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input, which is interpreted as (N, C, L); please use "
            "dropout1d instead", stacklevel=2)
    return _by_channel(input, p, training, inplace)


@overridable
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True,
              inplace: bool = False) -> Tensor:  # fmt: skip
    """Whole channels of [n, c, d, h, w] or [c, d, h, w] set to zero with probability p, the others
    divided by 1 - p."""
    if input.ndim not in (4, 5):
        warnings.warn(
            f"dropout3d: Received a {input.ndim}-D input to dropout3d, which is deprecated; "
            "please use dropout instead", stacklevel=2)
    return (_by_channel if input.ndim == 5 else _with_batch)(input, p, training, inplace)


@overridable
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False,
                  inplace: bool = False) -> Tensor:  # fmt: skip
    """Elements set to selu's limit with probability p; mean 0 and variance 1 stay what they are."""
    if drops_nothing(input, p, training):
        return input
    if inplace:
        return _C.alpha_dropout_into(input, p, training, None, input)
    return _functions.alpha_dropout(input, p, training)


@overridable
def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False,
                          inplace: bool = False) -> Tensor:  # fmt: skip
    """alpha_dropout of whole channels."""
    if drops_nothing(input, p, training):
        return input
    if inplace:
        return _C.feature_alpha_dropout_into(input, p, training, None, input)
    return _functions.feature_alpha_dropout(input, p, training)

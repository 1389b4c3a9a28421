# SPDX-License-Identifier: Apache-2.0
"""Masks of attention: one form for all of them, and which mask is the causal one."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any

from .._C import Tensor
from .._functions import full, zeros
from .._types import bool_


def canonical_mask(mask: Tensor | None, mask_name: str, other_type: Any = None,
                   other_name: str = "", target_type: Any = None,
                   check_other: bool = True) -> Tensor | None:  # fmt: skip
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
    made = zeros(mask.shape, dtype=target_type, device=mask.device)
    return made.masked_fill_(mask, -math.inf)


def none_or_dtype(input: Any) -> Any:
    """The dtype of a tensor, None of None."""
    if input is None or isinstance(input, Tensor):
        return None if input is None else input.dtype
    raise RuntimeError(f"none_or_dtype: argument 1 (input) is a {type(input).__name__}, wanted a "
                       "tensor or None")  # fmt: skip


def square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
    """[sz, sz]: -inf above the diagonal, 0 elsewhere; True and False in bool."""
    fill: Any = True if dtype == bool_ else -math.inf
    return full((sz, sz), fill, dtype=dtype, device=device).triu(1)


def is_causal_mask(mask: Tensor | None, is_causal: bool | None = None,
                   size: int | None = None) -> bool:  # fmt: skip
    """The hint is_causal, or without one whether the mask is the causal one of size steps."""
    if is_causal is not None or mask is None:
        return is_causal is True
    if mask.is_meta:
        return False
    wanted = square_subsequent_mask(mask.shape[-2] if size is None else size)
    if mask.shape != wanted.shape:
        return False
    if mask.dtype == bool_:
        wanted = wanted != 0
    return bool((mask == wanted.to(mask.device)).all())


def sequence_length(src: Tensor, batch_first: bool) -> int:
    """The number of steps of [s, e], [s, n, e] or, with batch_first, [n, s, e]."""
    return int(src.shape[1 if src.ndim != 2 and batch_first else 0])

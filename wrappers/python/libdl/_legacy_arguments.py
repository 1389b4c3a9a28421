# SPDX-License-Identifier: Apache-2.0
"""Orders of arguments from PyTorch's first years: add(input, alpha, other)."""

from __future__ import annotations

from typing import Any

from ._C import Tensor


def leading_number(
    function: str, named: object, number: object, *tensors: object
) -> tuple[Any, ...]:
    """The number and what it stands before. named: what was given for it by name, 1 if nothing."""
    if named != 1 or isinstance(number, Tensor) or not hasattr(number, "__float__"):
        raise TypeError(
            f"{function}: found {len(tensors) + 2} arguments by position, wanted "
            f"{len(tensors) + 1}, or a number before the last {len(tensors)}"
        )
    return number, *tensors

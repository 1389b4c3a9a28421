# SPDX-License-Identifier: Apache-2.0
"""The dimension that a function composed in Python is told."""

from __future__ import annotations

from operator import index
from typing import Any

from ._C import Tensor
from ._errors import ArgumentTypeError, IndexRangeError


def one_dimension(function: str, argument: int, dim: Any, ndim: int) -> int:
    """dim, checked: one integer in the range of ndim dimensions; what has none counts as having
    one."""
    try:
        if isinstance(dim, bool):
            raise TypeError
        number = index(dim)
    except TypeError:
        raise ArgumentTypeError(
            f"{function}: argument {argument} (dim) is {dim!r}, wanted an integer"
        ) from None
    size = max(ndim, 1)
    if not -size <= number < size:
        raise IndexRangeError(
            f"{function}: argument {argument} (dim) is {dim}, wanted {-size} to {size - 1}"
        )
    return number


def one_or_none(function: str, argument: int, dim: Any, input: Tensor) -> int | None:
    return None if dim is None else one_dimension(function, argument, dim, input.ndim)

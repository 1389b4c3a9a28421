# SPDX-License-Identifier: Apache-2.0
"""PyTorch's private torch._prims_common: questions about dtypes and shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._C import Tensor
from ._types import dtype

DeviceLikeType = Any
NumberType = bool | int | float | complex
Number = NumberType
ShapeType = Sequence[int]
StrideType = Sequence[int]
DimsSequenceType = Sequence[int]
DimsType = int | Sequence[int]
TensorLikeType = Tensor
TensorLike = Tensor


def is_boolean_dtype(dtype: dtype) -> bool:
    return dtype.name == "bool"


def is_complex_dtype(dtype: dtype) -> bool:
    return dtype.is_complex


def is_float_dtype(dtype: dtype) -> bool:
    return dtype.is_floating_point


def is_integer_dtype(dtype: dtype) -> bool:
    return not (dtype.is_floating_point or dtype.is_complex or is_boolean_dtype(dtype))


def corresponding_real_dtype(dtype: dtype) -> dtype:
    return dtype.to_real()


def corresponding_complex_dtype(dtype: dtype) -> dtype:
    return dtype.to_complex()


def is_contiguous(a: Tensor) -> bool:
    return bool(a.is_contiguous())


is_contiguous_or_false = is_contiguous


def canonicalize_dim(rank: int, idx: int, wrap_scalar: bool = True) -> int:
    """The dimension counted from the front. IndexError if there is none."""
    size = max(rank, 1) if wrap_scalar else rank
    if not -size <= idx < size:
        raise IndexError(f"canonicalize_dim: dim is {idx}, wanted {-size} to {size - 1}")
    return idx % size


def make_contiguous_strides_for(shape: Sequence[int], row_major: bool = True) -> tuple[int, ...]:
    """The strides of dense elements; row_major=False: of columns, in the last two dimensions."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    if not row_major and len(shape) > 1:
        strides[-2:] = [1, max(shape[-2], 1)]
    return tuple(strides)


def alert_not_deterministic(caller: str) -> None:
    """Changes nothing: results are deterministic."""

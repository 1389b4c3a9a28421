# SPDX-License-Identifier: Apache-2.0
"""Products of groups of rows, as of the tokens of each expert, and products of scaled float8."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import enum
from itertools import pairwise
from typing import Any, NoReturn

from .. import _functions as f
from .._C import Tensor, overridable
from .._errors import ArgumentValueError, DtypeError, IndexRangeError, ShapeError, UnsupportedError
from .._types import bfloat16, dtype as Dtype, float16, float32, int32

__all__ = ["ScalingType", "SwizzleType", "grouped_mm", "scaled_grouped_mm", "scaled_mm"]


@overridable
def grouped_mm(mat_a: Tensor, mat_b: Tensor, *, offs: Tensor | None = None,
               bias: Tensor | None = None, out_dtype: Dtype | None = None) -> Tensor:  # fmt: skip
    """One product for each group. A matrix is cut into groups, a 3-d operand has them in its first
    dimension.

    Arguments:
        mat_a: [n, k] whose rows are cut, [groups, n, k], or [n, k] whose columns are cut if mat_b
            is a matrix too
        mat_b: [groups, k, m], [k, m] whose columns are cut, or [k, m] whose rows are cut if mat_a
            is a matrix too
        offs: int32, where each group ends, ascending; what lies behind the last one is in no group,
            and 0 in the result; None if both operands are 3-d
        bias: None
        out_dtype: None, or that of mat_a

    Returns:
        [n, m] of 2-d and 3-d or 3-d and 2-d operands, else [groups, n, m]

    Example:
        >>> tokens = torch.tensor([[1., 0.], [0., 1.], [1., 1.]])
        >>> experts = torch.tensor([[[1., 2.], [3., 4.]], [[10., 20.], [30., 40.]]])
        >>> F.grouped_mm(tokens, experts, offs=torch.tensor([2, 3], dtype=torch.int32))
        tensor([[ 1.,  2.],
                [ 3.,  4.],
                [40., 60.]])
    """
    _check(mat_a, mat_b, offs, bias, out_dtype)
    if offs is None:
        return f.bmm(mat_a, mat_b)
    whole = mat_b.shape[1] if mat_a.ndim == 3 else mat_a.shape[0 if mat_b.ndim == 3 else 1]
    parts = _parts(offs, whole, _groups(mat_a, mat_b))
    if mat_a.ndim == mat_b.ndim:
        return f.stack([f.mm(mat_a[:, i:j], mat_b[i:j]) for i, j in parts])
    if mat_a.ndim == 2:
        made = [f.mm(mat_a[i:j], b) for (i, j), b in zip(parts, mat_b.unbind(), strict=True)]
        return _filled(made, 0, whole, (0, mat_b.shape[2]), mat_a)
    made = [f.mm(a, mat_b[:, i:j]) for (i, j), a in zip(parts, mat_a.unbind(), strict=True)]
    return _filled(made, 1, whole, (mat_a.shape[1], 0), mat_a)


def _groups(mat_a: Tensor, mat_b: Tensor) -> int | None:
    """The number of groups that a 3-d operand has."""
    return next((x.shape[0] for x in (mat_a, mat_b) if x.ndim == 3), None)


def _filled(made: list[Tensor], dim: int, whole: int, shape: tuple[int, int],
            like: Tensor) -> Tensor:  # fmt: skip
    """The groups' products beside each other, and zeros for what is in no group."""
    rest = list(shape)
    rest[dim] = whole - sum(x.shape[dim] for x in made)
    return f.cat([*made, f.zeros(rest, dtype=like.dtype, device=like.device)], dim)


def _check(mat_a: Tensor, mat_b: Tensor, offs: Tensor | None, bias: Tensor | None,
           out_dtype: Dtype | None) -> None:  # fmt: skip
    name = "grouped_mm: argument"
    for place, x in (("1 (mat_a)", mat_a), ("2 (mat_b)", mat_b)):
        if x.ndim not in (2, 3):
            raise ShapeError(f"{name} {place} has shape {list(x.shape)}, wanted 2 or 3 dimensions")
        if x.dtype not in (float32, float16, bfloat16):
            raise DtypeError(f"{name} {place} is {x.dtype}, wanted float32, float16 or bfloat16")
    if mat_a.dtype is not mat_b.dtype:
        raise DtypeError(f"{name} 2 (mat_b) is {mat_b.dtype}, wanted {mat_a.dtype} as mat_a is")
    if mat_a.shape[-1] != mat_b.shape[-2]:
        raise ShapeError(f"{name} 2 (mat_b) has shape {list(mat_b.shape)}, wanted "
                         f"{mat_a.shape[-1]} rows, the columns of mat_a")  # fmt: skip
    if mat_a.ndim == mat_b.ndim == 3 and len(mat_a) != len(mat_b):
        raise ShapeError(f"{name} 2 (mat_b) has {len(mat_b)} groups, wanted {len(mat_a)} as mat_a")
    if (offs is None) != (mat_a.ndim == mat_b.ndim == 3):
        told = ("None, wanted a tensor, for an operand is a matrix" if offs is None
                else "a tensor, wanted None for 3-d operands")  # fmt: skip
        raise ArgumentValueError(f"{name} (offs) is {told}")
    if offs is not None and (offs.dtype is not int32 or offs.ndim != 1):
        raise DtypeError(f"{name} (offs) is {offs.dtype} of shape {list(offs.shape)}, wanted int32, "
                         "1-d")  # fmt: skip
    if bias is not None:
        raise UnsupportedError(f"{name} (bias) is a tensor; PyTorch takes none yet, nor does libdl")
    if out_dtype not in (None, mat_a.dtype):
        raise DtypeError(f"{name} (out_dtype) is {out_dtype}, wanted {mat_a.dtype} as mat_a is")


def _parts(offs: Tensor, whole: int, groups: int | None) -> list[tuple[int, int]]:
    """Where each group begins and ends. On meta the last one has all."""
    unseen = offs.is_meta
    ends: list[int] = [0] * (len(offs) - 1) + [whole] * min(len(offs), 1) if unseen else offs.tolist()
    if groups is not None and len(ends) != groups:
        raise ShapeError(f"grouped_mm: argument (offs) has {len(ends)} elements, wanted {groups}, one "
                         "a group")  # fmt: skip
    bounds = list(pairwise([0, *ends]))
    if any(not 0 <= begin <= end <= whole for begin, end in bounds):
        raise IndexRangeError(f"grouped_mm: argument (offs) is {ends}, wanted ends that ascend, "
                              f"{whole} at most")  # fmt: skip
    return bounds


class ScalingType(enum.Enum):
    """What one scale belongs to: the tensor, a row, or a block."""

    TensorWise = 0
    RowWise = 1
    BlockWise1x16 = 2
    BlockWise1x32 = 3
    BlockWise1x128 = 4
    BlockWise128x128 = 5


class SwizzleType(enum.Enum):
    """The order of scales in memory."""

    NO_SWIZZLE = 0
    SWIZZLE_32_4_4 = 1
    SWIZZLE_32_8 = 2


def _no_float8(name: str) -> NoReturn:
    raise UnsupportedError(f"{name}: its operands are float8, and no tensor has this dtype yet")


@overridable
def scaled_mm(mat_a: Tensor, mat_b: Tensor, *args: Any, **options: Any) -> Tensor:
    """Raises: the operands of a scaled product are float8, which no tensor has."""
    _no_float8("scaled_mm")


@overridable
def scaled_grouped_mm(mat_a: Tensor, mat_b: Tensor, *args: Any, **options: Any) -> Tensor:
    """Raises: the operands of a scaled product are float8, which no tensor has."""
    _no_float8("scaled_grouped_mm")

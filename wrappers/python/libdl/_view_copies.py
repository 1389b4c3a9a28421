# SPDX-License-Identifier: Apache-2.0
"""Copies of what views show."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _functions as f
from ._C import Tensor, overridable
from ._errors import IndexRangeError
from ._out import copied
from ._types import contiguous_format

__all__ = [
    "alias_copy",
    "as_strided_copy",
    "detach_copy",
    "diagonal_copy",
    "expand_copy",
    "narrow_copy",
    "permute_copy",
    "select_copy",
    "slice_copy",
    "split_copy",
    "split_with_sizes_copy",
    "squeeze_copy",
    "t_copy",
    "transpose_copy",
    "unbind_copy",
    "unfold_copy",
    "unsqueeze_copy",
    "view_as_complex_copy",
    "view_as_real_copy",
    "view_copy",
]


def _slice(x: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Tensor:
    if not -x.ndim <= dim < x.ndim:
        raise IndexRangeError(f"slice: argument dim is {dim}, wanted {-x.ndim} to {x.ndim - 1}")
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


def _copy_of(view: str, of: Callable[..., Any] | None = None) -> Any:
    @overridable
    def copy(input: Tensor, *args: object, out: Any = None, **named: object) -> Any:
        made = (of or getattr(Tensor, view))(input, *args, **named)
        if not isinstance(made, tuple):
            return _fresh(made) if out is None else copied(made, out)
        if out is None:
            return tuple(_fresh(x) for x in made)
        for x, place in zip(made, out, strict=True):
            copied(x, place)
        return None

    copy.__name__ = copy.__qualname__ = f"{view}_copy"
    copy.__doc__ = f"A row-major copy of what {view} shows of input."
    return copy


def _fresh(x: Tensor) -> Tensor:
    return f.clone(x, memory_format=contiguous_format)


alias_copy = _copy_of("alias", lambda input: input)
slice_copy = _copy_of("slice", _slice)
as_strided_copy, detach_copy, diagonal_copy, expand_copy = map(
    _copy_of, ("as_strided", "detach", "diagonal", "expand")
)
narrow_copy, permute_copy, select_copy, split_copy, split_with_sizes_copy = map(
    _copy_of, ("narrow", "permute", "select", "split", "split_with_sizes")
)
squeeze_copy, t_copy, transpose_copy, unbind_copy, unfold_copy = map(
    _copy_of, ("squeeze", "t", "transpose", "unbind", "unfold")
)
unsqueeze_copy, view_copy = map(_copy_of, ("unsqueeze", "view"))
view_as_complex_copy = _copy_of("view_as_complex", f.view_as_complex)
view_as_real_copy = _copy_of("view_as_real", f.view_as_real)

setattr(Tensor, "narrow_copy", narrow_copy)

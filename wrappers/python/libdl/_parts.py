# SPDX-License-Identifier: Apache-2.0
"""Parts of a tensor: cut out in PyTorch's special ways, or copied instead of viewed."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import _functions as f, _overloads as o
from ._C import Tensor, overridable
from ._errors import IndexRangeError
from ._out import copied
from ._shapes import splitter
from ._types import contiguous_format

__all__ = [
    "alias_copy", "as_strided_copy", "detach_copy", "diagonal_copy", "dsplit", "expand_copy",
    "hsplit", "narrow_copy", "permute_copy", "select_copy", "slice_copy", "split_copy",
    "split_with_sizes_copy", "squeeze_copy", "t_copy", "transpose_copy", "unbind_copy",
    "unfold_copy", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes", "unsqueeze_copy",
    "view_as_complex_copy", "view_as_real_copy", "view_copy", "vsplit",
]  # fmt: skip


def _slice(x: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Tensor:
    if not -x.ndim <= dim < x.ndim:
        raise IndexRangeError(f"slice: argument dim is {dim}, wanted {-x.ndim} to {x.ndim - 1}")
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


# -- cut out ---------------------------------------------------------------------------------------


hsplit = splitter("hsplit", "dimension 1, or 0 of a vector")
vsplit = splitter("vsplit", "dimension 0")
dsplit = splitter("dsplit", "dimension 2")


@overridable
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """See chunk: libdl's views may always be written."""
    return f.chunk(input, chunks, dim)


@overridable
def unsafe_split(tensor: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """See split: libdl's views may always be written."""
    return o.split(tensor, split_size, dim)


@overridable
def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """See split: libdl's views may always be written."""
    return o.split(input, list(split_sizes), dim)


# -- copies of views -------------------------------------------------------------------------------


def _copy_of(view: str, of: Callable[..., Any] | None = None) -> Any:
    @overridable
    def copy(input: Tensor, *args: Any, out: Any = None, **named: Any) -> Any:
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
    _copy_of, ("as_strided", "detach", "diagonal", "expand"))  # fmt: skip
narrow_copy, permute_copy, select_copy, split_copy, split_with_sizes_copy = map(
    _copy_of, ("narrow", "permute", "select", "split", "split_with_sizes"))  # fmt: skip
squeeze_copy, t_copy, transpose_copy, unbind_copy, unfold_copy = map(
    _copy_of, ("squeeze", "t", "transpose", "unbind", "unfold"))  # fmt: skip
unsqueeze_copy, view_copy = map(_copy_of, ("unsqueeze", "view"))
view_as_complex_copy = _copy_of("view_as_complex", f.view_as_complex)
view_as_real_copy = _copy_of("view_as_real", f.view_as_real)


for _method in (
    dsplit, hsplit, narrow_copy, unsafe_chunk, unsafe_split, unsafe_split_with_sizes, vsplit,
):  # fmt: skip
    setattr(Tensor, _method.__name__, _method)

# SPDX-License-Identifier: Apache-2.0
"""Parts of a tensor: written into a copy, cut out in PyTorch's special ways, or copied instead of
viewed."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import _functions as f, _overloads as o
from ._C import Tensor
from ._errors import ArgumentValueError, IndexRangeError, ShapeError
from ._out import copied
from ._overrides import own_function
from ._shapes import diag, tensor_split, vstack
from ._types import contiguous_format

__all__ = [
    "adjoint", "alias_copy", "argwhere", "as_strided_copy", "as_strided_scatter", "detach_copy",
    "diagflat", "diagonal_copy", "diagonal_scatter", "dsplit", "expand_copy", "fliplr", "flipud",
    "hsplit", "msort", "narrow_copy", "nonzero_static", "permute_copy", "ravel", "row_stack",
    "select_copy", "select_scatter", "slice_copy", "slice_scatter", "split_copy",
    "split_with_sizes_copy", "squeeze_copy", "t_copy", "transpose_copy", "unbind_copy",
    "unfold_copy", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes", "unsqueeze_copy",
    "view_as_complex_copy", "view_as_real_copy", "view_copy", "vsplit",
]  # fmt: skip


# -- written into a copy ---------------------------------------------------------------------------


def _with_part(function: str, input: Tensor, src: Tensor, part: Callable[[Tensor], Tensor]) -> Tensor:
    """A copy of input, of which src is one part."""
    made = f.clone(input)
    place = part(made)
    _same_shape(function, place, src)
    place.copy_(src)
    return made


def _same_shape(function: str, place: Tensor, src: Tensor) -> None:
    if place.shape != src.shape:
        raise ShapeError(f"{function}: argument 2 (src) has shape {list(src.shape)}, wanted that of the "
                         f"part, {list(place.shape)}")  # fmt: skip


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy of input in which src is input.select(dim, index)."""
    return _with_part("select_scatter", input, src, lambda x: f.select(x, dim, index))


def _slice(x: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Tensor:
    if not -x.ndim <= dim < x.ndim:
        raise IndexRangeError(f"slice: argument dim is {dim}, wanted {-x.ndim} to {x.ndim - 1}")
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


def slice_scatter(input: Tensor, src: Tensor, dim: int = 0, start: int | None = None,
                  end: int | None = None, step: int = 1) -> Tensor:  # fmt: skip
    """A copy of input in which src is the slice start:end:step along dim."""
    return _with_part("slice_scatter", input, src, lambda x: _slice(x, dim, start, end, step))


def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0,
                     dim2: int = 1) -> Tensor:  # fmt: skip
    """A copy of input in which src is input.diagonal(offset, dim1, dim2)."""
    return _with_part("diagonal_scatter", input, src, lambda x: f.diagonal(x, offset, dim1, dim2))


def as_strided_scatter(input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int],
                       storage_offset: int | None = None) -> Tensor:  # fmt: skip
    """A copy of input, with its strides, in which src is input.as_strided(size, stride, offset)."""
    offset = 0 if storage_offset is None else storage_offset - input.storage_offset()
    steps = zip(input.shape, input.stride(), strict=True)
    count = 1 + sum((n - 1) * step for n, step in steps) if input.numel() else 0
    memory = f.as_strided(input, (count,), (1,), input.storage_offset()).clone()
    place = f.as_strided(memory, size, stride, offset)
    _same_shape("as_strided_scatter", place, src)
    place.copy_(src)
    return f.as_strided(memory, input.shape, input.stride(), 0)


# -- cut out ---------------------------------------------------------------------------------------


def _splitter(name: str, least: int, axis: Callable[[int], int]) -> Any:
    def split(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
        if input.ndim < least:
            raise ShapeError(f"{name}: argument 1 (input) has shape {list(input.shape)}, wanted {least} "
                             "dimensions or more")  # fmt: skip
        dim, parts = axis(input.ndim), indices_or_sections
        if isinstance(parts, int) and (parts < 1 or input.shape[dim] % parts):
            raise ArgumentValueError(f"{name}: argument 2 is {parts}, wanted a divisor of size "
                                     f"{input.shape[dim]}")  # fmt: skip
        return tensor_split(input, parts, dim)

    split.__name__ = split.__qualname__ = name
    split.__doc__ = f"Views of equal parts, or of those between indices, along {_ALONG[name]}."
    return split


_ALONG = {"hsplit": "dimension 1, or 0 of a vector", "vsplit": "dimension 0", "dsplit": "dimension 2"}
hsplit = _splitter("hsplit", 1, lambda ndim: 0 if ndim == 1 else 1)
vsplit = _splitter("vsplit", 2, lambda ndim: 0)
dsplit = _splitter("dsplit", 3, lambda ndim: 2)


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """See chunk: libdl's views may always be written."""
    return f.chunk(input, chunks, dim)


def unsafe_split(tensor: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """See split: libdl's views may always be written."""
    return o.split(tensor, split_size, dim)


def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """See split: libdl's views may always be written."""
    return o.split(input, list(split_sizes), dim)


def argwhere(input: Tensor) -> Tensor:
    """The indices of what is not 0, as rows."""
    return f.nonzero(input)


def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1,
                   out: Tensor | None = None) -> Tensor:  # fmt: skip
    """The first `size` rows of nonzero, filled up with rows of fill_value."""
    if size < 0:
        raise ArgumentValueError(f"nonzero_static: argument size is {size}, wanted 0 or more")
    if input.is_meta:
        return copied(f.empty((size, input.ndim), dtype=int, device="meta"), out)
    rows = f.nonzero(input)[:size]
    made = f.cat([rows, rows.new_full((size - rows.shape[0], rows.shape[1]), fill_value)])
    return copied(made, out)


# -- turned and ordered ----------------------------------------------------------------------------


def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions exchanged, and complex numbers conjugated: .mH."""
    return input.mH


def fliplr(input: Tensor) -> Tensor:
    """Columns in the opposite order."""
    if input.ndim < 2:
        raise ShapeError(f"fliplr: argument 1 (input) has shape {list(input.shape)}, wanted two dimensions "
                         "or more")  # fmt: skip
    return f.flip(input, (1,))


def flipud(input: Tensor) -> Tensor:
    """Rows in the opposite order."""
    if input.ndim < 1:
        raise ShapeError("flipud: argument 1 (input) is 0-d, wanted one dimension or more")
    return f.flip(input, (0,))


def ravel(input: Tensor) -> Tensor:
    """The elements in one contiguous dimension: a view if possible, else a copy."""
    return input.ravel()


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix whose diagonal holds all elements."""
    return diag(input.reshape(-1), offset)


def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The values in ascending order along dimension 0."""
    return copied(f.sort(input, 0).values if input.ndim else f.clone(input), out)


row_stack = own_function(vstack, "row_stack", "libdl")


# -- copies of views -------------------------------------------------------------------------------


def _copy_of(view: str, of: Callable[..., Any] | None = None) -> Any:
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
    adjoint, argwhere, as_strided_scatter, diagflat, diagonal_scatter, dsplit, fliplr, flipud, hsplit, msort,
    narrow_copy, nonzero_static, select_scatter, slice_scatter, unsafe_chunk, unsafe_split,
    unsafe_split_with_sizes, vsplit,
):  # fmt: skip
    setattr(Tensor, _method.__name__, _method)

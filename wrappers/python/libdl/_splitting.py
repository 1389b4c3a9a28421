# SPDX-License-Identifier: Apache-2.0
"""Views of the parts of a tensor, in the ways that have several names or signatures."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import _C, _functions as f, _overloads as o
from ._C import Tensor, overridable
from ._errors import Error, rename_error

__all__ = [
    "dsplit",
    "hsplit",
    "tensor_split",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "vsplit",
]


def _split_by(function: Any, input: Tensor, parts: object, *dim: int) -> tuple[Tensor, ...]:
    """The views that C's function of a number of parts makes, or its other one, of indices."""
    name = function.__name__
    values = parts.tolist() if isinstance(parts, Tensor) else parts
    try:
        if isinstance(values, int):
            return getattr(_C, name)(input, values, *dim)
        return getattr(_C, f"{name}_indices")(input, values, *dim)
    except Error as error:
        rename_error(error, name)
        raise


@overridable
def tensor_split(
    input: Tensor,
    indices_or_sections: int | Sequence[int] | Tensor | None = None,
    dim: int = 0,
    *,
    sections: int | None = None,
    indices: Sequence[int] | None = None,
) -> tuple[Tensor, ...]:
    """Views of equal parts, the first ones larger by one where needed; or parts between indices."""
    parts = _given("tensor_split", indices_or_sections, sections, indices)
    return _split_by(tensor_split, input, parts, dim)


def _given(function: str, *parts: object) -> Any:
    """The one argument that says where parts end."""
    results = [x for x in parts if x is not None]
    if len(results) != 1:
        raise TypeError(
            f"{function}: wanted one of a number of sections and indices, found {len(results)}"
        )
    return results[0]


def _splitter(name: str, along: str) -> Callable[..., tuple[Tensor, ...]]:
    """hsplit and its like."""

    @overridable
    def split(
        input: Tensor,
        indices_or_sections: object = None,
        *,
        sections: object = None,
        indices: Sequence[int] | None = None,
    ) -> tuple[Tensor, ...]:
        return _split_by(split, input, _given(name, indices_or_sections, sections, indices))

    split.__name__ = split.__qualname__ = name
    split.__doc__ = f"Views of equal parts, or of those between indices, along {along}."
    return split


hsplit = _splitter("hsplit", "dimension 1, or 0 of a vector")
vsplit = _splitter("vsplit", "dimension 0")
dsplit = _splitter("dsplit", "dimension 2")


@overridable
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """See chunk: libdl's views may always be written."""
    return f.chunk(input, chunks, dim)


@overridable
def unsafe_split(tensor: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """See split: libdl's views may always be written."""
    return o.split(tensor, split_size, dim)


@overridable
def unsafe_split_with_sizes(
    input: Tensor, split_sizes: Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """See split: libdl's views may always be written."""
    return o.split(input, list(split_sizes), dim)


for _method in (
    dsplit,
    hsplit,
    tensor_split,
    unsafe_chunk,
    unsafe_split,
    unsafe_split_with_sizes,
    vsplit,
):
    setattr(Tensor, _method.__name__, _method)

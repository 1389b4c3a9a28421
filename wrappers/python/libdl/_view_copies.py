# SPDX-License-Identifier: Apache-2.0
"""Copies of what views show, where out= is a list or there are several signatures."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from . import _C, _functions as f
from ._C import Overridden, Tensor, overridable
from ._documents import FUNCTIONS
from ._errors import Error, rename_error
from ._out import copied, write
from ._overrides import override
from ._types import dtype as Dtype

__all__ = ["split_copy", "split_with_sizes_copy", "unbind_copy", "view_copy"]


@overload
def split_copy(
    input: Tensor, split_size: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]: ...
@overload
def split_copy(
    input: Tensor, split_size: int | Sequence[int], dim: int = 0, *, out: Sequence[Tensor]
) -> None: ...
@overridable
def split_copy(
    input: Tensor,
    split_size: int | Sequence[int],
    dim: int = 0,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, ...] | None:
    """The parts that split shows, each copied to a row-major tensor."""
    if isinstance(split_size, int):
        return _in_places(f.split_copy(input, split_size, dim), out)
    copies: Any = split_with_sizes_copy
    return copies(input, split_size, dim, out=out)


@overload
def split_with_sizes_copy(
    input: Tensor, split_sizes: Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]: ...
@overload
def split_with_sizes_copy(
    input: Tensor, split_sizes: Sequence[int], dim: int = 0, *, out: Sequence[Tensor]
) -> None: ...
@overridable
def split_with_sizes_copy(
    input: Tensor, split_sizes: Sequence[int], dim: int = 0, *, out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...] | None:
    """The parts that split_with_sizes shows, each copied to a row-major tensor."""
    return _in_places(f.split_with_sizes_copy(input, split_sizes, dim), out)


@overload
def unbind_copy(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]: ...
@overload
def unbind_copy(input: Tensor, dim: int = 0, *, out: Sequence[Tensor]) -> None: ...
@overridable
def unbind_copy(
    input: Tensor, dim: int = 0, *, out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...] | None:
    """The slices that unbind shows, each copied to a row-major tensor."""
    return _in_places(f.unbind_copy(input, dim), out)


def _in_places(
    parts: tuple[Tensor, ...], out: Sequence[Tensor] | None
) -> tuple[Tensor, ...] | None:
    if out is None:
        return parts
    for part, place in zip(parts, out, strict=True):
        copied(part, place)
    return None


@overridable
def view_copy(
    input: Tensor, *shape: Any, size: Any = None, dtype: Any = None, out: Tensor | None = None
) -> Tensor:
    value = size if size is not None else shape[0] if len(shape) == 1 else shape
    if dtype is None and isinstance(value, (Dtype, type)):
        dtype = value
    try:
        if dtype is not None:
            name, arguments = "view_dtype_copy", (input, dtype)
        else:
            name, arguments = "view_copy", (input, [value] if isinstance(value, int) else value)
        if out is not None:
            return write(getattr(_C, f"{name}_into"), arguments, out)
        return getattr(_C, name)(*arguments)
    except Overridden:
        return override(view_copy, input, *shape, size=size, dtype=dtype, out=out)
    except Error as error:
        rename_error(error, "view_copy", "", {"shape": (2, "size"), "dst": (3, "out")})
        raise


view_copy.__doc__ = FUNCTIONS["view_copy"]

# SPDX-License-Identifier: Apache-2.0
"""Norms and products of vectors and matrices, under the names of torch.linalg. There are no
decompositions: no svd, qr, eigh, solve, inv or det."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _functions as f
from ._C import Tensor, overridable
from ._dimensions import one_dimension
from ._errors import (
    ArgumentValueError,
    Error,
    LinAlgError as LinAlgError,
    ShapeError,
    rename_error,
)
from ._functions import matmul as matmul
from ._nuclear_norm import nuclear_norm
from ._out import copied
from ._overrides import own_functions
from ._types import DtypeLike

__all__ = [
    "LinAlgError",
    "cross",
    "diagonal",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "multi_dot",
    "norm",
    "vander",
    "vecdot",
    "vector_norm",
]


def _told(
    name: str, made: Any, arguments: dict[str, tuple[int, str]], *args: Any, **kwargs: Any
) -> Any:
    """made(...), an operator of C, under its name here."""
    try:
        return made(*args, **kwargs)
    except Error as error:
        rename_error(error, f"linalg.{name}", f"linalg_{name}", arguments)
        raise


@overridable
def vector_norm(
    x: Tensor,
    ord: float = 2,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DtypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """(sum of |x|^ord)^(1/ord) over dim; None: over all elements. ord 0 counts those that are not
    0, infinity is the largest size, -infinity the smallest. Integers raise."""
    if isinstance(ord, str):
        raise TypeError(f"linalg.vector_norm: ord is {ord!r}, wanted a number")
    return _told(
        "vector_norm", f.linalg_vector_norm, {}, x, float(ord), dim, keepdim, dtype=dtype, out=out
    )


@overridable
def matrix_norm(
    A: Tensor,
    ord: float | str = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: DtypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The norm of the matrices in the two dimensions dim, of rows and of columns.

    Arguments:
        ord: "fro", "nuc" (the sum of the singular values), 1 and -1 (the largest and the smallest
            sum of a column's sizes), infinity and -infinity (of a row's); 2 and -2 are not offered
    """
    if ord == "nuc":
        return copied(_nuclear(A, dim, keepdim, dtype), out)
    if isinstance(ord, str) and ord != "fro":
        raise ArgumentValueError(
            f"linalg.matrix_norm: ord is {ord!r}, wanted 'fro', 'nuc', 1, -1, inf or -inf"
        )
    number = None if isinstance(ord, str) else float(ord)
    return _told(
        "matrix_norm",
        f.linalg_matrix_norm,
        {"input": (1, "A"), "dims": (3, "dim")},
        A,
        number,
        dim,
        keepdim,
        dtype=dtype,
        out=out,
    )


def _nuclear(A: Tensor, dim: Sequence[int], keepdim: bool, dtype: DtypeLike | None) -> Tensor:
    if A.ndim < 2:
        raise ShapeError(
            f"linalg.matrix_norm: A has shape {list(A.shape)}, wanted 2 dimensions or more"
        )
    if not (A.is_floating_point() or A.is_complex()):
        raise NotImplementedError(
            f"linalg.matrix_norm: found {A.dtype}, wanted a floating or complex dtype"
        )
    dims = [one_dimension("linalg.matrix_norm", 3, d, A.ndim) % A.ndim for d in dim]
    if len(dims) != 2 or dims[0] == dims[1]:
        raise ArgumentValueError(f"linalg.matrix_norm: dim is {tuple(dim)}, wanted two dimensions")
    return nuclear_norm(A, dims, keepdim, dtype)


@overridable
def norm(
    A: Tensor,
    ord: float | str | None = None,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DtypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """vector_norm for one dimension, or for all if ord is None; matrix_norm for two."""
    dims = [dim] if isinstance(dim, int) else None if dim is None else list(dim)
    if dims is not None and len(dims) not in (1, 2):
        raise ArgumentValueError(f"linalg.norm: dim is {dims}, wanted one or two dimensions")
    if ord is None:
        return vector_norm(A, 2, dims, keepdim, dtype=dtype, out=out)
    if dims is None and A.ndim not in (1, 2):
        raise ShapeError(
            f"linalg.norm: A has shape {list(A.shape)}, wanted one or two dimensions, or dim"
        )
    if isinstance(ord, str) or (A.ndim if dims is None else len(dims)) == 2:
        return matrix_norm(A, ord, dims or (-2, -1), keepdim, dtype=dtype, out=out)
    return vector_norm(A, ord, dims, keepdim, dtype=dtype, out=out)


@overridable
def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The vector product along dim, of size 3; the other dimensions broadcast."""
    return _told("cross", f.linalg_cross, {}, input, other, dim=dim, out=out)


@overridable
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The sum of conj(x) * y over dim; the shapes broadcast, but those of two vectors."""
    return _told("vecdot", f.linalg_vecdot, {}, x, y, dim=dim, out=out)


@overridable
def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """The product of matrices, in the order of least multiplications; the first and the last may be
    vectors."""
    return _told("multi_dot", f.linalg_multi_dot, {}, tensors, out=out)


@overridable
def matrix_power(A: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """A @ A @ ... of square matrices, n times; n is 0 or more."""
    return _told("matrix_power", f.linalg_matrix_power, {"input": (1, "A")}, A, n, out=out)


@overridable
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of the matrices, as a view."""
    return f.diagonal(A, offset, dim1, dim2)


@overridable
def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """x^0, x^1, ..., x^(N - 1) as a new last dimension; N, at least 2, is the length of x unless
    given."""
    return _told("vander", f.linalg_vander, {}, x, N=N)


own_functions(globals(), ["matmul"])

import typing as _typing  # noqa: E402

from ._missing import NoName as _NoName  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names

    def __getattr__(name: str) -> Any:
        import importlib

        if not name.startswith("_"):
            refusing = importlib.import_module("._linalg_names", __package__)
            if hasattr(refusing, name):
                return getattr(refusing, name)
        raise _NoName(__name__, name)

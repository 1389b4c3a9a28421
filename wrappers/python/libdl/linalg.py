# SPDX-License-Identifier: Apache-2.0
"""Norms and products of vectors and matrices, under the names of torch.linalg. There are no
decompositions: no svd, qr, eigh, solve, inv or det."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from . import _functions as f
from ._C import Tensor
from ._cast_operands import in_lower
from ._errors import ArgumentValueError, LinAlgError as LinAlgError, ShapeError
from ._functions import eye, matmul as matmul
from ._nuclear import nuclear_norm
from ._out import copied
from ._overrides import own_functions
from ._shapes import cross as _cross
from ._types import DtypeLike

__all__ = ["LinAlgError", "cross", "diagonal", "matmul", "matrix_norm", "matrix_power", "multi_dot",
           "norm", "vander", "vecdot", "vector_norm"]  # fmt: skip


def vector_norm(
    x: Tensor, ord: float = 2, dim: int | Sequence[int] | None = None, keepdim: bool = False,
    *, dtype: DtypeLike | None = None, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """(sum of |x|^ord)^(1/ord) over dim; None: over all elements. ord 0 counts those that are not 0,
    infinity is the largest size, -infinity the smallest. Integers raise."""
    _floating("vector_norm", x)
    if isinstance(ord, str):
        raise TypeError(f"linalg.vector_norm: ord is {ord!r}, wanted a number")
    return f.norm(x, ord, dim, keepdim, dtype, out=out)


def matrix_norm(
    A: Tensor, ord: float | str = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False,
    *, dtype: DtypeLike | None = None, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The norm of the matrices in the two dimensions dim, of rows and of columns.

    Arguments:
        ord: "fro", "nuc" (the sum of the singular values), 1 and -1 (the largest and the smallest sum
            of a column's sizes), infinity and -infinity (of a row's); 2 and -2 are not offered
    """
    if A.ndim < 2:
        raise ShapeError(f"linalg.matrix_norm: A has shape {list(A.shape)}, wanted 2 dimensions or more")
    _floating("matrix_norm", A)
    rows, columns = (d % A.ndim for d in dim)
    if rows == columns:
        raise ArgumentValueError(f"linalg.matrix_norm: dim is {tuple(dim)}, wanted two dimensions")
    if ord == "fro":
        return f.norm(A, 2, (rows, columns), keepdim, dtype, out=out)
    if ord == "nuc":
        return copied(nuclear_norm(A, (rows, columns), keepdim, dtype), out)
    if ord == 2 and 0 in (A.shape[rows], A.shape[columns]):  # no singular values
        return copied(f.sum(A.abs(), (rows, columns), keepdim, dtype=dtype), out)
    if ord in (2, -2):
        raise NotImplementedError(f"linalg.matrix_norm: ord is {ord}, wanted 'fro', 'nuc', 1, -1, inf or "
                                  "-inf: single singular values are not offered")  # fmt: skip
    if ord not in (1, -1, math.inf, -math.inf):
        raise ArgumentValueError(f"linalg.matrix_norm: ord is {ord!r}, wanted 'fro', 'nuc', 1, -1, inf or -inf")
    summed, chosen = (rows, columns) if ord in (1, -1) else (columns, rows)
    sums = f.sum(A.abs(), summed, True, dtype=dtype)
    if float(ord) > 0 and A.shape[chosen] == 0:  # the largest of no sums, as of sizes, is 0
        sums = f.sum(sums, chosen, True)
    found = f.amax(sums, chosen, True) if float(ord) > 0 else f.amin(sums, chosen, True)
    return copied(found if keepdim else found.squeeze((rows, columns)), out)


def norm(
    A: Tensor, ord: float | str | None = None, dim: int | Sequence[int] | None = None,
    keepdim: bool = False, *, dtype: DtypeLike | None = None, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """vector_norm for one dimension, or for all if ord is None; matrix_norm for two."""
    dims = [dim] if isinstance(dim, int) else None if dim is None else list(dim)
    if dims is not None and len(dims) not in (1, 2):
        raise ArgumentValueError(f"linalg.norm: dim is {dims}, wanted one or two dimensions")
    if ord is None:
        return vector_norm(A, 2, dims, keepdim, dtype=dtype, out=out)
    if dims is None and A.ndim not in (1, 2):
        raise ShapeError(f"linalg.norm: A has shape {list(A.shape)}, wanted one or two dimensions, or dim")
    if isinstance(ord, str) or (A.ndim if dims is None else len(dims)) == 2:
        return matrix_norm(A, ord, dims or (-2, -1), keepdim, dtype=dtype, out=out)
    return vector_norm(A, ord, dims, keepdim, dtype=dtype, out=out)


def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The vector product along dim, of size 3; the other dimensions broadcast."""
    if input.ndim != other.ndim:
        raise ShapeError(f"linalg.cross: shapes are {list(input.shape)} and {list(other.shape)}, wanted "
                         "the same number of dimensions")  # fmt: skip
    for x in (input, other):
        if x.shape[dim] != 3:
            raise ShapeError(f"linalg.cross: dimension {dim} of {list(x.shape)} has no size of 3")
    return copied(_cross(input, other, dim), out)


@in_lower
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The sum of conj(x) * y over dim; the shapes broadcast, but those of two vectors."""
    if x.ndim == y.ndim == 1 and x.shape != y.shape:  # two vectors alone do not broadcast
        raise ShapeError(f"linalg.vecdot: argument 2 (y) has shape {list(y.shape)}, wanted {list(x.shape)}")
    return f.sum((x.conj() if x.is_complex() else x) * y, dim, out=out)


def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """The product of matrices, in the order of least multiplications; the first and the last may be
    vectors."""
    if len(tensors) < 2:
        raise ArgumentValueError(f"linalg.multi_dot: found {len(tensors)} tensors, wanted two or more")
    for i, x in enumerate(tensors):
        if x.ndim != 2 and not (x.ndim == 1 and i in (0, len(tensors) - 1)):
            raise ShapeError(f"linalg.multi_dot: tensor {i} has shape {list(x.shape)}, wanted a matrix")
    each = list(tensors)
    left, right = each[0].ndim == 1, each[-1].ndim == 1
    if left:
        each[0] = each[0].unsqueeze(0)
    if right:
        each[-1] = each[-1].unsqueeze(1)
    product = _product(each)
    if left or right:
        product = product.reshape(product.shape[left : 2 - right])
    return copied(product, out)


def _product(each: list[Tensor]) -> Tensor:
    """Dynamic programming over the place of the last product (T. H. Cormen et al., Introduction to
    Algorithms, section 15.2)."""
    n = len(each)
    sizes = [x.shape[0] for x in each] + [each[-1].shape[1]]
    cost: dict[tuple[int, int], tuple[int, int]] = {(i, i): (0, i) for i in range(n)}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i, j] = min(
                (cost[i, k][0] + cost[k + 1, j][0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            )

    def multiplied(i: int, j: int) -> Tensor:
        k = cost[i, j][1]
        return each[i] if i == j else multiplied(i, k) @ multiplied(k + 1, j)

    return multiplied(0, n - 1)


def matrix_power(A: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """A @ A @ ... of square matrices, n times; n is 0 or more."""
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise ShapeError(f"linalg.matrix_power: A has shape {list(A.shape)}, wanted square matrices")
    if n < 0:
        raise NotImplementedError(f"linalg.matrix_power: n is {n}, wanted 0 or more: there is no inverse")
    power, square = None, A
    while n:
        if n % 2:
            power = square if power is None else power @ square
        n //= 2
        if n:
            square = square @ square
    if power is None:
        power = f.where(f.zeros((), dtype=bool, device=A.device), A,  # whose gradient is zeros
                        eye(A.shape[-1], dtype=A.dtype, device=A.device))  # fmt: skip
    return power.clone() if out is None else copied(power, out)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of the matrices, as a view."""
    return f.diagonal(A, offset, dim1, dim2)


def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """x^0, x^1, ..., x^(N - 1) as a new last dimension; N, at least 2, is the length of x unless
    given."""
    if x.dtype.name == "bool":
        raise NotImplementedError("linalg.vander: argument 1 (x) is bool, wanted numbers")
    x = x if x.ndim else x.reshape(1)
    count = x.shape[-1] if N is None else N
    if count < 2:
        raise ArgumentValueError(f"linalg.vander: N is {count}, wanted 2 or more")
    ones = f.ones_like(x).unsqueeze(-1)
    return f.cumprod(f.cat([ones, x.unsqueeze(-1).expand(*x.shape, count - 1)], -1), -1)


def _floating(function: str, x: Tensor) -> None:
    if not (x.is_floating_point() or x.is_complex()):
        raise NotImplementedError(f"linalg.{function}: found {x.dtype}, wanted a floating or complex dtype")


own_functions(globals(), ["matmul"])

import typing as _typing  # noqa: E402

from ._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names

    def __getattr__(name: str) -> Any:
        import importlib

        if not name.startswith("_"):
            refusing = importlib.import_module("._linalg_names", __package__)
            if hasattr(refusing, name):
                return getattr(refusing, name)
        return _missing_names(__name__)(name)

__dir__ = _public_names(__name__)

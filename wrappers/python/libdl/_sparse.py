# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors under PyTorch's names: matrices that hold few rows, as the gradient of a table
that was read with sparse=True. They are always coalesced, and every operator takes them as
matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import _C, _functions
from ._C import Tensor, attribute, overridable
from ._creation import as_tensor
from ._errors import ArgumentValueError, Error, rename_error
from ._types import DeviceLike, dtype as Dtype, int64, layout, sparse_coo, strided

__all__ = ["sparse_coo_tensor"]


def _rows(x: Tensor, name: str) -> tuple[Tensor, Tensor]:
    try:
        return _C.sparse_rows(x)
    except Error as error:
        rename_error(error, name)
        raise


@overridable
def coalesce(self: Tensor) -> Tensor:
    """The tensor itself: a sparse tensor always holds each row once, in order."""
    _rows(self, "coalesce")
    return self


@overridable
def is_coalesced(self: Tensor) -> bool:
    """True, of a sparse tensor."""
    _rows(self, "is_coalesced")
    return True


@overridable
def indices(self: Tensor) -> Tensor:
    """The numbers of the rows that a sparse tensor holds, [1, n]."""
    return _rows(self, "indices")[0].unsqueeze(0)


@overridable
def values(self: Tensor) -> Tensor:
    """A copy of the rows that a sparse tensor holds, [n, columns].

    Example:
        >>> torch.sparse_coo_tensor([[2, 0]], [[3., 4.], [5., 6.]], (3, 2)).coalesce().values()
        tensor([[5., 6.],
                [3., 4.]])
    """
    return _rows(self, "values")[1]


@overridable
def _nnz(self: Tensor) -> int:
    """How many rows a sparse tensor holds."""
    return _rows(self, "_nnz")[0].numel()


@overridable
def to_dense(
    self: Tensor, dtype: Dtype | None = None, *, masked_grad: bool | None = None
) -> Tensor:
    """A dense tensor with a sparse one's elements; a dense one is returned itself."""
    result = self
    if self.is_sparse:
        rows, held = _rows(self, "to_dense")
        result = _functions.zeros(self.shape, dtype=self.dtype).index_copy_(0, rows, held)
    return result if dtype is None else result.to(dtype)


@overridable
def sparse_dim(self: Tensor) -> int:
    """How many dimensions the indices have: 1 of a sparse tensor, 0 of a dense one."""
    return int(self.is_sparse)


@overridable
def dense_dim(self: Tensor) -> int:
    """How many dimensions the values have beside the indices': all of a dense tensor's."""
    return self.ndim - int(self.is_sparse)


@overridable
def sparse_coo_tensor(
    indices: Any,
    values: Any,
    size: Sequence[int] | None = None,
    *,
    dtype: Dtype | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:
    """A sparse matrix of given rows; rows that are given several times are added up.

    Arguments:
        indices: the numbers of the rows, [1, n]
        values: the rows, [n, columns]
        size: [rows, columns]; None: as many rows as the largest number needs
    """
    numbers, rows = as_tensor(indices), as_tensor(values, dtype=dtype)
    if numbers.numel() == 0:
        numbers = numbers.to(int64)
    shape = (int(numbers.max()) + 1 if numbers.numel() else 0, *rows.shape[1:])
    shape = shape if size is None else tuple(size)
    if numbers.ndim != 2 or numbers.shape[0] != 1 or len(shape) != 2 or shape[1:] != rows.shape[1:]:
        raise ArgumentValueError(
            f"sparse_coo_tensor: indices have shape {list(numbers.shape)}, values "
            f"{list(rows.shape)}, and size is {list(shape)}, wanted [1, n], [n, columns] and "
            "[rows, columns]: only matrices that hold rows are offered"
        )
    try:
        result: Tensor = _C.sparse_from_rows(numbers[0], rows, shape[0])
    except Error as error:
        rename_error(error, "sparse_coo_tensor")
        raise
    result.requires_grad = requires_grad
    return result


def format_sparse(x: Tensor, name: str, form: Callable[[Tensor], str]) -> str:
    """A sparse tensor as text, as in PyTorch; form makes that of its parts."""
    space = "\n" + " " * (len(name) + 1)
    parts = [
        label + form(part).replace("\n", space + " " * len(label))
        for label, part in (("indices=", indices(x)), ("values=", values(x)))
    ]
    parts.append(f"size={tuple(x.shape)}, nnz={_nnz(x)}, layout={sparse_coo}")
    return f"{name}({f',{space}'.join(parts)})"


def _layout(self: Tensor) -> layout:
    return sparse_coo if self.is_sparse else strided


for _method in (coalesce, is_coalesced, indices, values, _nnz, to_dense, sparse_dim, dense_dim):
    setattr(Tensor, _method.__name__, _method)
Tensor._indices, Tensor._values = indices, values  # type: ignore[method-assign]
Tensor.layout = attribute(_layout)  # type: ignore[assignment]

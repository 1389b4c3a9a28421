# SPDX-License-Identifier: Apache-2.0
"""Products of matrices under further names."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any

from . import _functions as f
from ._C import Tensor, overridable
from ._errors import ShapeError
from ._out import copied

__all__ = ["chain_matmul", "spmm"]


def _wants(function: str, argument: str, x: Tensor, ndim: int) -> None:
    if x.ndim != ndim:
        raise ShapeError(f"{function}: argument {argument} has shape {list(x.shape)}, wanted {ndim}-d")


@overridable
def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices; mm under the name for a sparse first one."""
    return f.mm(input, mat2)


@overridable
def chain_matmul(*matrices: Any, out: Tensor | None = None) -> Tensor:
    """The product of matrices, in the order of least multiplications; see linalg.multi_dot."""
    from .linalg import multi_dot

    each = list(matrices[0]) if len(matrices) == 1 and not isinstance(matrices[0], Tensor) else list(matrices)
    for i, x in enumerate(each):
        _wants("chain_matmul", str(i + 1), x, 2)
    return copied(each[0].clone(), out) if len(each) == 1 else multi_dot(each, out=out)


@overridable
def _matrix_power(self: Tensor, n: int) -> Tensor:
    """The matrix times itself, n times; see linalg.matrix_power."""
    from .linalg import matrix_power

    return matrix_power(self, n)


_matrix_power.__name__ = _matrix_power.__qualname__ = "matrix_power"
setattr(Tensor, "matrix_power", _matrix_power)

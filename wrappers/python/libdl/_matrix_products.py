# SPDX-License-Identifier: Apache-2.0
"""Products of vectors and matrices under further names."""

from __future__ import annotations

from . import _functions as f
from ._C import Tensor, overridable

__all__ = ["ger", "spmm"]


@overridable
def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """See outer."""
    return f.outer(input, vec2, out=out)


@overridable
def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices; mm under the name for a sparse first one."""
    return f.mm(input, mat2)


@overridable
def _matrix_power(self: Tensor, n: int) -> Tensor:
    """The matrix times itself, n times; see linalg.matrix_power."""
    from .linalg import matrix_power

    return matrix_power(self, n)


_matrix_power.__name__ = _matrix_power.__qualname__ = "matrix_power"
for _method in (ger, _matrix_power):
    setattr(Tensor, _method.__name__, _method)

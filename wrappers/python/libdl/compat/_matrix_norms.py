# SPDX-License-Identifier: Apache-2.0
"""Norms of matrices by their first names in PyTorch."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from . import linalg
from ._C import Tensor
from ._errors import ArgumentTypeError, ArgumentValueError

__all__ = ["frobenius_norm", "nuclear_norm"]


def frobenius_norm(
    input: Tensor, dim: int | Sequence[int], keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The root of the sum of squares over dim; () for all dimensions. Deprecated, as in PyTorch:
    use linalg.vector_norm."""
    warnings.warn(
        "frobenius_norm is deprecated: use linalg.vector_norm(A, 2, dim, keepdim)", stacklevel=2
    )
    if dim is None or isinstance(dim, bool):
        raise ArgumentTypeError(f"frobenius_norm: argument 2 (dim) is {dim}, wanted integers")
    return linalg.vector_norm(input, 2, dim, keepdim, out=out)


def nuclear_norm(
    input: Tensor,
    dim: int | Sequence[int] | bool | None = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The sum of the singular values of matrices in two dimensions, dim; None for the last two.
    Deprecated, as in PyTorch: use linalg.matrix_norm.

    nuclear_norm(input, True) means keepdim=True."""
    warnings.warn(
        "nuclear_norm is deprecated: use linalg.matrix_norm(A, 'nuc', dim, keepdim)", stacklevel=2
    )
    if isinstance(dim, bool):
        keepdim, dim = dim, (-2, -1)
    dims = (-2, -1) if dim is None else (dim, dim) if isinstance(dim, int) else tuple(dim)
    if len(dims) != 2:
        raise ArgumentValueError(f"nuclear_norm: argument 2 (dim) is {dims}, wanted two dimensions")
    return linalg.matrix_norm(input, "nuc", dims, keepdim, out=out)

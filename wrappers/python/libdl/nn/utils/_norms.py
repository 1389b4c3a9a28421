# SPDX-License-Identifier: Apache-2.0
"""Weights as length times direction, and by their largest singular value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..._C import Tensor
from ..._modes import no_grad
from ..._tensor import copy_by
from ..functional import normalize

if TYPE_CHECKING:
    from ...nn.modules.module import Module


def lengths(v: Tensor, dim: int | None) -> Tensor:
    """The norm of each slice along dim, in v's number of dimensions; of all of v for None or -1."""
    if dim is None or dim == -1:
        return v.norm()
    others = [d for d in range(v.ndim) if d != dim % v.ndim]
    return v.norm(2, others, keepdim=True) if others else v.abs()


def directed(v: Tensor, g: Tensor, dim: int | None) -> Tensor:
    """The direction of v with the lengths g."""
    return v / lengths(v, dim) * g


def copied_with_module(
    weight: Tensor, parts: Sequence[Tensor], compute: Callable[..., Tensor]
) -> Tensor:
    """weight = compute(*parts), where parts are the module's parameters, and deepcopy of the module
    computes it from theirs: a result cannot be copied otherwise. Where parameters have changed
    their kind since, weight is of the past and copied as it is, without history."""
    kinds = [(part.dtype, part.device, part.shape) for part in parts]

    def copied(original: Tensor, memo: dict[int, Any]) -> Tensor:
        copies = [memo.get(id(part)) for part in parts]
        known = [part for part in copies if part is not None]
        if [(part.dtype, part.device, part.shape) for part in known] != kinds:  # or no module
            return original.detach().clone()
        return copied_with_module(compute(*known), known, compute)

    copy_by(weight, copied)
    return weight


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """The weight with that dimension first, and all others as one."""
    if dim != 0:
        weight = (
            weight.transpose(0, dim)
            if weight.ndim == 2
            else weight.permute(dim, *(d for d in range(weight.ndim) if d != dim % weight.ndim))
        )
    return weight.reshape(weight.shape[0], -1)


def drawn_vectors(matrix: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Random vectors of length 1, to begin with."""
    with no_grad():
        rows, columns = matrix.shape
        u = normalize(matrix.new_empty(rows).normal_(0, 1), dim=0, eps=eps)
        v = normalize(matrix.new_empty(columns).normal_(0, 1), dim=0, eps=eps)
    return u, v


def dim_of_outputs(module: Module) -> int:
    """The dimension of a layer's weight that stands for its outputs."""
    from ..modules.conv import _ConvTransposeNd

    return 1 if isinstance(module, _ConvTransposeNd) else 0

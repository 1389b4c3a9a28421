# SPDX-License-Identifier: Apache-2.0
"""Forward mode: dual numbers, a primal and a tangent that every operator carries along."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import NamedTuple

from .. import _C
from .._C import Tensor


class UnpackedDualTensor(NamedTuple):
    primal: Tensor
    tangent: Tensor | None


class dual_level:
    """with dual_level(): tangents made inside are gone at its end."""

    def __enter__(self) -> int:
        self._level = enter_dual_level()
        return self._level

    def __exit__(self, *exception: object) -> None:
        exit_dual_level()


def enter_dual_level() -> int:
    return _C.forward_enter()


def exit_dual_level(*, level: int | None = None) -> None:
    _C.forward_exit()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """The tensor with a tangent in the innermost level."""
    return _C.forward_make_dual(tensor, tangent)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal, and the tangent or None."""
    return UnpackedDualTensor(*_C.forward_unpack_dual(tensor))

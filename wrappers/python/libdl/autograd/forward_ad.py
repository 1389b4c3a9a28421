# SPDX-License-Identifier: Apache-2.0
"""Forward mode: dual numbers, a primal and a tangent that every operator carries along."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import threading
from typing import Any, NamedTuple

from .. import _C
from .._C import Tensor


_open = threading.local()  # .levels: how many this thread has open


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
    level = _C.forward_enter()
    _open.levels = getattr(_open, "levels", 0) + 1
    return level


def exit_dual_level(*, level: int | None = None) -> None:
    _C.forward_exit()
    _open.levels -= 1


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """The tensor with a tangent in the innermost level."""
    return _C.forward_make_dual(tensor, tangent)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal, and the tangent or None."""
    return UnpackedDualTensor(*_C.forward_unpack_dual(tensor))


def split_duals(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[Tensor | None] | None]:
    """The values without their tangents, and the tangents; None where no value has one."""
    if not getattr(_open, "levels", 0):
        return values, None
    pairs = [unpack_dual(x) if isinstance(x, Tensor) else (x, None) for x in values]
    tangents = [tangent for _, tangent in pairs]
    if all(tangent is None for tangent in tangents):
        return values, None
    return tuple(
        x if tangent is None else primal
        for x, (primal, tangent) in zip(values, pairs, strict=True)
    ), tangents


from .._missing import public as _public_names  # noqa: E402

__dir__ = _public_names(__name__)

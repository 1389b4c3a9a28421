# SPDX-License-Identifier: Apache-2.0
"""Forward mode: dual numbers, with a primal and a tangent that every operator propagates.

Levels nest: a tangent in an inner level may have a tangent in an outer one. They are numbered from
0, the outermost, as in PyTorch. Each also has a unique identity, so that a tensor that was dual in
a closed level is not dual in a later level with the same number."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import _C
from .._C import Tensor
from .._overrides import by_class, disabled, override


def on_values(function: Callable[..., Any], *tensors: Any) -> Any:
    """function of the tensors; under vmap of the values that they hold."""
    from .._vmap_levels import on_values  # not when libdl is imported: few programs need it

    return on_values(function, *tensors)


class UnpackedDualTensor(NamedTuple):
    primal: Tensor
    tangent: Tensor | None


class dual_level:
    """with dual_level(): tangents made inside are removed at the end."""

    def __enter__(self) -> int:
        self._level = enter_dual_level()
        return self._level

    def __exit__(self, *exception: object) -> None:
        exit_dual_level(level=self._level)


def _identity(level: int | None) -> int:
    """The identity of an open level, None meaning the innermost; 0 if it is not open."""
    if level is not None and level < 0:
        return 0
    return _C.forward_level(0 if level is None else level + 1)


def _number(level: int | None) -> int:
    """The number of an open level, None meaning the innermost."""
    if level is not None:
        return level
    innermost = 0
    while _C.forward_level(innermost + 2):
        innermost += 1
    return innermost


def enter_dual_level() -> int:
    """Opens a level and returns its number."""
    return _C.forward_enter() - 1


def exit_dual_level(*, level: int | None = None) -> None:
    """Closes the innermost level; if a level is given, it must be that one."""
    if level is not None and (_identity(level) == 0 or _identity(level) != _identity(None)):
        raise RuntimeError(f"exit_dual_level: level {level} is not the last one that was opened")
    _C.forward_exit()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """An alias of the tensor with a tangent in the innermost level, or in the given one. The
    tangent is converted to the tensor's dtype; of a real tensor it must be real."""
    for what, x in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(x, Tensor):
            raise TypeError(f"make_dual: the {what} is a {type(x).__name__}, wanted a tensor")
        if not (x.is_floating_point() or x.is_complex()):
            raise ValueError(f"make_dual: the {what} is {x.dtype}, wanted floating or complex")
    identity = _identity(level)
    if identity == 0:
        raise RuntimeError(
            "make_dual: no level is open, so no dual tensor can be made; enter_dual_level() "
            "or dual_level() opens one"
            if level is None
            else f"make_dual: level {level} is not open"
        )
    if by_class(tensor, tangent):
        return override(_make_dual, tensor, tangent, level=_number(level))
    return _make_dual(tensor, tangent, level)


def _make_dual(tensor: Tensor, tangent: Tensor, level: int | None) -> Tensor:
    """What make_dual does, as classes see it."""
    if tangent.dtype is not tensor.dtype and (tensor.is_complex() or not tangent.is_complex()):
        tangent = tangent.to(tensor.dtype)
    identity = _identity(level)
    return on_values(lambda x, v: _C.forward_make_dual_at(apart(x), v, identity), tensor, tangent)


def apart(x: Tensor) -> Tensor:
    """x, or a copy whose elements share no memory with one another, as its tangents do not."""
    shared = any(step == 0 and size > 1 for step, size in zip(x.stride(), x.shape, strict=True))
    return x.clone() if shared else x


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal, and the tangent or None."""
    if _identity(level) == 0:
        return UnpackedDualTensor(tensor, None)
    if by_class(tensor):
        return UnpackedDualTensor(*override(_unpack_dual, tensor, level=_number(level)))
    return UnpackedDualTensor(*_unpack_dual(tensor, level))


def _unpack_dual(tensor: Tensor, level: int | None) -> tuple[Tensor, Tensor | None]:
    """What unpack_dual does, as classes see it."""
    identity = _identity(level)
    return on_values(lambda x: unpacked(x, identity), tensor)


def unpacked(x: Tensor, identity: int) -> tuple[Tensor, Tensor | None]:
    """Primal and tangent as ordinary tensors, whatever the class."""
    with disabled():
        return _C.forward_unpack_dual(x, identity)


class Split(NamedTuple):
    """Values without their tangents in one level, and those tangents."""

    identity: int
    values: tuple[Any, ...]
    tangents: list[Tensor | None]


def split_duals(values: tuple[Any, ...]) -> list[Split]:
    """For each open level in which a value has a tangent, innermost first: the values without the
    tangents of this level and of the levels inside it."""
    splits: list[Split] = []
    depth = 0
    identities = []
    while identity := _C.forward_level(depth + 1):
        identities.append(identity)
        depth += 1
    for identity in reversed(identities):
        pairs = [
            on_values(lambda x: unpacked(x, identity), x)  # noqa: B023
            if isinstance(x, Tensor)
            else (x, None)
            for x in values
        ]
        tangents = [tangent for _, tangent in pairs]
        if all(tangent is None for tangent in tangents):
            continue
        values = tuple(
            x if tangent is None else _as(x, primal)
            for x, (primal, tangent) in zip(values, pairs, strict=True)
        )
        splits.append(Split(identity, values, tangents))
    return splits


def _as(x: Tensor, primal: Tensor) -> Tensor:
    """The primal as an object of the class of x, if that is one of a program."""
    return _C.as_subclass(primal, type(x)) if by_class(x) else primal

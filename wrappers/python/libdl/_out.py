# SPDX-License-Identifier: Apache-2.0
"""out=: an empty tensor takes the result's shape, as in PyTorch. The C functions never resize.

And the in-place methods of functions composed in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from . import _C
from ._C import Tensor, overridable
from ._errors import AutogradError, DtypeError, ShapeError

R = TypeVar("R")
P = TypeVar("P", bound=tuple[Tensor, Tensor])


def write(into: Callable[..., R], arguments: tuple[Any, ...], *out: Tensor) -> R:
    """into(*arguments, *out); an empty out of another shape is resized first."""
    try:
        return into(*arguments, *out)
    except ShapeError as error:
        if not _resized(error, out):
            raise
    return write(into, arguments, *out)


def write_leaf(
    into: Callable[..., Tensor], arguments: tuple[Any, ...], out: Tensor, requires_grad: bool
) -> Tensor:
    """The same for creation functions: out requires grad if that was requested."""
    if requires_grad and not (out.is_floating_point() or out.is_complex()):
        out.requires_grad_()  # raises before out is written
    result = write(into, arguments, out)
    return result.requires_grad_() if requires_grad else result


def _resized(error: ShapeError, out: tuple[Tensor, ...]) -> bool:
    if not error.argument_name.endswith(("dst", "out")) or not error.wanted.startswith("["):
        return False
    place = out[-1] if error.argument_name.startswith("indices") else out[0]
    shape = [int(size) for size in error.wanted.strip("[]").split(",") if size]
    if not resizable(place) or list(place.shape) == shape:
        return False
    resize(place, shape)
    return True


def resizable(place: object) -> bool:
    return isinstance(place, Tensor) and place.numel() == 0 and not place.requires_grad


def resize(place: Tensor, shape: list[int]) -> None:
    """Gives it new memory; views of the old memory were empty."""
    place.data = _C.empty(shape, place.dtype, place.device)


def copied(result: Tensor, out: Tensor | None) -> Tensor:
    """A result made without out, in out if there is one."""
    if out is None:
        return result
    if result.dtype.name == "bool":
        return write(_C.logical_or_into, (result, result), out)
    return write(_C.mul_into, (result, 1), out)


def both_copied(name: str, argument: int, values: P, out: tuple[Tensor, Tensor]) -> P:
    """A named pair of results made without out, in the two tensors of out; both are checked before
    either is written."""
    if _C.grad_enabled() and any(x.requires_grad for x in (*values, *out)):
        raise AutogradError(
            f"{name}: out= is not recorded, but input or out requires grad, wanted no_grad()"
        )
    text = f"{name}: argument {argument} (out)"
    for place, value in zip(out, values, strict=True):
        if place.dtype is not value.dtype:
            raise DtypeError(f"{text} is {place.dtype}, wanted {value.dtype}")
        if place.shape != value.shape and not resizable(place):
            raise ShapeError(f"{text} has shape {list(place.shape)}, wanted {list(value.shape)}")
    for place, value in zip(out, values, strict=True):
        if place.shape != value.shape:
            resize(place, list(value.shape))
        place.copy_(value)
    kind: Callable[..., P] = type(values)
    return kind(*out)


def in_place(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The method that writes what the function returns. While it is recorded the function reads a
    copy, because backward needs the old elements."""

    @overridable
    def method(self: Tensor, *arguments: object, **named: object) -> Tensor:
        operands = (self, *arguments, *named.values())
        recorded = any(isinstance(x, Tensor) and x.requires_grad for x in operands)
        source = self.clone() if recorded and _C.grad_enabled() else self
        result = function(source, *arguments, **named)
        if not _C.dtype_can_cast(result.dtype, self.dtype):
            raise DtypeError(
                f"{method.__name__}: argument 1 (input) is {self.dtype.name}, which "
                f"does not hold the result's {result.dtype.name}"
            )
        return self.copy_(result)

    method.__name__ = method.__qualname__ = function.__name__ + "_"
    method.__doc__ = f"In place: see {function.__name__}."
    return method

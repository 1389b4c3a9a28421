# SPDX-License-Identifier: Apache-2.0
"""Errors that are planted in libdl, one at a time, and that the oracle has to find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass
class Planted:
    told: str
    where: str  # T, method
    name: str
    wrong: Callable[..., Any]  # the right function, then its arguments
    calls: tuple[str, ...] = ()  # entries that are called; none: programs run
    entries: int = 300  # calls or programs, at most


def _promotion(right: Any, a: Any, b: Any, **named: Any) -> Any:
    made = right(a, b, **named)
    return made.to(a.dtype) if hasattr(a, "dtype") and not named else made


def _lost_tangent(T: Any) -> Callable[..., Any]:
    def wrong(right: Any, x: Any, **named: Any) -> Any:
        if not _dual(T, x):
            return right(x, **named)
        return right(T.autograd.forward_ad.unpack_dual(x).primal, **named)

    return wrong


def _dual(T: Any, x: Any) -> bool:
    try:
        return T.autograd.forward_ad.unpack_dual(x).tangent is not None
    except Exception:
        return False


def _no_version(right: Any, x: Any, other: Any) -> Any:
    if not x.requires_grad or x.is_leaf or not isinstance(other, (int, float)):
        return right(x, other)
    right(x.data, other)
    return x


def _empty(right: Any, x: Any, *args: Any, **named: Any) -> Any:
    made = right(x, *args, **named)
    return made * 0 if x.numel() == 0 else made


def _tie(T: Any) -> Callable[..., Any]:
    return lambda right, a, b, **named: right(a, b, **named) if named else T.where(a >= b, a, b)


def _dropped(right: Any, x: Any, source: Any) -> Any:
    return right(x.clone() if x._base is not None else x, source)


def _stride(right: Any, x: Any, *args: Any, **named: Any) -> Any:
    return right(x.contiguous(), *args, **named)


def _swallowed(right: Any, x: Any, dim: int, index: Any, **named: Any) -> Any:
    try:
        return right(x, dim, index, **named)
    except IndexError:
        return x.new_zeros(index.shape)


def _kind(right: Any, x: Any, dim: int, index: Any, **named: Any) -> Any:
    try:
        return right(x, dim, index, **named)
    except IndexError as error:
        raise KeyError(str(error)) from None


def _second(T: Any) -> Callable[..., Any]:
    class Sine(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x.detach())
            return x.detach().sin()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0].cos()

    return lambda right, x, **named: (
        Sine.apply(x) if x.requires_grad and not named else right(x, **named)
    )


def _hook(right: Any, x: Any, hook: Any) -> Any:
    right(x, hook)
    return right(x, hook)


def _changed(right: Any, x: Any, **named: Any) -> Any:
    made = right(x, **named)
    if x.is_floating_point() and not x.requires_grad:
        x.fill_(0)
    return made


def _keepdim(right: Any, x: Any, *args: Any, **named: Any) -> Any:
    named.pop("keepdim", None)
    return right(x, *args, **named)


def _alias(right: Any, x: Any) -> Any:
    return right(x).clone()


def _retained(right: Any, x: Any) -> Any:
    return None


def _detached(right: Any, x: Any, *args: Any) -> Any:
    return right(x, *args).detach()


def _out(right: Any, x: Any, out: Any = None) -> Any:
    made = right(x)
    return made if out is None else out


def _is_half(x: Any) -> bool:
    return bool(x.is_floating_point()) and x.element_size() == 2


def _rounded(right: Any, x: Any, dim: Any, index: Any, src: Any) -> Any:
    """A sum of many elements of 16 bits that is rounded after every few."""
    if not _is_half(x) or index.ndim != 1 or index.numel() < 1000:
        return right(x, dim, index, src)
    for first in range(0, index.numel(), 8):
        x = right(x, dim, index[first : first + 8], src[first : first + 8])
    return x


def _counted(right: Any, x: Any, *args: Any, **named: Any) -> Any:
    """Shares of many equal elements that are counted in 16 bits."""
    made = right(x, *args, **named)
    if args or named or not _is_half(x) or x.numel() < 1000 or not x.requires_grad:
        return made
    return made.detach() + 0 * made


def _by_squares(right: Any, x: Any, y: Any, **named: Any) -> Any:
    return right(x, y, **named) if named else (x * x + y * y).sqrt()


def _no_slope(right: Any, x: Any, y: Any, **named: Any) -> Any:
    return right(x, y, **named) + 0 * (x * x + y * y).sqrt()


def planted(T: Any) -> list[Planted]:
    return [
        Planted("a wrong promotion", "T", "mul", _promotion, ("mul",)),
        Planted("a lost tangent", "T", "exp", _lost_tangent(T), ("exp",)),
        Planted("a lost tangent in a program", "method", "clone", _lost_tangent(T), (), 4000),
        Planted("a missing version bump", "method", "mul_", _no_version, (), 6000),
        Planted("a wrong empty reduction", "T", "prod", _empty, ("prod",)),
        Planted("a wrong gradient at a tie", "T", "maximum", _tie(T), ("maximum",)),
        Planted("a write through a view that is dropped", "method", "copy_", _dropped, (), 4000),
        Planted("a wrong stride", "T", "narrow", _stride, ("narrow",)),
        Planted("a swallowed error", "T", "gather", _swallowed, ("gather",), 2000),
        Planted("an error of another kind", "T", "index_select", _kind, ("index_select",), 2000),
        Planted("a wrong second derivative", "T", "sin", _second(T), ("sin",)),
        Planted("a hook that is called twice", "method", "register_hook", _hook, (), 4000),
        Planted("an input that is changed", "T", "floor", _changed, ("floor",)),
        Planted("a forgotten keepdim", "T", "amax", _keepdim, ("amax",)),
        Planted("a view that is a copy", "method", "t", _alias, ("method.t",)),
        Planted("a gradient that is not retained", "method", "retain_grad", _retained, (), 4000),
        Planted("a lost history", "method", "unsqueeze", _detached, (), 4000),
        Planted("squares that leave the range", "T", "hypot", _by_squares, ("hypot",), 1000),
        Planted("a slope that is a NaN at the origin", "T", "atan2", _no_slope, ("atan2",), 1000),
        Planted("a result that out= does not get", "T", "sqrt", _out, ("sqrt",)),
        Planted("a sum that is rounded on the way", "T", "scatter_add", _rounded, ("scatter_add",)),
        Planted("a count of too few digits", "T", "amax", _counted, ("amax",)),
    ]


@contextmanager
def present(T: Any, error: Planted) -> Iterator[None]:
    owner = T if error.where == "T" else T.Tensor
    right = getattr(owner, error.name)

    def wrong(*args: Any, **named: Any) -> Any:
        return error.wrong(right, *args, **named)

    setattr(owner, error.name, wrong)
    try:
        yield
    finally:
        setattr(owner, error.name, right)

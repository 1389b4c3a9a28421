# SPDX-License-Identifier: Apache-2.0
"""Conditions that a program states of its values, and the errors if they do not hold."""

from __future__ import annotations

from collections.abc import Callable


from ._C import Tensor
from ._creation import tensor
from ._types import int64


def _check_with(error_type: type[Exception], cond: object, message: object = None) -> None:
    """Raises an error of this type unless cond is true. message: a text, or a function that returns
    it and is called only then."""
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is None:
        message = "Expected cond to be True, but got False."
    raise error_type(str(message() if callable(message) else message))


def _check(cond: object, message: object = None) -> None:
    """Raises a RuntimeError unless cond is true; see _check_with."""
    _check_with(RuntimeError, cond, message)


def _check_value(cond: object, message: object = None) -> None:
    """Raises a ValueError unless cond is true; see _check_with."""
    _check_with(ValueError, cond, message)


def _check_index(cond: object, message: object = None) -> None:
    """Raises an IndexError unless cond is true; see _check_with."""
    _check_with(IndexError, cond, message)


def _check_type(cond: object, message: object = None) -> None:
    """Raises a TypeError unless cond is true; see _check_with."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: object, message: object = None) -> None:
    """Raises a NotImplementedError unless cond is true; see _check_with."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(
    i: int, message: Callable[[], str] | None = None, *, max: int | None = None
) -> None:
    """Raises a RuntimeError unless the number is a size, and at most max."""
    _check(bool(i >= 0) and (max is None or bool(i <= max)), message)


def _check_tensor_all_with(
    error_type: type[Exception], cond: object, message: object = None
) -> None:
    """Raises an error of this type unless all elements are true; see _check_with."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype.name != "bool":
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, bool(cond.all()), message)


def _check_tensor_all(cond: object, message: object = None) -> None:
    """Raises a RuntimeError unless all elements are true; see _check_with."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _assert_async(input: Tensor, assert_msg: str | None = None) -> None:
    """Raises a RuntimeError unless the one element is true."""
    if input.numel() != 1:
        raise RuntimeError(f"_assert_async: input has {input.numel()} elements, wanted 1")
    if not bool(input):
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


def _shape_as_tensor(self: Tensor) -> Tensor:
    """The sizes as int64."""
    return tensor(list(self.shape), dtype=int64)

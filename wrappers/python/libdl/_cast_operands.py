# SPDX-License-Identifier: Apache-2.0
"""What autocast does with the operands of functions that are composed in Python; those of operators
are in the line "Autocast:" over their declarations in include/libdl. The lists are PyTorch's
(autocast_mode.cpp)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from . import _C
from ._autocast import get_autocast_dtype
from ._C import Tensor
from ._types import float64

_CPU = 1  # LIBDL_DEVICE_CPU

F = TypeVar("F", bound=Callable[..., Any])


def in_lower(function: F) -> F:
    """Most of its work are products: it computes in autocast's dtype."""
    return _with_casts(function, lambda: get_autocast_dtype("cpu"))


def left_alone(function: F) -> F:
    """It computes in its operands' dtypes, whatever it is composed of."""
    return _with_casts(function, lambda: None)


def _with_casts(function: F, expected: Callable[[], Any]) -> F:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not _C.autocast_enabled(_CPU) or kwargs.get("out") is not None:
            return function(*args, **kwargs)
        dtype = expected()
        _C.set_autocast_enabled(_CPU, False)
        try:
            arguments = [_cast(x, dtype) for x in args]
            return function(*arguments, **{name: _cast(x, dtype) for name, x in kwargs.items()})
        finally:
            _C.set_autocast_enabled(_CPU, True)

    return call  # type: ignore[return-value]


def _cast(x: Any, dtype: Any) -> Any:
    if dtype is None or not isinstance(x, Tensor) or not x.is_floating_point():
        return x
    return x if x.dtype is float64 or x.device.type != "cpu" else x.to(dtype)

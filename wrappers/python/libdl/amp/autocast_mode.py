# SPDX-License-Identifier: Apache-2.0
"""Autocast for custom functions."""

from __future__ import annotations

import collections.abc
import functools
from collections.abc import Callable
from typing import Any

from .._autocast import autocast, get_autocast_dtype, is_autocast_enabled
from .._C import Tensor
from .._types import dtype, float64

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


def is_autocast_available(device_type: str) -> bool:
    """Whether there is an autocast for this type of device: for the CPU."""
    return device_type == "cpu"


def _cast(value: Any, device_type: str, dtype: dtype) -> Any:
    """Tensors, also in containers, as dtype; what autocast leaves alone is left alone."""
    if isinstance(value, Tensor):
        eligible = value.is_floating_point() and value.dtype is not float64
        return value.to(dtype) if eligible and value.device.type == device_type else value
    if isinstance(value, (str, bytes)) or hasattr(value, "__array__"):
        return value
    if isinstance(value, collections.abc.Mapping):
        return {
            _cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()
        }
    if isinstance(value, collections.abc.Iterable):
        cast: Any = (_cast(v, device_type, dtype) for v in value)
        kind: Any = type(value)
        return kind(cast) if isinstance(value, (list, tuple)) else cast
    return value


def custom_fwd(
    fwd: Callable[..., Any] | None = None,
    *,
    device_type: str,
    cast_inputs: dtype | None = None,
) -> Any:
    """For forward of an autograd.Function: remembers autocast's state for custom_bwd.

    Arguments:
        cast_inputs: inside autocast, tensors are cast to this dtype, and forward runs with autocast
            off; None: forward runs as it is
    """
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(*args: Any, **kwargs: Any) -> Any:
        ctx, on = args[0], is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = on and cast_inputs is None
        if not on or cast_inputs is None:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(
                *_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs)
            )

    return forward


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """For backward of an autograd.Function: it runs with autocast as forward did (custom_fwd)."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        with autocast(device_type, dtype=ctx._dtype, enabled=ctx._fwd_used_autocast):
            return bwd(*args, **kwargs)

    return backward

# SPDX-License-Identifier: Apache-2.0
"""Autocast: products in 16 bits, losses in float32."""

from __future__ import annotations

import warnings
from typing import Any

from . import _C
from ._modes import _Mode
from ._types import bfloat16, dtype, float16

_CPU = 1  # LIBDL_DEVICE_CPU
_KNOWN = ("cpu", "cuda")
# PyTorch's other types, for which autocast is off and changes nothing: there are no tensors on
# them.
_NAMED = ("hpu", "ipu", "maia", "meta", "mps", "mtia", "privateuseone", "xla", "xpu")


def _checked(device_type: object) -> str:
    if not isinstance(device_type, str):
        raise ValueError(
            f"Expected `device_type` of type `str`, got: `{type(device_type)}`, {device_type!r}"
        )
    if device_type not in _KNOWN + _NAMED:
        raise RuntimeError(
            f"User specified an unsupported autocast device_type {device_type!r}; wanted 'cpu'"
        )
    return device_type


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is on for tensors of a type of device; without an argument, for CUDA."""
    return _checked(device_type) == "cpu" and _C.autocast_enabled(_CPU)


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Switches autocast on or off for a type of device."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    if _checked(device_type) == "cpu":
        _C.set_autocast_enabled(_CPU, enabled)
    elif enabled:
        raise RuntimeError("set_autocast_enabled: there is no autocast for CUDA devices yet")


def get_autocast_dtype(device_type: str) -> dtype:
    """The dtype in which autocast computes products."""
    return _C.dtype_of_code(_C.autocast_dtype(_CPU)) if _checked(device_type) == "cpu" else float16


def set_autocast_dtype(device_type: str, dtype: dtype) -> None:
    """Sets the dtype in which autocast computes products."""
    if _checked(device_type) == "cpu":
        _C.set_autocast_dtype(_CPU, dtype)


def is_autocast_cpu_enabled() -> bool:
    """is_autocast_enabled("cpu")"""
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """set_autocast_enabled("cpu", enabled)"""
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> dtype:
    """get_autocast_dtype("cpu")"""
    return get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: dtype) -> None:
    """set_autocast_dtype("cpu", dtype)"""
    set_autocast_dtype("cpu", dtype)


def is_autocast_cache_enabled() -> bool:
    """Whether the weights that autocast has cast are kept until they change."""
    return _C.autocast_cache_enabled()


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Sets whether the weights that autocast casts are kept. Results do not depend on it."""
    _C.set_autocast_cache_enabled(enabled)


def clear_autocast_cache() -> None:
    """Does nothing: what is kept of a weight goes by itself when the weight changes, and when
    memory runs short."""


class autocast(_Mode):
    """Inside, products and convolutions compute in bfloat16 or float16, losses in float32.

    Wrap the forward pass and the loss in it, not backward: with libdl.autocast("cpu"): ..., or
    @libdl.autocast("cpu"). Parameters stay float32, and so do their gradients.

    Arguments:
        device_type: "cpu"
        dtype: bfloat16 or float16; None: get_autocast_dtype(device_type)
        enabled: False switches autocast off inside
        cache_enabled: whether cast weights are kept; None: as before

    Example:
        >>> layer = nn.Linear(4, 2)
        >>> with torch.autocast("cpu", dtype=torch.bfloat16):
        ...     y = layer(torch.zeros(3, 4))
        >>> y.dtype
        libdl.bfloat16
    """

    def __init__(
        self,
        device_type: str,
        dtype: dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        self.device = _checked(device_type)
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._enabled = bool(enabled) and self._is_available()
        self._cache_enabled = (
            is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        )

    def _is_available(self) -> bool:
        if self.device == "cuda":
            from . import cuda

            if cuda.is_available():
                raise RuntimeError("autocast: there is none for CUDA devices yet")
            warnings.warn(
                "User provided device_type of 'cuda', but CUDA is not available. Disabling",
                stacklevel=4,
            )
            return False
        if self.fast_dtype not in (bfloat16, float16):
            warnings.warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                "CPU Autocast only supports dtype of libdl.bfloat16, libdl.float16 currently.",
                stacklevel=4,
            )
            return False
        return True

    def _again(self) -> autocast:
        instance = object.__new__(type(self))
        instance.__dict__.update(self.__dict__)
        return instance

    def __enter__(self) -> None:
        self._before = _C.autocast_enabled(_CPU), get_autocast_dtype("cpu")
        self._cache_before = _C.set_autocast_cache_enabled(self._cache_enabled)
        if self.device == "cpu":
            _C.set_autocast_enabled(_CPU, self._enabled)
            if self.fast_dtype.is_floating_point:
                _C.set_autocast_dtype(_CPU, self.fast_dtype)

    def __exit__(self, *exception: object) -> None:
        enabled, fast_dtype = self._before
        _C.set_autocast_enabled(_CPU, enabled)
        _C.set_autocast_dtype(_CPU, fast_dtype)
        _C.set_autocast_cache_enabled(self._cache_before)

# SPDX-License-Identifier: Apache-2.0
"""The profiler under its older name; see libdl.profiler."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator

from ..profiler import DeviceType, EventList, FunctionEvent, kineto_available, record_function
from ..profiler.session import AutogradProfile as profile

__all__ = [
    "DeviceType",
    "EventList",
    "FunctionEvent",
    "emit_itt",
    "emit_nvtx",
    "kineto_available",
    "profile",
    "record_function",
]


@contextlib.contextmanager
def emit_nvtx(enabled: bool = True, record_shapes: bool = False) -> Iterator[None]:
    """Would show the calls to NVIDIA's tools; it warns, and does nothing."""
    if enabled:
        warnings.warn("emit_nvtx: calls are not shown to NVIDIA's tools", stacklevel=3)
    yield


@contextlib.contextmanager
def emit_itt(enabled: bool = True, record_shapes: bool = False) -> Iterator[None]:
    """Would show the calls to Intel's tools; it warns, and does nothing."""
    if enabled:
        warnings.warn("emit_itt: calls are not shown to Intel's tools", stacklevel=3)
    yield

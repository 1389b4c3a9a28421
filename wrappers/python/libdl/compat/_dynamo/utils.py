# SPDX-License-Identifier: Apache-2.0
"""Questions that programs ask of PyTorch's tracer."""

from __future__ import annotations

from typing import Any

from .._types import DeviceLike

counters: dict[str, Any] = {}


def is_compile_supported(device_type: DeviceLike) -> bool:
    """False: nothing is compiled."""
    return False


def istype(obj: Any, allowed_types: Any) -> bool:
    """Whether the object's class is exactly one of these."""
    kinds = allowed_types if isinstance(allowed_types, (tuple, list, set)) else (allowed_types,)
    return type(obj) in kinds


def is_namedtuple(obj: Any) -> bool:
    """Whether the object is a namedtuple."""
    from ..utils._pytree import is_namedtuple_instance

    return is_namedtuple_instance(obj)

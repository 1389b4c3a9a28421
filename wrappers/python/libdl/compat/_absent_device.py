# SPDX-License-Identifier: Apache-2.0
"""What modules of devices have that libdl does not offer."""

from __future__ import annotations

from typing import Any

from ._named_only import refusing

__all__ = [
    "device_count",
    "empty_cache",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
]


def is_available() -> bool:
    """False: libdl has no such device."""
    return False


def device_count() -> int:
    """0: libdl has no such device."""
    return 0


def manual_seed(seed: int) -> None:
    """Changes nothing; libdl.manual_seed seeds what there is."""


def empty_cache() -> None:
    """Changes nothing: there is no memory of such a device."""


def manual_seed_all(seed: int) -> None:
    """Changes nothing; libdl.manual_seed seeds what there is."""


def is_initialized() -> bool:
    """False: libdl has no such device."""
    return False


def is_bf16_supported() -> bool:
    """False: libdl has no such device."""
    return False


def is_current_stream_capturing() -> bool:
    """False: libdl has no such device."""
    return False


_REFUSED = (
    "Event",
    "Stream",
    "current_allocated_memory",
    "current_device",
    "current_stream",
    "device",
    "driver_allocated_memory",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "recommended_max_memory",
    "reset_peak_memory_stats",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "stream",
    "synchronize",
)


def refused(device: str) -> dict[str, Any]:
    """Functions by name: what would be asked of such a device."""
    reason = "libdl has no such device; ask is_available() first"
    return {name: refusing(f"{device}.{name}", reason) for name in _REFUSED}

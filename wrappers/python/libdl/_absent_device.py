# SPDX-License-Identifier: Apache-2.0
"""What modules of devices have that libdl does not offer."""

from __future__ import annotations

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed"]


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

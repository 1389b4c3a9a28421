# SPDX-License-Identifier: Apache-2.0
"""Apple's devices, which are not offered."""

from __future__ import annotations


def is_available() -> bool:
    """False: libdl has no such device."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """False: libdl has no such device."""
    return False


def is_macos13_or_newer(minor: int = 0) -> bool:
    """False: libdl has no such device."""
    return False


def is_built() -> bool:
    """False: libdl has no such device."""
    return False

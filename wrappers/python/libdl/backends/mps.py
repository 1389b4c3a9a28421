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


import typing as _typing  # noqa: E402

from .._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)

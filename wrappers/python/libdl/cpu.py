# SPDX-License-Identifier: Apache-2.0
"""The processor as a device among others."""

from __future__ import annotations

from typing import Any


def is_available() -> bool:
    """True."""
    return True


def device_count() -> int:
    """1."""
    return 1


def current_device() -> str:
    """The device's name."""
    return "cpu"


def synchronize(device: Any = None) -> None:
    """Nothing is to be waited for: work of the CPU is done when its values are asked for."""


import typing as _typing  # noqa: E402

from ._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)

# SPDX-License-Identifier: Apache-2.0
"""Intel's GPUs, which are not offered."""

from __future__ import annotations


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


import typing as _typing  # noqa: E402

from ._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)

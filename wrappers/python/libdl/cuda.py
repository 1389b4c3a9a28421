# SPDX-License-Identifier: Apache-2.0
"""CUDA devices: this build has no CUDA backend, and answers accordingly."""

from __future__ import annotations

from typing import Any


def is_available() -> bool:
    """Whether a CUDA device can be used."""
    return False


def device_count() -> int:
    """How many CUDA devices there are."""
    return 0


def is_initialized() -> bool:
    return False


def current_device() -> int:
    raise RuntimeError("cuda: there is no CUDA device; see libdl.cuda.is_available()")


def empty_cache() -> None:
    """Gives idle device memory back; there is none."""


def synchronize(device: Any = None) -> None:
    """Waits for a device; there is none to wait for."""


def manual_seed(seed: int) -> None:
    """Seeds a device's generator; libdl.manual_seed seeds all."""


def manual_seed_all(seed: int) -> None:
    """Seeds all devices' generators; libdl.manual_seed seeds all."""


def memory_allocated(device: Any = None) -> int:
    return 0


def max_memory_allocated(device: Any = None) -> int:
    return 0


def is_bf16_supported() -> bool:
    return False


from ._missing import missing as _missing_names, public as _public_names  # noqa: E402

__getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)

# SPDX-License-Identifier: Apache-2.0
"""The accelerator of this machine, whatever its kind: a CUDA device, or none."""

from __future__ import annotations

from typing import Any

from . import cuda, device


def is_available() -> bool:
    """Whether an accelerator can be used."""
    return cuda.is_available()


def device_count() -> int:
    """How many accelerators there are."""
    return cuda.device_count()


def current_accelerator(check_available: bool = False) -> device | None:
    """The accelerator's device without an index; None if there is none.

    PyTorch names the kind that it was built for, even where check_available=True says None."""
    return device("cuda") if cuda.is_available() else None


def current_device_index() -> int:
    """The index of the device that "cuda" means."""
    return cuda.current_device()


def synchronize(device: Any = None, /) -> None:
    """Waits until all work of the accelerator is done; without one, nothing is to be waited for."""
    if cuda.is_available():
        cuda.synchronize(device)


def empty_cache() -> None:
    """Gives the accelerators' idle memory back."""
    cuda.empty_cache()


import typing as _typing  # noqa: E402

from ._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)

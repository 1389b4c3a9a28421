# SPDX-License-Identifier: Apache-2.0
"""The accelerator of this machine, whatever its kind: a CUDA device, or none."""

from __future__ import annotations


from . import cuda
from ._types import DeviceLike, device


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


def synchronize(device: DeviceLike | None = None, /) -> None:
    """Waits until all work of the accelerator is done; without one, nothing is to be waited for."""
    if cuda.is_available():
        cuda.synchronize(device)


def set_device_index(device: DeviceLike, /) -> None:
    """Chooses the accelerator that "cuda" means."""
    cuda.set_device(device)


def memory_allocated(device_index: DeviceLike | None = None, /) -> int:
    """Bytes in tensors on the accelerator; 0 without one."""
    return cuda.memory_allocated(device_index)


def max_memory_allocated(device_index: DeviceLike | None = None, /) -> int:
    """The largest number of bytes that tensors on the accelerator have held; 0 without one."""
    return cuda.max_memory_allocated(device_index)


def memory_reserved(device_index: DeviceLike | None = None, /) -> int:
    """Bytes allocated from the driver; 0 without an accelerator."""
    return cuda.memory_reserved(device_index)


def max_memory_reserved(device_index: DeviceLike | None = None, /) -> int:
    """The largest number of bytes allocated from the driver; 0 without an accelerator."""
    return cuda.max_memory_reserved(device_index)


def reset_peak_memory_stats(device_index: DeviceLike | None = None, /) -> None:
    """Resets the peaks to the current values."""
    cuda.reset_peak_memory_stats(device_index)


def get_memory_info(device_index: DeviceLike | None = None, /) -> tuple[int, int]:
    """Free and total bytes of the accelerator."""
    return cuda.mem_get_info(device_index)


def empty_cache() -> None:
    """Gives the accelerators' idle memory back."""
    cuda.empty_cache()

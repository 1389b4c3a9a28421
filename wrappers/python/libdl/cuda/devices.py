# SPDX-License-Identifier: Apache-2.0
"""Which CUDA devices there are, at most one, which is meant, and what the driver says of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .. import _C
from .._streams import cuda_device
from .._types import DeviceLike


_CUDA = 2  # LIBDL_DEVICE_CUDA


def is_available() -> bool:
    """Whether a CUDA device can be used.

    Example:
        >>> device = "cuda" if torch.cuda.is_available() else "cpu"
        >>> torch.ones(2, device=device).sum().item()
        2.0
    """
    return device_count() > 0


def device_count() -> int:
    """How many CUDA devices there are."""
    return _C.device_count(_CUDA)


def current_device() -> int:
    """The index of the device that "cuda" means."""
    _C.device_properties(cuda_device(None))
    return 0


def set_device(device: DeviceLike) -> None:
    """Checks that the device exists: "cuda" means device 0, and no other is offered."""
    if isinstance(device, int) and device < 0:
        return
    _C.device_properties(cuda_device(device))


class device:
    """A context in which the device is the current one; None and negative indices change
    nothing."""

    def __init__(self, device: DeviceLike | None) -> None:
        self.idx = -1 if device is None else device

    def __enter__(self) -> None:
        set_device(self.idx)

    def __exit__(self, *reason: object) -> None:
        return None


class device_of(device):
    """The context of a tensor's device; one on the CPU changes nothing."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.device.index if obj.is_cuda else None)


def get_device_properties(device: DeviceLike | None = None) -> SimpleNamespace:
    """name, total_memory (bytes), major and minor of the compute capability."""
    name, total, _, _, (major, minor) = _C.device_properties(cuda_device(device))
    return SimpleNamespace(name=name, total_memory=total, major=major, minor=minor)


for _function in (current_device, device_count, is_available):
    _function.__module__ = "libdl.cuda"

# SPDX-License-Identifier: Apache-2.0
"""Which CUDA device is meant, and what the driver says of it. There is at most one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .. import _C
from .._streams import cuda_device


def set_device(device: Any) -> None:
    """Checks that the device exists: "cuda" means device 0, and no other is offered."""
    if isinstance(device, int) and device < 0:
        return
    _C.device_properties(cuda_device(device))


class device:
    """A context in which the device is the current one; None and negative indices change nothing."""

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else device

    def __enter__(self) -> None:
        set_device(self.idx)

    def __exit__(self, *reason: object) -> None:
        return None


class device_of(device):
    """The context of a tensor's device; one on the CPU changes nothing."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.device.index if obj.is_cuda else None)


def get_device_properties(device: Any = None) -> SimpleNamespace:
    """name, total_memory (bytes), major and minor of the compute capability."""
    name, total, _, _, (major, minor) = _C.device_properties(cuda_device(device))
    return SimpleNamespace(name=name, total_memory=total, major=major, minor=minor)

# SPDX-License-Identifier: Apache-2.0
"""map_location: the device on which load puts each storage."""

from __future__ import annotations

from typing import Any

from .. import _C
from .._C import Tensor
from .._errors import DeviceError, FormatError
from .._types import device as Device


class Foreign(Exception):
    """Carries what a caller's function raised past those who blame the file."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


class Placing:
    """Takes storages to where load's caller wants them.

    Arguments:
        map_location: a device or its name; a dict from the file's names of devices to others; a
            function of a storage (a tensor of one dimension) and of the file's name for its device
            that returns the storage where it is wanted, or None; or None: where it was
    """

    def __init__(self, map_location: Any) -> None:
        known = map_location is None or isinstance(map_location, (str, int, Device, dict))
        if not known and not callable(map_location):
            raise TypeError(
                f"load: map_location is a {type(map_location).__name__}, wanted a "
                "device, its name, a dict or a function"
            )
        self._wanted = map_location
        if isinstance(map_location, dict):
            self._wanted = {name: Device(options) for name, options in map_location.items()}
        elif isinstance(map_location, (str, int)):
            self._wanted = Device(map_location)

    def placed(self, storage: Tensor, location: str) -> Tensor:
        """The storage where it is wanted.

        Errors: FormatError, DeviceError; Foreign, of the caller's function."""
        options = self._wanted
        if isinstance(options, dict):
            options = options.get(location)
        elif callable(options):
            try:
                value: Tensor | None = options(storage, location)
                _check(value, storage)
            except Exception as error:
                raise Foreign(error) from None
            if value is not None:
                return value
            options = None
        device = _device(location) if options is None else options
        if device.type == "cpu":
            return storage
        if options is None and _C.device_count(device._type) == 0:
            raise DeviceError(
                f"load: the file has tensors of the device {location!r}, and there "
                "is none; map_location='cpu' loads them into memory"
            )
        return storage.to(device=device)


def _device(location: str) -> Device:
    try:
        return Device(location)
    except RuntimeError:
        raise FormatError(
            f"load: the file has tensors of the device {location!r:.80}, of no kind "
            "that libdl knows"
        ) from None


def _check(value: Any, storage: Tensor) -> None:
    if value is None:
        return
    if not isinstance(value, Tensor):
        raise TypeError(
            f"load: map_location's function returned a {type(value).__name__}, wanted "
            "the storage or None"
        )
    if value.shape != storage.shape or value.dtype != storage.dtype:
        raise TypeError(
            "load: map_location's function returned another tensor, wanted the "
            "storage, itself or on another device"
        )

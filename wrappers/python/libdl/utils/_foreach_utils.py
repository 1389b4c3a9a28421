# SPDX-License-Identifier: Apache-2.0
"""Tensors of several devices and dtypes, grouped for calls that want one of each."""

from __future__ import annotations

from typing import Any

from .._C import Tensor
from .._types import device as Device

Indices = list[int]
TensorListList = list[list[Any]]


def _get_foreach_kernels_supported_devices() -> list[str]:
    """The types of devices for which torch._foreach_ functions are faster than loops."""
    return ["cuda"]


_get_fused_kernels_supported_devices = _get_foreach_kernels_supported_devices


def _group_tensors_by_device_and_dtype(
    tensorlistlist: TensorListList, with_indices: bool = False
) -> dict[Any, Any]:
    """(device, dtype) -> (lists, indices): the lists' elements where the first list has that device
    and dtype, and their places."""
    groups: dict[Any, Any] = {}
    for place, first in enumerate(tensorlistlist[0]):
        found = groups.setdefault((first.device, first.dtype), ([[] for _ in tensorlistlist], []))
        for column, tensors in zip(found[0], tensorlistlist, strict=True):
            if tensors:
                column.append(tensors[place])
        if with_indices:
            found[1].append(place)
    return groups


def _device_has_foreach_support(device: Device) -> bool:
    return device.type in _get_foreach_kernels_supported_devices()


def _has_foreach_support(tensors: list[Tensor], device: Device) -> bool:
    return _device_has_foreach_support(device) and all(
        x is None or hasattr(x, "dtype") for x in tensors
    )

# SPDX-License-Identifier: Apache-2.0
"""The state of a device's random numbers, which programs save: it is the default generator's."""

from __future__ import annotations

from collections.abc import Iterable

from .. import _random
from .._C import Tensor
from .._types import DeviceLike
from .devices import current_device, device_count, is_available

__all__ = ["get_rng_state", "get_rng_state_all", "set_rng_state", "set_rng_state_all"]


def get_rng_state(device: DeviceLike = "cuda") -> Tensor:
    """The default generator's state, which all devices draw from; raises without a device."""
    current_device()
    return _random.get_rng_state()


def get_rng_state_all() -> list[Tensor]:
    """The state once for each device; an empty list without one."""
    return [_random.get_rng_state() for _ in range(device_count())]


def set_rng_state(new_state: Tensor, device: DeviceLike = "cuda") -> None:
    """Sets the default generator's state; without a device nothing, as in PyTorch."""
    if is_available():
        _random.set_rng_state(new_state)


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Sets what get_rng_state_all returned."""
    for state in new_states:
        set_rng_state(state)

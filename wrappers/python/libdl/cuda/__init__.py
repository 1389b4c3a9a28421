# SPDX-License-Identifier: Apache-2.0
"""CUDA devices. Without the plugin, a driver or a device, is_available() is False, and functions
that need them raise an error that says what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _C
from .._errors import OutOfMemoryError as OutOfMemoryError
from .._tensor_types import cuda_types as _cuda_types
from .._streams import (
    Event as Event,
    ExternalStream as ExternalStream,
    Stream as Stream,
    StreamContext as StreamContext,
    cuda_device as _device,
    current_stream as current_stream,
    default_stream as default_stream,
    set_stream as set_stream,
    stream as stream,
)
from .._types import DeviceLike
from . import graphs as graphs, nvtx as nvtx, profiler as profiler, random as random
from .devices import (
    current_device as current_device,
    device as device,
    device_count as device_count,
    device_of as device_of,
    get_device_properties as get_device_properties,
    is_available as is_available,
    set_device as set_device,
)
from .graphs import (
    CUDAGraph as CUDAGraph,
    graph as graph,
    graph_pool_handle as graph_pool_handle,
    is_current_stream_capturing as is_current_stream_capturing,
    make_graphed_callables as make_graphed_callables,
)
from .random import (
    get_rng_state as get_rng_state,
    get_rng_state_all as get_rng_state_all,
    set_rng_state as set_rng_state,
    set_rng_state_all as set_rng_state_all,
)

if TYPE_CHECKING:
    from . import amp as amp

_LAZY_MODULES = ("amp",)


def is_initialized() -> bool:
    """Whether a device has been initialised, which happens when it is first used."""
    return is_available()


def get_device_name(device: DeviceLike | None = None) -> str:
    """The driver's name for the device."""
    return _C.device_properties(_device(device))[0]


def get_device_capability(device: DeviceLike | None = None) -> tuple[int, int]:
    """The compute capability, (major, minor)."""
    return _C.device_properties(_device(device))[4]


def mem_get_info(device: DeviceLike | None = None) -> tuple[int, int]:
    """Free and total bytes of the device."""
    _, total, free, _, _ = _C.device_properties(_device(device))
    return free, total


def synchronize(device: DeviceLike | None = None) -> None:
    """Waits until all work of the device is done, and raises any error in it.

    Example:
        >>> if torch.cuda.is_available():
        ...     torch.cuda.synchronize()  # before a clock is read
    """
    _C.device_synchronize(_device(device))


def empty_cache() -> None:
    """Gives the idle memory of all devices back to the driver.

    Example:
        >>> if torch.cuda.is_available():
        ...     torch.cuda.empty_cache()
    """
    for index in range(device_count()):
        _C.memory_trim(_device(index))


_SYNC_MODES = ("default", "warn", "error")


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """What a call does that must wait for a device, such as item() or a mask: "default" (0) waits,
    "warn" (1) warns with the line that waited, "error" (2) raises RuntimeError instead.
    synchronize() and the waits of streams and events are not meant."""
    if isinstance(debug_mode, str):
        if debug_mode not in _SYNC_MODES:
            raise RuntimeError(
                f"invalid value of debug_mode, expected one of {', '.join(_SYNC_MODES)}"
            )
        debug_mode = _SYNC_MODES.index(debug_mode)
    _C.set_sync_debug_mode(debug_mode)


def get_sync_debug_mode() -> int:
    """0, 1 or 2; see set_sync_debug_mode."""
    return _C.get_sync_debug_mode()


def memory_stats(device: DeviceLike | None = None) -> dict[str, int]:
    """The counters of the device's caching allocator: bytes, blocks and requests, by name."""
    return _C.memory_statistics(_device(device))


def memory_allocated(device: DeviceLike | None = None) -> int:
    """Bytes in tensors on the device."""
    return _stat("allocated", device)


def max_memory_allocated(device: DeviceLike | None = None) -> int:
    """The largest number of bytes that tensors on the device have held."""
    return _stat("peak_allocated", device)


def memory_reserved(device: DeviceLike | None = None) -> int:
    """Bytes allocated from the driver: in tensors, or kept for new ones."""
    return _stat("reserved", device)


def max_memory_reserved(device: DeviceLike | None = None) -> int:
    """The largest number of bytes allocated from the driver."""
    return _stat("peak_reserved", device)


def reset_peak_memory_stats(device: DeviceLike | None = None) -> None:
    """Resets the peaks to the current values."""
    if is_available():
        _C.memory_reset_peaks(_device(device))


def reset_max_memory_allocated(device: DeviceLike | None = None) -> None:
    """PyTorch's older name of reset_peak_memory_stats."""
    reset_peak_memory_stats(device)


def memory_summary(device: DeviceLike | None = None, abbreviated: bool = False) -> str:
    """The allocator's counters as text, one a line."""
    stats = memory_stats(device) if is_available() else {}
    return "\n".join(f"{name}: {value}" for name, value in sorted(stats.items()))


def ipc_collect() -> None:
    """Changes nothing: no memory is shared between processes."""


def init() -> None:
    """Initialises the device, or raises what is missing."""
    current_device()


def _stat(name: str, device: DeviceLike | None) -> int:
    return memory_stats(device)[name] if is_available() else 0


def manual_seed(seed: int) -> None:
    """Seeds a device's generator; libdl.manual_seed seeds all."""


def manual_seed_all(seed: int) -> None:
    """Seeds all devices' generators; libdl.manual_seed seeds all."""


def is_bf16_supported() -> bool:
    """Whether the device supports bfloat16; every device that libdl supports does."""
    return is_available()


# Whether programs that recompute shall keep the states of devices' own generators: there are none.
_initialized = False

globals().update(_cuda_types())
default_generators: tuple[Any, ...] = ()  # devices have none of their own: see libdl.Generator

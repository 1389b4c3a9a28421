# SPDX-License-Identifier: Apache-2.0
"""The profiler's events under PyTorch's older name; see libdl.profiler."""

from __future__ import annotations

from ..profiler import DeviceType, EventList, FunctionEvent, FunctionEventAvg
from ..profiler.events import Interval
from ..profiler.table import (
    format_memory as _format_memory,  # noqa: F401
    format_time as _format_time,  # noqa: F401
)

__all__ = ["DeviceType", "EventList", "FunctionEvent", "FunctionEventAvg", "Interval"]

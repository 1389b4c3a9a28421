# SPDX-License-Identifier: Apache-2.0
"""The profiler: where a program's time and memory go, by call, phase and range.

    with profile(record_shapes=True) as prof:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))
    prof.export_chrome_trace("trace.json")

The core records (libdl/profiler.h): forward and backward passes, hooks and optimizer steps of the
thread that profiles, and of others if asked for. While no profiler runs, calls cost nothing
more."""

from __future__ import annotations

from .events import DeviceType, EventList, FunctionEvent, FunctionEventAvg
from .schedules import ProfilerAction, ProfilerActivity, schedule
from .session import (
    _ExperimentalConfig as _ExperimentalConfig,
    kineto_available,
    profile,
    record_function,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = [
    "DeviceType",
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

_LAZY_MODULES = ("profiler",)

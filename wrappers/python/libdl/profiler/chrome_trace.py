# SPDX-License-Identifier: Apache-2.0
"""A profile as text: a trace for Perfetto, stacks for flame graphs, and the memory over time."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .events import EventList, FunctionEvent

__all__ = ["memory_over_time", "write_chrome_trace", "write_stacks"]


def _args(event: FunctionEvent) -> dict[str, Any]:
    fields = {
        "For": event.source,
        "Input Dims": event.input_shapes,
        "FLOPs": event.flops,
        "Bytes": event.cpu_memory_usage,
        "Conversions": event.conversions,
        "Call stack": ";".join(reversed(event.stack)),
        "Failed": event.failed,
    }
    return {name: value for name, value in fields.items() if value}


def _slice(event: FunctionEvent, pid: int) -> dict[str, Any]:
    return {
        "ph": "X",
        "cat": "user_annotation" if event.is_user_annotation else f"cpu_op,{event.phase}",
        "name": event.name,
        "pid": pid,
        "tid": event.thread,
        "ts": event.time_range.start,
        "dur": event.cpu_time_total,
        "args": {"Phase": event.phase, **_args(event)},
    }


def write_chrome_trace(
    path: str, events: EventList, *, memory: bool, metadata: dict[str, Any] | None = None
) -> None:
    """In the Trace Event Format: a complete event for each call and range, a counter of bytes."""
    pid = os.getpid()
    results: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": "libdl"}}
    ]
    results += (_slice(event, pid) for event in events)
    if memory:
        results += (
            {"ph": "C", "name": "memory", "pid": pid, "ts": at, "args": {"bytes": size}}
            for at, size in memory_over_time(events)
        )
    head = {"schemaVersion": 1, "displayTimeUnit": "ms", **(metadata or {})}
    text = json.dumps({**head, "traceEvents": results})
    opened: Any = gzip.open if path.endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8") as file:
        file.write(text)


def memory_over_time(events: EventList) -> list[tuple[float, int]]:
    """(microseconds, bytes in tensors of all threads) at the end of each event, in the order of
    time."""
    live: dict[int, int] = {}  # of each thread
    points = []
    for event in sorted(events, key=lambda event: event.time_range.end):
        live[event.thread] = event.live
        points.append((event.time_range.end, sum(live.values())))
    return points


def write_stacks(path: str, events: EventList, metric: str) -> None:
    """Lines "outermost;...;innermost microseconds", the form that FlameGraph reads."""
    times: Counter[str] = Counter()
    for event in events:
        if event.stack:
            frames = [frame.replace(" ", "_").replace(";", ",") for frame in event.stack]
            times[";".join(reversed(frames))] += getattr(event, metric)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{stack} {int(us)}\n" for stack, us in times.items() if int(us) > 0)

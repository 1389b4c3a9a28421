# SPDX-License-Identifier: Apache-2.0
"""Pictures of a profile: the timeline of the calls, and the memory over it.

They follow figures 1 and 2 of Paszke et al., "PyTorch: An Imperative Style, High-Performance Deep
Learning Library" (2019): coloured where operators run, grey where Python does."""

from __future__ import annotations

import importlib
from typing import Any

from .events import EventList, FunctionEvent
from .trace import memory_over_time

__all__ = ["draw"]

_MOST_ROWS = 4  # of calls inside calls
_LABELLED = 0.04  # the least share of the width whose name is written into it


def _figure() -> Any:
    try:
        return importlib.import_module("matplotlib.figure")
    except ImportError as error:
        raise ImportError(
            "profile.plot draws with matplotlib, which is not installed: pip install matplotlib"
        ) from error


def _depth(event: FunctionEvent) -> int:
    """How many calls are around it: ranges are not counted."""
    around, depth = event.cpu_parent, 0
    while around is not None:
        depth += not around.is_user_annotation
        around = around.cpu_parent
    return depth


def _draw_calls(axes: Any, events: EventList, end: float) -> None:
    """A band of rows for each thread: its calls, and below them those inside."""
    calls = [e for e in events if not e.is_user_annotation and _depth(e) < _MOST_ROWS]
    names = list(dict.fromkeys(call.key for call in calls))
    rows: dict[tuple[int, int], list[FunctionEvent]] = {}  # by thread and depth
    for thread in dict.fromkeys(call.thread for call in calls):
        own = [call for call in calls if call.thread == thread]
        for depth in range(1 + max(map(_depth, own))):
            rows[thread, depth] = [call for call in own if _depth(call) == depth]
    for at, ((_, depth), row) in enumerate(rows.items()):
        if depth == 0:
            axes.broken_barh([(0, end)], (at - 0.4, 0.8), facecolors="0.85")  # Python's own time
        spans = [(call.time_range.start, call.cpu_time_total) for call in row]
        colours = [f"C{names.index(call.key) % 10}" for call in row]
        axes.broken_barh(spans, (at - 0.4, 0.8), facecolors=colours)
        for call in row:
            if call.cpu_time_total > _LABELLED * end:
                middle = (call.time_range.start + call.time_range.end) / 2
                axes.text(middle, at, call.name, ha="center", va="center", size=6, clip_on=True)
    several = len({thread for thread, _ in rows}) > 1
    hosts = {thread: f"thread {thread}" if several else "host" for thread, _ in rows}
    labels = [f"inside {depth}" if depth else hosts[thread] for thread, depth in rows]
    axes.set_yticks(range(len(rows)), labels)
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)


def _draw_memory(axes: Any, events: EventList) -> None:
    points = memory_over_time(events)
    axes.step([at for at, _ in points], [size / 2**20 for _, size in points], where="post")
    axes.set_ylabel("MiB in tensors")


def draw(events: EventList, path: str | None = None, *, timeline: bool = True) -> Any:
    """The figure, which is also written to path."""
    drawn = [timeline, events.profile_memory]
    figure = _figure().Figure(figsize=(12, 2.5 * sum(drawn) + 0.5), layout="constrained")
    all_axes = list(figure.subplots(sum(drawn), sharex=True, squeeze=False)[:, 0])
    end = max((event.time_range.end for event in events), default=0.0)
    if timeline:
        _draw_calls(all_axes[0], events, end)
    if events.profile_memory:
        _draw_memory(all_axes[-1], events)
    for axes in all_axes:
        for event in events:
            if event.key == "ProfilerStep*":
                axes.axvline(event.time_range.start, color="0.4", linewidth=0.8, linestyle=":")
    all_axes[-1].set_xlabel("microseconds")
    all_axes[-1].set_xlim(0, end or 1)
    if path is not None:
        figure.savefig(path)
    return figure

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
    calls = [e for e in events if not e.is_user_annotation and _depth(e) < _MOST_ROWS]
    names = list(dict.fromkeys(call.key for call in calls))
    axes.broken_barh([(0, end)], (-0.4, 0.8), facecolors="0.85")  # Python's own time
    for depth in range(_MOST_ROWS):
        row = [call for call in calls if _depth(call) == depth]
        spans = [(call.time_range.start, call.cpu_time_total) for call in row]
        colours = [f"C{names.index(call.key) % 10}" for call in row]
        axes.broken_barh(spans, (depth - 0.4, 0.8), facecolors=colours)
        for call in row:
            if call.cpu_time_total > _LABELLED * end:
                middle = (call.time_range.start + call.time_range.end) / 2
                axes.text(middle, depth, call.name, ha="center", va="center", size=6, clip_on=True)
    rows = 1 + max((_depth(call) for call in calls), default=0)
    axes.set_yticks(range(rows), ["host", *(f"inside {d}" for d in range(1, rows))])
    axes.set_ylim(rows - 0.5, -0.5)


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

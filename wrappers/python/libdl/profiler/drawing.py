# SPDX-License-Identifier: Apache-2.0
"""Pictures of a profile: the timeline of the calls, and the memory over it.

They follow figures 1 and 2 of Paszke et al., "PyTorch: An Imperative Style, High-Performance Deep
Learning Library" (2019): coloured where operators run, grey where Python does."""

from __future__ import annotations

import importlib
from collections import Counter
from types import ModuleType
from typing import Any, NamedTuple

from .chrome_trace import memory_over_time
from .events import EventList, FunctionEvent

__all__ = ["draw"]

_MOST_ROWS = 3  # of calls inside calls, and of ranges inside ranges
_NAMED = 8  # operators that have a colour of their own: those that take the most time
_OTHERS, _PYTHON = "#b8c4d6", "0.92"
_COLOURS = ("#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3", "#937860", "#da8bc3", "#64b5cd")
_PASSES = {"forward": "#9ecae1", "backward": "#fdae6b", "optimizer": "#a1d99b", "hook": "#d9d9d9"}
_RANGE = "#f0e3a8"
_STEP = "ProfilerStep*"  # the key of the ranges that a schedule's steps are
_WIDTH = 950.0  # of the axes, about, in pixels
_LEAST_PIXELS = 12.0  # of a bar that a name could be written into


class Bar(NamedTuple):
    start: float
    end: float
    name: str
    colour: str


class Row(NamedTuple):
    label: str
    bars: list[Bar]
    has_python: bool  # between the bars Python runs


def _figure() -> ModuleType:
    try:
        return importlib.import_module("matplotlib.figure")
    except ImportError as error:
        raise ImportError(
            "profile.plot draws with matplotlib, which is not installed: pip install matplotlib"
        ) from error


# -- what is drawn ---------------------------------------------------------------------------------


def _around(event: FunctionEvent, ranges: bool) -> int:
    """How many calls, or ranges, are around it."""
    around, depth = event.cpu_parent, 0
    while around is not None:
        depth += around.is_user_annotation is ranges and around.key != _STEP
        around = around.cpu_parent
    return depth


def _passes(calls: list[FunctionEvent]) -> list[Bar]:
    """A bar for each run of outermost calls of one phase."""
    bars: list[Bar] = []
    for call in calls:
        if _around(call, ranges=False):
            continue
        start, end = call.time_range
        phase = call.phase
        if bars and bars[-1].name == phase:
            bars[-1] = bars[-1]._replace(end=max(end, bars[-1].end))
        else:
            bars.append(Bar(start, end, phase, _PASSES[phase]))
    return bars


def _nested(events: list[FunctionEvent], ranges: bool, colour: Any) -> list[list[Bar]]:
    """Bars by how many of their kind are around them."""
    rows: list[list[Bar]] = []
    for event in events:
        depth = _around(event, ranges)
        while depth < _MOST_ROWS and len(rows) <= depth:
            rows.append([])
        if depth < _MOST_ROWS:
            rows[depth].append(Bar(*event.time_range, event.name, colour(event)))
    return rows


def _colours(calls: list[FunctionEvent]) -> dict[str, str]:
    """Of the operators that take the most time by themselves."""
    times: Counter[str] = Counter()
    for call in calls:
        times[call.key] += max(call.self_cpu_time_total, 0.0)  # type: ignore[assignment]
    return {key: _COLOURS[i] for i, (key, _) in enumerate(times.most_common(_NAMED))}


def _rows(events: EventList, colours: dict[str, str], end: float) -> list[Row]:
    rows: list[Row] = []
    threads = list(dict.fromkeys(event.thread for event in events))
    for number, thread in enumerate(threads):
        own = [event for event in events if event.thread == thread]
        calls = [event for event in own if not event.is_user_annotation]
        ranges = [e for e in own if e.is_user_annotation and e.key != _STEP]
        host = "" if len(threads) == 1 else f"thread {number + 1}: "
        rows.append(Row(f"{host}passes", _passes(calls), False))
        for depth, bars in enumerate(_nested(ranges, True, lambda event: _RANGE)):
            rows.append(Row(f"{host}{'inner ' if depth else ''}ranges", bars, False))
        inside = _nested(calls, False, lambda event: colours.get(event.key, _OTHERS))
        for depth, bars in enumerate(inside or [[]]):
            rows.append(Row(f"{host}{'inside' if depth else 'operators'}", bars, not depth))
    return [row for row in rows if row.has_python or _is_seen(row, end)]


def _is_seen(row: Row, end: float) -> bool:
    return any(bar.end - bar.start > end / _WIDTH for bar in row.bars)


# -- how -------------------------------------------------------------------------------------------


def _draw_rows(axes: Any, rows: list[Row], end: float) -> list[tuple[Any, Bar]]:
    """The bars, and the names in those that may have the room."""
    named = []
    for at, row in enumerate(rows):
        if row.has_python:
            axes.broken_barh([(0, end)], (at - 0.4, 0.8), facecolors=_PYTHON)
        spans = [(bar.start, bar.end - bar.start) for bar in row.bars]
        axes.broken_barh(
            spans,
            (at - 0.4, 0.8),
            facecolors=[bar.colour for bar in row.bars],
            edgecolors="white",
            linewidth=0.2,
        )
        for bar in row.bars:
            if bar.end - bar.start > end * _LEAST_PIXELS / _WIDTH:
                text = axes.text(
                    (bar.start + bar.end) / 2,
                    at,
                    bar.name,
                    ha="center",
                    va="center",
                    size=7,
                    clip_on=True,
                )
                named.append((text, bar))
    axes.set_yticks(range(len(rows)), [row.label for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    return named


def _keep_within(figure: Any, axes: Any, named: list[tuple[Any, Bar]]) -> None:
    """Takes away the names that are wider than their bars."""
    figure.draw_without_rendering()
    for text, bar in named:
        left, right = (axes.transData.transform((at, 0))[0] for at in (bar.start, bar.end))
        text.set_visible(text.get_window_extent().width + 6 <= right - left)


def _legend(axes: Any, colours: dict[str, str], has_others: bool) -> None:
    patches = importlib.import_module("matplotlib.patches")
    entries = dict(colours)
    if has_others:
        entries["other operators"] = _OTHERS
    entries["Python"] = _PYTHON
    handles = [patches.Patch(facecolor=colour, label=name) for name, colour in entries.items()]
    axes.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
        fontsize=8,
        borderaxespad=0.3,
    )


def _draw_memory(axes: Any, events: EventList) -> None:
    points = memory_over_time(events)
    unit, scale = _unit(max((size for _, size in points), default=0), _SIZES)
    times, sizes = [at for at, _ in points], [size / scale for _, size in points]
    axes.step(times, sizes, where="post", color=_COLOURS[0])
    axes.fill_between(times, sizes, step="post", alpha=0.25, color=_COLOURS[0])
    axes.set_ylabel(f"{unit} in tensors")
    axes.set_ylim(bottom=0)


_TIMES = (("s", 1e6), ("ms", 1e3), ("µs", 1.0))
_SIZES = (("GiB", 2.0**30), ("MiB", 2.0**20), ("KiB", 2.0**10), ("bytes", 1.0))


def _unit(most: float, units: tuple[tuple[str, float], ...]) -> tuple[str, float]:
    """The unit in which the greatest value is a number from 1 on."""
    return next(((name, size) for name, size in units if most >= size), units[-1])


def _time_axis(axes: Any, end: float) -> None:
    ticker = importlib.import_module("matplotlib.ticker")
    unit, scale = _unit(end, _TIMES)
    steps = (1, 2, 5, 10)
    axes.xaxis.set_major_locator(ticker.MaxNLocator(nbins=10, steps=steps))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda at, _: f"{at / scale:g}"))
    axes.set_xlabel(f"time ({unit})")
    axes.set_xlim(0, end or 1)


def _draw_steps(axes: Any, events: EventList, with_names: bool) -> None:
    """Where the program's steps begin."""
    for event in events:
        if event.key == _STEP:
            start = event.time_range.start
            axes.axvline(start, color="0.3", linewidth=0.8, linestyle=":")
            if with_names:
                axes.annotate(
                    f"step {event.name.partition('#')[2]}",
                    (start, 1.0),
                    xycoords=("data", "axes fraction"),
                    size=7,
                    va="bottom",
                )


def draw(events: EventList, path: str | None = None, *, timeline: bool = True) -> Any:
    """The figure, which is also written to path."""
    calls = [event for event in events if not event.is_user_annotation]
    colours = _colours(calls)
    end = max((event.time_range.end for event in events), default=0.0)
    rows = _rows(events, colours, end) if timeline else []
    tallest = max(0.36 * len(rows), 0.19 * (len(colours) + 2))  # the legend beside the rows
    heights = [tallest + 0.2] * timeline + [1.8] * events.profile_memory
    figure = _figure().Figure(figsize=(12, sum(heights) + 0.7), layout="constrained")
    all_axes = list(
        figure.subplots(len(heights), sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    )
    _time_axis(all_axes[-1], end)
    for axes in all_axes:
        axes.spines[["top", "right"]].set_visible(False)
        _draw_steps(axes, events, axes is all_axes[0])
    if events.profile_memory:
        _draw_memory(all_axes[-1], events)
    if timeline:
        named = _draw_rows(all_axes[0], rows, end)
        _legend(all_axes[0], colours, any(call.key not in colours for call in calls))
        _keep_within(figure, all_axes[0], named)
    if path is not None:
        figure.savefig(path)
    return figure

# SPDX-License-Identifier: Apache-2.0
"""From the core's record to events: the recorder as Python starts and reads it."""

from __future__ import annotations

import sys
import threading
from typing import Any, NamedTuple

from .. import _C
from ..utils._intercept import Call, intercept
from .events import EventList, FunctionEvent, Interval
from .flops import flops_of

__all__ = ["Recording", "RecordOptions"]

_PHASES = ("forward", "backward", "optimizer", "hook")
_RANGE = 1  # LIBDL_PROFILER_RANGE
_PARENT = 6  # where a row has the number of the event around it


class RecordOptions(NamedTuple):
    """What is recorded beside times."""

    shapes: bool = False
    memory: bool = False
    stacks: bool = False
    flops: bool = False
    all_threads: bool = False


def _stack() -> list[str]:
    """The program's frames around a call, the innermost first, without those of this package."""
    frame = sys._getframe(1)
    package = __name__.partition(".")[0]
    lines = []
    at: Any = frame
    while at is not None:
        if at.f_globals.get("__name__", "").partition(".")[0] != package:
            code = at.f_code
            lines.append(f"{code.co_filename}({at.f_lineno}): {code.co_name}")
        at = at.f_back
    return lines


class Recording:
    """From start on the calls of this thread are recorded, or of all, until finish reads them.

    Raises RuntimeError if the thread is recorded already."""

    def __init__(self, wanted: RecordOptions) -> None:
        self._wanted = wanted
        self._thread = threading.get_native_id()
        self._stacks: dict[int, list[str]] = {}  # by the number among this thread's events
        self._rows: list[Any] = []
        self._own = 0  # of the rows, those of this thread
        self._running = False
        # It comes before the recorder: the number of events is that of the call it is shown.
        self._looking = intercept(self._note_stack) if wanted.stacks else None
        self.resume()

    def resume(self) -> None:
        if self._running:
            return
        options = self._wanted
        _C.profiler_start(options.shapes or options.flops, options.all_threads)
        self._running = True
        if self._looking:
            self._looking.__enter__()

    def pause(self) -> None:
        """What is open ends, and nothing is recorded until resume."""
        if not self._running:
            return
        self._running = False
        if self._looking:
            self._looking.__exit__()
        before = len(self._rows)
        for row in _C.profiler_stop():
            parent = row[_PARENT]
            moved = parent + before if parent >= 0 else parent
            self._rows.append((*row[:_PARENT], moved, *row[_PARENT + 1 :]))
            self._own += row[-1] == self._thread

    def _note_stack(self, call: Call) -> None:
        if call.depth == 0:
            self._stacks[self._own + _C.profiler_count()] = _stack()

    def finish(self) -> EventList:
        self.pause()
        options, rows = self._wanted, self._rows
        result = EventList(profile_memory=options.memory, with_flops=options.flops)
        first = rows[0][4] if rows else 0
        own = 0
        for number, row in enumerate(rows):
            event = self._event(number, row, result, first)
            if event.thread == self._thread:
                event.stack = self._stacks.get(own, event.stack)
                own += 1
            result.append(event)
        if options.flops:
            _count_flops(result, rows)
        return result

    def _event(self, number: int, row: Any, before: EventList, first: int) -> FunctionEvent:
        kind, name, source, phase, start, end, parent, allocated, live, conversions, *rest = row
        failed, entries, argument_count, thread = rest
        times = Interval((start - first) / 1e3, (end - first) / 1e3)
        event = FunctionEvent(number, name, times, thread)
        event.is_user_annotation = kind == _RANGE
        event.source, event.phase = source, _PHASES[phase]
        event.failed, event.conversions = failed, conversions
        if parent >= 0:
            event.cpu_parent = before[parent]
            event.cpu_parent.cpu_children.append(event)
            event.stack = event.cpu_parent.stack
        if self._wanted.memory:
            event.cpu_memory_usage, event.live = allocated, live
        if self._wanted.shapes and entries is not None:
            event.input_shapes = [_sizes(entry) for entry in entries[:argument_count]]
        return event


def _sizes(entry: Any) -> list[Any]:
    """The shape in an entry of the record, where a tensor is (dtype, *sizes)."""
    if entry is None:
        return []
    return [_sizes(item) for item in entry] if isinstance(entry, list) else list(entry[1:])


def _count_flops(events: EventList, rows: list[Any]) -> None:
    """Once for each product: not of a call inside which others have been counted."""
    inside = [False] * len(rows)
    for number in reversed(range(len(rows))):
        name, parent, entries, argument_count = (rows[number][i] for i in (1, _PARENT, 11, 12))
        if entries is not None and not inside[number]:
            shapes = [_sizes(entry) for entry in entries]
            events[number].flops = flops_of(name, shapes[:argument_count], shapes[argument_count:])
        if parent >= 0 and (inside[number] or events[number].flops):
            inside[parent] = True

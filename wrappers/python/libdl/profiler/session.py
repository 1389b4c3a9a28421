# SPDX-License-Identifier: Apache-2.0
"""Profiling a part of a program: profile, record_function, handlers of finished traces."""

from __future__ import annotations

import contextlib
import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from .. import _C
from .events import EventList
from .record import Recording, Wanted
from .schedules import ProfilerAction, ProfilerActivity

__all__ = ["profile", "record_function", "supported_activities", "tensorboard_trace_handler"]

_RECORDED = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def supported_activities() -> set[ProfilerActivity]:
    """What can be profiled: the CPU."""
    return {ProfilerActivity.CPU}


class record_function(contextlib.ContextDecorator):  # noqa: N801  (PyTorch's name)
    """Names a part of a program in profiles: a context manager, or a decorator."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name if args is None else f"{name}: {args}"

    def __enter__(self) -> record_function:
        _C.profiler_range_push(self.name)
        return self

    def __exit__(self, *exception: object) -> None:
        _C.profiler_range_pop()


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """An on_trace_ready that writes each trace to dir_name, in a file of its own:
    WORKER.TIME.pt.trace.json, with .gz behind it if use_gzip."""
    worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"

    def write(prof: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return write


class profile:  # noqa: N801  (PyTorch's name)
    """Records the calls that this thread makes inside a with block, or from start() to stop().

    Arguments:
        activities: None or ProfilerActivity.CPU; others give a warning and record nothing
        schedule: from the number of a step to a ProfilerAction; see libdl.profiler.schedule. The
            program calls step() after each of its steps. None: all is recorded
        on_trace_ready: called with the profile after each cycle of the schedule, or at the end
        record_shapes: keep the shapes of arguments
        profile_memory: keep how many bytes each call allocated
        with_stack: keep the Python frames of each call, which costs some microseconds a call
        with_flops: count floating-point operations, of products, additions and multiplications
        with_modules: accepted; changes nothing
        acc_events: keep the events of all cycles, not only of the last
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
    ) -> None:
        self.activities = set(activities or supported_activities())
        if lacking := sorted(a.name for a in self.activities - supported_activities()):
            warnings.warn(f"profile: of {', '.join(lacking)} nothing is recorded", stacklevel=2)
        self.schedule = schedule
        self.on_trace_ready = on_trace_ready
        self.acc_events = acc_events
        self.step_num = 0
        self.current_action = ProfilerAction.NONE
        self._wanted = Wanted(record_shapes, profile_memory, with_stack, with_flops)
        self._recording: Recording | None = None
        self._step: record_function | None = None
        self._events: EventList | None = None

    # -- recording -----------------------------------------------------------------------------

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def start(self) -> None:
        self._begin_step()

    def stop(self) -> None:
        self._end_step()
        if self._recording:
            self._save()
        self.current_action = ProfilerAction.NONE

    def step(self) -> None:
        """Says that the program's next step begins."""
        self._end_step()
        before = self.current_action
        self.step_num += 1
        following = self._action()
        if self._recording and (
            before is ProfilerAction.RECORD_AND_SAVE or following not in _RECORDED
        ):
            self._save()
        self._begin_step()

    def _action(self) -> ProfilerAction:
        return self.schedule(self.step_num) if self.schedule else ProfilerAction.RECORD

    def _begin_step(self) -> None:
        self.current_action = self._action()
        if self.current_action in _RECORDED and not self._recording:
            self._recording = Recording(self._wanted)
        if self._recording and self.schedule:
            self._step = record_function(f"ProfilerStep#{self.step_num}").__enter__()

    def _end_step(self) -> None:
        if self._step:
            self._step.__exit__()
            self._step = None

    def _save(self) -> None:
        recording, self._recording = self._recording, None
        assert recording is not None
        made = recording.finish()
        if self.acc_events and self._events is not None:
            self._events.extend(made)
        else:
            self._events = made
        if self.on_trace_ready:
            self.on_trace_ready(self)

    # -- what was recorded ---------------------------------------------------------------------

    def events(self) -> EventList:
        """The events of the last cycle, or with acc_events of all, in the order of their start."""
        if self._events is None:
            raise RuntimeError("profile.events: nothing was recorded yet")
        return self._events

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
                     group_by_phase: bool = False) -> EventList:  # fmt: skip
        """Sums over events that are alike; see EventList.key_averages."""
        return self.events().key_averages(group_by_input_shape, group_by_stack_n, group_by_phase)

    def export_chrome_trace(self, path: str) -> None:
        """Writes the events for Perfetto and chrome://tracing, as JSON; path may end in .gz."""
        self.events().export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Writes the stacks and their times in microseconds, for flame graphs. Wants with_stack."""
        self.events().export_stacks(path, metric)

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Writes the bytes in tensors over time as JSON, [times in us, bytes], or as a picture if
        path ends in .png, .svg or .pdf. Wants profile_memory."""
        from .trace import write_memory_timeline

        write_memory_timeline(path, self.events())

    def plot(self, path: str | None = None) -> Any:
        """Draws the timeline of the calls and, with profile_memory, the bytes in tensors over it.
        Returns the matplotlib figure, and writes it to path (.png, .svg or .pdf)."""
        from .drawing import draw

        return draw(self.events(), path)

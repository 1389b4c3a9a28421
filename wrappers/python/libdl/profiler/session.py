# SPDX-License-Identifier: Apache-2.0
"""Profiling a part of a program: profile, record_function, handlers of finished traces."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _C
from .chrome_trace import write_chrome_trace
from .events import EventList
from .record import Recording, RecordOptions
from .schedules import ProfilerAction, ProfilerActivity

if TYPE_CHECKING:
    from .events import FunctionEventAvg

__all__ = [
    "kineto_available",
    "profile",
    "record_function",
    "supported_activities",
    "tensorboard_trace_handler",
]


def _new_id() -> str:
    return uuid.uuid4().hex.upper()


_running: dict[int, profile] = {}  # by the thread that began it
_RECORDED = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def supported_activities() -> set[ProfilerActivity]:
    """What can be profiled: the CPU."""
    return {ProfilerActivity.CPU}


def kineto_available() -> bool:
    """Whether traces can be written: always, though not by PyTorch's library of that name."""
    return True


@dataclass
class _ExperimentalConfig:
    """PyTorch's options on trial. profile_all_threads records other threads as well: those that
    begin meanwhile, and those that open a record_function. verbose says what is the case anyway;
    the others change nothing."""

    profile_all_threads: bool = False
    verbose: bool = False
    performance_events: Sequence[str] = ()
    enable_cuda_sync_events: bool = False
    adjust_profiler_step: bool = False
    disable_external_correlation: bool = False
    capture_overload_names: bool = False
    record_python_gc_info: bool = False
    expose_kineto_event_metadata: bool = False
    custom_profiler_config: str = ""
    adjust_timestamps: bool = False
    trace_only: bool = False


class record_function(contextlib.ContextDecorator):  # noqa: N801  (PyTorch's name)
    """Names a part of a program in profiles: a context manager, or a decorator. args is kept here
    alone: parts of one name are one row of a table, whatever theirs."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args

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
        experimental_config: its profile_all_threads records other threads, too
        execution_trace_observer: raises NotImplementedError unless it is None
        acc_events: keep the events of all cycles, not only of the last
        custom_trace_id_callback: makes what get_trace_id returns, for each cycle
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
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        if execution_trace_observer is not None:
            raise NotImplementedError("profile: execution_trace_observer: there are no such traces")
        if schedule is not None and not callable(schedule):
            raise TypeError(f"profile: schedule is a {type(schedule).__name__}, wanted a function")
        self.activities = supported_activities() if activities is None else set(activities)
        if not self.activities:
            raise ValueError("profile: activities is empty, wanted at least one, or None")
        if lacking := sorted(a.name for a in self.activities - supported_activities()):
            warnings.warn(f"profile: of {', '.join(lacking)} nothing is recorded", stacklevel=2)
        self.schedule = schedule
        self.on_trace_ready = on_trace_ready
        self.acc_events = acc_events
        self.step_num = 0
        self.current_action = ProfilerAction.NONE
        self.record_shapes, self.profile_memory = record_shapes, profile_memory
        self.with_stack, self.with_flops, self.with_modules = with_stack, with_flops, with_modules
        self.experimental_config = experimental_config
        self.custom_trace_id_callback = custom_trace_id_callback
        self.preset_metadata: dict[str, Any] = {}
        self._metadata: dict[str, Any] = {}
        self._trace_id: str | None = None
        all_threads = bool(getattr(experimental_config, "profile_all_threads", False))
        self._wanted = RecordOptions(
            record_shapes, profile_memory, with_stack, with_flops, all_threads
        )
        self._recording: Recording | None = None
        self._step: record_function | None = None
        self._events: EventList | None = None
        self._in_block = False

    # -- recording -----------------------------------------------------------------------------

    def __enter__(self) -> profile:
        self._in_block = True
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def start(self) -> None:
        self._end_abandoned()
        try:
            self._begin_step()
        except BaseException:
            self._drop()
            raise

    def stop(self) -> None:
        try:
            self._end_step()
        finally:
            self.current_action = ProfilerAction.NONE
            if self._recording:
                self._save()

    def _end_abandoned(self) -> None:
        """Ends a profile of this thread that start() began and nobody stopped, as after an
        exception between both. A with block ends its own."""
        other = _running.get(threading.get_native_id())
        if other is None or other is self or other._in_block:
            return
        warnings.warn(
            "profile: the one that was started before on this thread was not stopped; it "
            "ends now, and keeps what it has recorded",
            stacklevel=3,
        )
        try:
            other._end_step()
        finally:
            other.current_action = ProfilerAction.NONE
            other._keep(other._finished())

    def _drop(self) -> None:
        """Records no longer, and keeps nothing."""
        self.current_action = ProfilerAction.NONE
        if self._recording:
            self._finished()

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
            _running[threading.get_native_id()] = self
            self._trace_id = (self.custom_trace_id_callback or _new_id)()
            self._metadata = dict(self.preset_metadata)
        if self._recording and self.schedule:
            self._step = record_function(f"ProfilerStep#{self.step_num}").__enter__()

    def _end_step(self) -> None:
        step, self._step = self._step, None
        if step:
            step.__exit__()

    def _finished(self) -> EventList:
        recording, self._recording = self._recording, None
        assert recording is not None
        for thread in [thread for thread, other in _running.items() if other is self]:
            del _running[thread]
        return recording.finish()

    def _keep(self, events: EventList) -> None:
        if self.acc_events and self._events is not None:
            self._events.extend(events)
        else:
            self._events = events

    def _save(self) -> None:
        self._keep(self._finished())
        if self.on_trace_ready:
            self.on_trace_ready(self)

    def toggle_collection_dynamic(
        self, enable: bool, activities: Iterable[ProfilerActivity] = (ProfilerActivity.CPU,)
    ) -> None:
        """Records nothing, with enable=False, until it is called with True. Ranges that are open
        end; memory is counted anew."""
        if self._recording and ProfilerActivity.CPU in activities:
            self._recording.resume() if enable else self._recording.pause()

    # -- what the trace says of itself ---------------------------------------------------------

    def get_trace_id(self) -> str | None:
        """What names this cycle's trace; None before the first."""
        return self._trace_id

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """From the next cycle on."""
        self.custom_trace_id_callback = callback

    def add_metadata(self, key: str, value: str) -> None:
        """Text in the trace of this cycle."""
        self.add_metadata_json(key, json.dumps(value))

    def add_metadata_json(self, key: str, value: str) -> None:
        """JSON in the trace of this cycle. Raises ValueError for other text."""
        self._metadata[key] = json.loads(value)

    def preset_metadata_json(self, key: str, value: str) -> None:
        """JSON in the traces of all cycles that begin from now on."""
        self.preset_metadata[key] = json.loads(value)

    # -- what was recorded ---------------------------------------------------------------------

    def events(self) -> EventList:
        """The events of the last cycle, or with acc_events of all, in the order of their start."""
        if self._events is None:
            raise RuntimeError("profile.events: nothing was recorded yet")
        return self._events

    @property
    def profiler(self) -> AutogradProfile:
        """The same under the names of autograd.profiler.profile."""
        return AutogradProfile.of(self)

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
        include_python_functions: bool = False,
        *,
        group_by_phase: bool = False,
    ) -> EventList:
        """Sums over events that are alike; see EventList.key_averages."""
        return self.events().key_averages(
            group_by_input_shape, group_by_stack_n, group_by_phase=group_by_phase
        )

    def export_chrome_trace(self, path: str) -> None:
        """Writes the events for Perfetto and chrome://tracing, as JSON; path may end in .gz."""
        write_chrome_trace(path, self.events(), memory=self.profile_memory, metadata=self._metadata)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Writes the stacks and their times in microseconds, for flame graphs. Wants with_stack."""
        self.events().export_stacks(path, metric)

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Writes the bytes in tensors over time as JSON, [times in us, bytes], compressed if path
        ends in .gz; or as a picture if it ends in .png, .svg, .pdf or .html. Wants
        profile_memory."""
        from .trace import write_memory_timeline

        write_memory_timeline(path, self.events())

    def plot(self, path: str | None = None) -> Any:
        """Draws the timeline: passes, ranges of record_function and calls, and with profile_memory
        the bytes in tensors below it. Returns the matplotlib figure, and writes it to path (.png,
        .svg or .pdf)."""
        from .drawing import draw

        return draw(self.events(), path)


# -- under the older name --------------------------------------------------------------------------


class AutogradProfile:
    """As libdl.profiler.profile, without schedules; enabled=False records nothing."""

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
    ) -> None:
        if use_device not in (None, "cpu"):
            warnings.warn(f"profile: of {use_device} nothing is recorded", stacklevel=2)
        self.enabled = enabled and use_cpu
        self._profile = profile(
            record_shapes=record_shapes,
            with_flops=with_flops,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_modules=with_modules,
            acc_events=acc_events,
            experimental_config=experimental_config,
            custom_trace_id_callback=custom_trace_id_callback,
        )

    @classmethod
    def of(cls, newer: profile) -> AutogradProfile:
        """What a libdl.profiler.profile recorded, under these names."""
        instance = cls()
        instance._profile = newer
        return instance

    def __getattr__(self, name: str) -> Any:
        """The options, and what else the newer one has."""
        if name.startswith("_"):
            raise AttributeError(f"'profile' object has no attribute {name!r}")
        return getattr(self._profile, name)

    def __enter__(self) -> AutogradProfile:
        if self.enabled:
            self._profile.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        if self.enabled:
            self._profile.__exit__(*exception)

    def _finished(self) -> bool:
        return self.enabled and self._profile._events is not None

    def __str__(self) -> str:
        return str(self.function_events) if self._finished() else "<unfinished autograd.profile>"

    def __repr__(self) -> str:
        return repr(self.function_events) if self._finished() else "<unfinished autograd.profile>"

    @property
    def function_events(self) -> EventList:
        return self._profile.events() if self.enabled else EventList()

    @property
    def self_cpu_time_total(self) -> float:
        return self.function_events.self_cpu_time_total

    def key_averages(self, *args: Any, **options: Any) -> EventList:
        """As EventList.key_averages."""
        return self.function_events.key_averages(*args, **options)

    def total_average(self) -> FunctionEventAvg:
        return self.function_events.total_average()

    def table(self, *args: Any, **options: Any) -> str:
        return self.function_events.table(*args, **options)

    def export_chrome_trace(self, path: str) -> None:
        self.function_events.export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        self.function_events.export_stacks(path, metric)


AutogradProfile.__name__ = AutogradProfile.__qualname__ = "profile"
AutogradProfile.__module__ = "libdl.autograd.profiler"

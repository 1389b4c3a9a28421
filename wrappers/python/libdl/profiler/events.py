# SPDX-License-Identifier: Apache-2.0
"""What a profile holds: single events, and averages over those that are alike."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .chrome_trace import write_chrome_trace, write_stacks
from .table import format_time, write_table

__all__ = ["DeviceType", "EventList", "FunctionEvent", "FunctionEventAvg", "Interval"]


class DeviceType(enum.Enum):
    """Where an event ran. All that is recorded are calls of the host."""

    CPU = 0
    CUDA = 1


class Interval(NamedTuple):
    """Microseconds since the profile began."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        return self.end - self.start


class _Timed:
    """What single events and averages have in common. Times are in microseconds, memory in bytes:
    "total" is with, "self" without the calls inside."""

    key: str
    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    cpu_memory_usage: int
    self_cpu_memory_usage: int
    input_shapes: Any
    # Nothing is measured on devices: these are here for PyTorch's programs that read them.
    device_time = device_time_total = self_device_time_total = 0.0
    device_memory_usage = self_device_memory_usage = 0
    cuda_time = cuda_time_total = self_cuda_time_total = 0.0
    cuda_memory_usage = self_cuda_memory_usage = 0
    device_time_str = device_time_total_str = self_device_time_total_str = format_time(0.0)
    device_type, use_device = DeviceType.CPU, None
    # Nor do operators have overloads, nor is anything recorded of other machines.
    overload_name = ""
    is_async = is_remote = is_legacy = False
    node_id = -1
    is_user_annotation: bool
    cpu_parent: FunctionEvent | None
    cpu_children: list[FunctionEvent]

    @property
    def scope(self) -> int:
        """PyTorch's number: 7 of a range of record_function, 0 of a call."""
        return 7 if self.is_user_annotation else 0

    @property
    def cpu_time(self) -> float:
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        return format_time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        return format_time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        return format_time(self.self_cpu_time_total)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} {self.key} count={self.count} "
            f"cpu_time={format_time(self.cpu_time)} "
            f"self_cpu_time={format_time(self.self_cpu_time_total)} "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage}>"
        )


class FunctionEvent(_Timed):
    """One call, or one range of record_function."""

    def __init__(self, number: int, name: str, time_range: Interval, thread: int) -> None:
        self.id = number
        self.name = name
        # All steps are alike in averages.
        self.key = "ProfilerStep*" if name.startswith("ProfilerStep#") else name
        self.time_range = time_range
        self.thread = thread
        self.count = 1
        self.phase = "forward"
        """"forward", "backward", "optimizer" or "hook"."""
        self.source: str | None = None
        """The operator on whose behalf it was called; see libdl.utils.Call.source."""
        self.is_user_annotation = False
        self.failed = False
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_time_total = time_range.elapsed_us()
        self.cpu_memory_usage = 0
        self.live = 0
        """The thread's bytes in tensors at its end, counted from the profile's start."""
        self.conversions = 0
        """How many representations of tensors were converted meanwhile."""
        self.input_shapes: list[Any] = []
        self.flops = 0
        self.stack: list[str] = []
        """The Python frames of the call, the innermost first."""

    kernels: tuple[Any, ...] = ()  # of devices
    is_python_function = False
    sequence_nr = -1

    @property
    def trace_name(self) -> str:
        return self.name

    @property
    def activity_type(self) -> str:
        return "user_annotation" if self.is_user_annotation else "cpu_op"

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:  # type: ignore[override]
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    @property
    def self_conversions(self) -> int:
        return self.conversions - sum(child.conversions for child in self.cpu_children)


class FunctionEventAvg(_Timed):
    """The sum of events that are alike; cpu_time is their mean."""

    def __init__(self) -> None:
        self.key = ""
        self.count = 0
        self.phase: str | None = None  # None: it was not told apart
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.conversions = self.self_conversions = 0
        self.flops = 0
        self.input_shapes: Any = ""
        self.stack: list[str] = []
        self.is_user_annotation = False
        self.cpu_parent, self.cpu_children = None, []

    def add(self, event: FunctionEvent) -> FunctionEventAvg:
        self.key = self.key or event.key
        self.count += 1
        self.is_user_annotation |= event.is_user_annotation
        # An event inside one of its own kind is in that one's time already.
        if not _is_inside_its_kind(event):
            self.cpu_time_total += event.cpu_time_total
            self.cpu_memory_usage += event.cpu_memory_usage
            self.conversions += event.conversions
        self.self_cpu_time_total += event.self_cpu_time_total
        self.self_cpu_memory_usage += event.self_cpu_memory_usage
        self.self_conversions += event.self_conversions
        self.flops += event.flops
        return self


def _is_inside_its_kind(event: FunctionEvent) -> bool:
    around = event.cpu_parent
    while around is not None and around.key != event.key:
        around = around.cpu_parent
    return around is not None


class EventList(list[Any]):
    """Events, or averages, with their table."""

    def __init__(
        self, events: Iterable[Any] = (), *, profile_memory: bool = False, with_flops: bool = False
    ) -> None:
        super().__init__(events)
        self.profile_memory, self.with_flops = profile_memory, with_flops

    def _of(self, events: Iterable[Any]) -> EventList:
        return EventList(events, profile_memory=self.profile_memory, with_flops=self.with_flops)

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds in all events."""
        return float(sum(event.self_cpu_time_total for event in self))

    def key_averages(
        self,
        group_by_input_shapes: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
        include_python_functions: bool = False,
        *,
        group_by_phase: bool = False,
    ) -> EventList:
        """The sums over events with one name and, where asked for, the same shapes of arguments,
        the same `group_by_stack_n` innermost Python frames and the same phase.
        group_by_overload_name and include_python_functions change nothing: there are neither."""
        groups: dict[Any, FunctionEventAvg] = {}
        for event in self:
            shapes = event.input_shapes if group_by_input_shapes else ""
            stack = event.stack[:group_by_stack_n]
            phase = event.phase if group_by_phase else None
            group = groups.setdefault((event.key, str(shapes), *stack, phase), FunctionEventAvg())
            group.add(event)
            group.input_shapes, group.stack, group.phase = shapes, stack, phase
        return self._of(groups.values())

    def total_average(self) -> FunctionEventAvg:
        """The sum of all events."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
        total.key = "Total"
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The events as text, the largest `sort_by` first: "cpu_time", "cpu_time_total",
        "self_cpu_time_total", "cpu_memory_usage", "self_cpu_memory_usage", "count", "flops",
        "conversions" or another number that they have; None: in their order. row_limit=-1 shows
        all. time_unit is "s", "ms", "us" or None, for each time its own."""
        rows: list[Any] = list(self)
        if top_level_events_only:
            rows = [row for row in rows if getattr(row, "cpu_parent", None) is None]
        if sort_by is not None:
            rows.sort(key=_sorting(rows, sort_by), reverse=True)
        return write_table(
            rows[:row_limit] if row_limit >= 0 else rows,
            self.self_cpu_time_total,
            memory=self.profile_memory,
            flops=self.with_flops,
            header=header,
            time_unit=time_unit,
            widths=(max_name_column_width, max_shapes_column_width, max_src_column_width),
        )

    def __str__(self) -> str:
        return self.table()

    def export_chrome_trace(self, path: str) -> None:
        write_chrome_trace(path, self, memory=self.profile_memory)

    def supported_export_stacks_metrics(self) -> list[str]:
        """What export_stacks writes. Of devices nothing is measured: their stacks are none."""
        return ["self_cpu_time_total", "self_cuda_time_total"]

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError(
                f"export_stacks: metric must be one of {self.supported_export_stacks_metrics()}, "
                f"found {metric!r}"
            )

        write_stacks(path, self, metric)


def _sorting(rows: list[Any], name: str) -> Callable[[Any], Any]:
    for row in rows[:1]:
        if not isinstance(getattr(row, name, None), int | float | str):
            raise AttributeError(f"table: sort_by is {name!r}, which the events do not have")
    return lambda row: getattr(row, name)

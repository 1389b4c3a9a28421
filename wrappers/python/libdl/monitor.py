# SPDX-License-Identifier: Apache-2.0
"""Events that programs log to handlers, and statistics of numbers, which log one for each
window."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .utils.tensorboard import SummaryWriter

__all__ = [
    "Aggregation",
    "Event",
    "EventHandlerHandle",
    "STAT_EVENT",
    "Stat",
    "TensorboardEventHandler",
    "data_value_t",
    "log_event",
    "register_event_handler",
    "unregister_event_handler",
]

STAT_EVENT = "torch.monitor.Stat"  # the name of Stat's events, PyTorch's


class data_value_t:
    """What an event's data holds: int, float, bool or str. A name for annotations."""


class Aggregation(Enum):
    """What a Stat computes of the numbers of a window."""

    VALUE = 1  # the last one
    MEAN = 2
    COUNT = 3
    SUM = 4
    MAX = 5
    MIN = 6


VALUE, MEAN, COUNT, SUM, MAX, MIN = Aggregation

_AGGREGATED: dict[Aggregation, Callable[[list[float]], float]] = {
    VALUE: lambda numbers: numbers[-1],
    MEAN: lambda numbers: sum(numbers) / len(numbers),
    COUNT: lambda numbers: float(len(numbers)),
    SUM: sum,
    MAX: max,
    MIN: min,
}


class Event:
    """Something that happened: a name, a time, and data by name."""

    def __init__(
        self, name: str, timestamp: datetime, data: Mapping[str, int | float | str]
    ) -> None:
        if not isinstance(timestamp, datetime):
            raise TypeError(f"Event: argument 2 (timestamp) is {timestamp!r}, wanted a datetime")
        for key, value in data.items():
            if not isinstance(key, str) or not isinstance(value, (int, float, str)):
                raise TypeError(
                    f"Event: argument 3 (data) has {key!r}: {value!r}, wanted names of "
                    "numbers, truths or text"
                )
        self.name, self.timestamp, self.data = str(name), timestamp, dict(data)


class EventHandlerHandle:
    """A registered handler, for unregister_event_handler."""

    def __init__(self, handler: Callable[[Event], None]) -> None:
        self._handler = handler


_HANDLES: list[EventHandlerHandle] = []


def register_event_handler(callback: Callable[[Event], None]) -> EventHandlerHandle:
    """Calls callback(event) for each event from now on.

    Example:
        >>> seen = []
        >>> handle = torch.monitor.register_event_handler(lambda event: seen.append(event.name))
        >>> torch.monitor.log_event(torch.monitor.Event("start", datetime.datetime.now(), {}))
        >>> torch.monitor.unregister_event_handler(handle)
        >>> seen
        ['start']
    """
    if not callable(callback):
        raise TypeError(
            f"register_event_handler: argument 1 (callback) is {callback!r}, wanted a function"
        )
    _HANDLES.append(EventHandlerHandle(callback))
    return _HANDLES[-1]


def unregister_event_handler(handler: EventHandlerHandle) -> None:
    """Ends what register_event_handler began."""
    if handler not in _HANDLES:
        raise ValueError("unregister_event_handler: argument 1 (handler) is not registered")
    _HANDLES.remove(handler)


def log_event(event: Event) -> None:
    """Hands the event to all registered handlers."""
    if not isinstance(event, Event):
        raise TypeError(f"log_event: argument 1 (event) is {event!r}, wanted an Event")
    for handle in list(_HANDLES):
        handle._handler(event)


class Stat:
    """Aggregates the numbers that are added in windows of time, each of which it logs as an event.

    name           the prefix of the event's data
    aggregations   what is computed
    window_size    how long a window lasts, from its first number on
    max_samples    with how many numbers a window ends earlier
    """

    def __init__(
        self,
        name: str,
        aggregations: list[Aggregation],
        window_size: timedelta,
        max_samples: int = sys.maxsize,
    ) -> None:
        if not isinstance(window_size, timedelta):
            raise TypeError(
                f"Stat: argument 3 (window_size) is {window_size!r}, wanted a timedelta"
            )
        for kind in aggregations:
            if not isinstance(kind, Aggregation):
                raise TypeError(
                    f"Stat: argument 2 (aggregations) holds {kind!r}, wanted Aggregations"
                )
        self.name = name
        self._kinds = list(dict.fromkeys(aggregations))
        self._length, self._most = window_size.total_seconds(), max_samples
        self._numbers: list[float] = []
        self._end = time.monotonic() + self._length
        self._told = dict.fromkeys(self._kinds, 0.0)

    @property
    def count(self) -> int:
        """How many numbers the current window has."""
        self._close_if_over()
        return len(self._numbers)

    def add(self, v: float) -> None:
        """Adds a number to the current window."""
        self._close_if_over()
        self._numbers.append(float(v))
        if len(self._numbers) >= self._most:
            self._close()

    def get(self) -> dict[Aggregation, float]:
        """What the last finished window aggregated; 0 before there is one."""
        self._close_if_over()
        return dict(self._told)

    def _close_if_over(self) -> None:
        if time.monotonic() >= self._end:
            self._close()

    def _close(self) -> None:
        numbers, self._numbers = self._numbers, []
        self._end = time.monotonic() + self._length
        self._told = {kind: _AGGREGATED[kind](numbers) if numbers else 0.0 for kind in self._kinds}
        if numbers and _HANDLES:
            data = {f"{self.name}.{kind.name.lower()}": x for kind, x in self._told.items()}
            log_event(Event(STAT_EVENT, datetime.now(), data))

    def __del__(self) -> None:
        if getattr(self, "_numbers", None) and not sys.is_finalizing():
            self._close()


class TensorboardEventHandler:
    """A handler that writes the events of Stat to a SummaryWriter, as scalars."""

    def __init__(self, writer: SummaryWriter) -> None:
        self._writer = writer

    def __call__(self, event: Event) -> None:
        if event.name == STAT_EVENT:
            for name, number in event.data.items():
                self._writer.add_scalar(name, number, walltime=event.timestamp.timestamp())

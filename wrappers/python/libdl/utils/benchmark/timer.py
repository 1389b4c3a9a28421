# SPDX-License-Identifier: Apache-2.0
"""Timing statements of Python, as the standard library's timeit does, with a number of threads."""

from __future__ import annotations

import contextlib
import statistics
import sys
import timeit
from collections.abc import Callable, Iterator
from typing import Any

from ... import _C
from .measurement import Measurement, TaskSpec

__all__ = ["Timer", "timer"]

timer = timeit.default_timer


@contextlib.contextmanager
def _threads(number: int) -> Iterator[None]:
    before = _C.get_threads()
    _C.set_threads(number)
    try:
        yield
    finally:
        _C.set_threads(before)


_TIMERS_SHARE = 1e-4  # of a block, the most that taking its time may need


class Timer:
    """Measures a statement.

    Arguments:
        stmt: the code, which may use the names in globals and those that setup makes
        setup: code that runs before each measurement, and is not measured
        global_setup: for C++ statements; must be ""
        timer: returns seconds
        globals: the names that stmt and setup see, besides "torch": this package
        label, sub_label, description, env: how results name it; see Compare
        num_threads: how many threads work on one operator
        language: Python; others raise NotImplementedError
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: str = "py",
    ) -> None:
        if str(language).lower() not in ("py", "python"):
            raise NotImplementedError(f"Timer: measures Python alone, found language {language!r}")
        if global_setup:
            raise ValueError("Timer: global_setup is for C++ statements")
        names = dict(globals or {})
        if "torch" not in names:
            names["torch"] = names["libdl"] = sys.modules["libdl"]
        self._timer = timeit.Timer(stmt, setup, timer, names)
        self._task_spec = TaskSpec(
            stmt, setup, global_setup, label, sub_label, description, env, num_threads
        )

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._task_spec)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """One measurement of `number` runs, after a hundredth of them to warm up."""
        with _threads(self._task_spec.num_threads):
            self._timer.timeit(max(number // 100, 2))
            return self._measured(number, [self._timer.timeit(number)])

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        raise NotImplementedError("Timer.repeat: use timeit or blocked_autorange")

    def _number_for(self, seconds: float) -> int:
        """How many runs take at least so long, and so long that the timer's own time is not seen
        in theirs: a power of ten."""
        own = statistics.median(self._timer.timeit(0) for _ in range(5))
        number = 1
        while True:
            self._timer.timeit(max(number // 100, 2))  # the first runs are slow
            if self._timer.timeit(number) >= max(seconds, own / _TIMERS_SHARE):
                return number
            number *= 10

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Measurements of so many runs that the timer does not count, until they have taken
        min_run_time seconds together. callback(number, seconds) is called after each."""
        with _threads(self._task_spec.num_threads):
            number = self._number_for(min(min_run_time / 1000, 0.01))
            return self._measured(number, self._blocks(number, min_run_time, callback))

    def _blocks(
        self, number: int, least: float, callback: Callable[[int, float], Any] | None
    ) -> list[float]:
        times: list[float] = []
        while sum(times) < least or not times:
            times.append(self._timer.timeit(number))
            if callback:
                callback(number, times[-1])
        return times

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """As blocked_autorange, but until the interquartile range is below `threshold` of the
        median, or max_run_time seconds have passed."""
        with _threads(self._task_spec.num_threads):
            number = self._number_for(0.05 * min_run_time)
            times: list[float] = []
            while True:
                times += self._blocks(number, min_run_time, callback)
                result = self._measured(number, times)
                if result.meets_confidence(threshold) or sum(times) >= max_run_time:
                    return result

    autorange = blocked_autorange

    def collect_callgrind(self, *args: Any, **options: Any) -> None:
        raise NotImplementedError(
            "Timer.collect_callgrind: run the program under valgrind yourself"
        )

# SPDX-License-Identifier: Apache-2.0
"""Times of one piece of code, and what they say."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import Any

__all__ = ["Measurement", "TaskSpec", "select_unit", "trim_sigfig"]

_UNITS = (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0))
_NOISY = 0.1  # of the median: the interquartile range above which a warning is shown
_LEAST_SURE = 4  # measurements without which no warning is given, nor taken back


def select_unit(seconds: float) -> tuple[str, float]:
    """The unit in which a time reads best, and its seconds: 0.002 gives ("ms", 0.001)."""
    fitting = [unit for unit in _UNITS if unit[1] <= seconds]
    return fitting[-1] if fitting else _UNITS[0]


def trim_sigfig(x: float, n: int) -> float:
    """x rounded to n significant figures."""
    if not x:
        return x
    return round(x, n - 1 - math.floor(math.log10(abs(x))))


@dataclasses.dataclass(frozen=True)
class TaskSpec:
    """What was measured."""

    stmt: str
    setup: str = "pass"
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        return self.stmt if "\n" not in self.stmt else self.stmt.strip().splitlines()[0] + " ..."


@dataclasses.dataclass
class Measurement:
    """Seconds that number_per_run runs took, again and again; times are those of single runs."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec

    @cached_property
    def times(self) -> list[float]:
        return [seconds / self.number_per_run for seconds in self.raw_times]

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """The interquartile range: the width of the middle half of the times."""
        if len(self.times) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return high - low

    @property
    def significant_figures(self) -> int:
        """How many figures of the median are worth showing, from 1 to 5: those that a standard
        error estimated from the interquartile range leaves (for a normal distribution the range is
        1.349 standard deviations)."""
        error = self.iqr / 1.349 / math.sqrt(len(self.times))
        if not error:
            return 3
        return min(max(math.floor(math.log10(self.median / error)) + 1, 1), 5)

    @property
    def has_warnings(self) -> bool:
        return len(self.times) >= _LEAST_SURE and self.iqr > _NOISY * self.median

    def meets_confidence(self, threshold: float = _NOISY) -> bool:
        """Whether the interquartile range is below this share of the median."""
        return len(self.times) >= _LEAST_SURE and self.iqr < threshold * self.median

    def __getattr__(self, name: str) -> Any:
        """What was measured: label, sub_label, stmt, ... of the task."""
        if name in TaskSpec.__dataclass_fields__:
            return getattr(self.task_spec, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def title(self) -> str:
        return self.task_spec.title

    @property
    def env(self) -> str:
        return self.task_spec.env or "Unspecified env"

    def as_row_name(self) -> str:
        spec = self.task_spec
        return spec.sub_label or spec.stmt or "[Unknown]"

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """One measurement for each task, with the times of all that measured it."""
        groups: defaultdict[TaskSpec, list[Measurement]] = defaultdict(list)
        for measurement in measurements:
            groups[measurement.task_spec].append(measurement)
        return [
            Measurement(1, [time for m in group for time in m.times], spec)
            for spec, group in groups.items()
        ]

    def __repr__(self) -> str:
        spec = self.task_spec
        unit, scale = select_unit(self.median)

        def shown(seconds: float) -> str:
            return f"{trim_sigfig(seconds / scale, max(self.significant_figures, 3)):g} {unit}"

        lines = [f"<{type(self).__module__}.{type(self).__name__} object at {hex(id(self))}>"]
        lines.append(spec.title)
        if spec.description:
            lines.append(spec.description)
        if spec.setup != "pass" and "\n" not in spec.setup:
            lines.append(f"setup: {spec.setup}")
        count = len(self.times)
        runs = f"{self.number_per_run} runs" if self.number_per_run > 1 else "1 run"
        threads = f"{spec.num_threads} thread{'s' if spec.num_threads > 1 else ''}"
        if count > 1:
            low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
            lines += [
                f"  Median: {shown(self.median)}",
                f"  IQR:    {shown(self.iqr)} ({shown(low)} to {shown(high)})",
            ]
        else:
            lines.append(f"  {shown(self.median)}")
        lines.append(f"  {count} measurement{'s' if count > 1 else ''}, {runs} , {threads}")
        if self.has_warnings:
            share = f"{self.iqr / self.median:.1%}"
            lines.append(f"  WARNING: the interquartile range is {share} of the median")
        return "\n".join(lines)

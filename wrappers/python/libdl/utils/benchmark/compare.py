# SPDX-License-Identifier: Apache-2.0
"""Measurements side by side: a table for each label, with a row for each sub-label and a column
for each description."""

from __future__ import annotations

from collections.abc import Iterable

from .measurement import Measurement, select_unit, trim_sigfig

__all__ = ["Compare"]

_NAMES = {"ns": "nanoseconds", "us": "microseconds", "ms": "milliseconds", "s": "seconds"}
_BEST, _PLAIN = "\033[92m\033[1m", "\033[0m\033[0m"


class Compare:
    """Collects measurements and prints them as tables."""

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trim = self._colour = False

    def extend_results(self, results: Iterable[Measurement]) -> None:
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(f"Compare: takes measurements, found {type(result).__name__}")
            self._results.append(result)

    def trim_significant_figures(self) -> None:
        """Shows no more figures than the measurements support."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Shows the best time of each row in green (rowwise is accepted, and always so)."""
        self._colour = True

    def print(self) -> None:
        print(str(self))

    def __str__(self) -> str:
        merged = Measurement.merge(self._results)
        labels = dict.fromkeys(m.task_spec.label or m.task_spec.stmt for m in merged)
        return "\n".join(
            self._table(
                label, [m for m in merged if (m.task_spec.label or m.task_spec.stmt) == label]
            )
            for label in labels
        )

    def _table(self, label: str, results: list[Measurement]) -> str:
        columns = list(dict.fromkeys(m.task_spec.description or "" for m in results))
        unit, scale = select_unit(min(m.median for m in results))
        threads = sorted({m.task_spec.num_threads for m in results})
        rows = list(dict.fromkeys((m.env, m.as_row_name()) for m in results))
        several = len({env for env, _ in rows}) > 1
        names = [f"({env}) {name}" if several else name for env, name in rows]
        cells = {
            (
                m.task_spec.num_threads,
                m.env,
                m.as_row_name(),
                m.task_spec.description or "",
            ): self._cell(m, scale)
            for m in results
        }
        wide = max(len("nn threads: "), *(len(name) + 6 for name in names))
        widths = [max([len(c), *(len(t) for k, t in cells.items() if k[3] == c)]) for c in columns]
        titles = " " * wide + "".join(
            f"  |  {c:^{w}}" for c, w in zip(columns, widths, strict=True)
        )
        lines = [f"[{f' {label} ':-^{max(len(titles) - 2, len(label) + 2)}}]", titles]
        for number in threads:
            lines.append(f"{number} threads: ".ljust(len(lines[0]), "-"))
            for (env, row), name in zip(rows, names, strict=True):
                texts = [cells.get((number, env, row, c), "") for c in columns]
                if any(texts):
                    lines.append(f"      {name:<{wide - 6}}" + self._row(texts, widths))
        return "\n".join([*lines, "", f"Times are in {_NAMES[unit]} ({unit}).", ""])

    def _cell(self, measurement: Measurement, scale: float) -> str:
        time = measurement.median / scale
        if self._trim:
            return f"{trim_sigfig(time, measurement.significant_figures):g}"
        return f"{time:.1f}"

    def _row(self, texts: list[str], widths: list[int]) -> str:
        best = min((float(text) for text in texts if text), default=0.0)
        line = ""
        for text, width in zip(texts, widths, strict=True):
            shown = f"{text:^{width}}"
            if self._colour and text and float(text) == best:
                shown = shown.replace(text, f"{_BEST}{text}{_PLAIN}")
            line += f"  |  {shown}"
        return line

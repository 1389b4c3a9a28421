# SPDX-License-Identifier: Apache-2.0
"""A profile's averages as a table of text."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

__all__ = ["format_memory", "format_time", "write_table"]

_SECONDS = {"us": 1.0, "ms": 1e3, "s": 1e6}


def format_time(us: float, unit: str | None = None) -> str:
    """Microseconds as "12.500us", "1.200ms" or "3.000s"."""
    if unit is None:
        unit = "s" if us >= 1e6 else "ms" if us >= 1e3 else "us"
    return f"{us / _SECONDS[unit]:.3f}{unit}"


def format_memory(size: int) -> str:
    """Bytes as "12 B", "1.50 KB", "2.00 MB" or "1.25 GB"."""
    for unit, name in ((2**30, "GB"), (2**20, "MB"), (2**10, "KB")):
        if abs(size) >= unit:
            return f"{size / unit:.2f} {name}"
    return f"{size} B"


class _Column(NamedTuple):
    title: str
    cells: list[str]
    most: int = 12
    least: int = 12
    left: bool = False

    def lines(self) -> list[str]:
        expected = max([len(self.title), *map(len, self.cells)])
        width = min(max(expected, self.least), max(self.most, len(self.title)))
        texts = [t if len(t) <= width else t[: width - 3] + "..." for t in self.cells]
        rule = "-" * width
        lines = [rule, self.title, rule, *texts, rule]
        return [t.ljust(width) if self.left else t.rjust(width) for t in lines]


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.2%}" if whole else "NaN"


def _flops_column(rows: list[Any]) -> _Column:
    most = max((row.flops for row in rows), default=0)
    order = min(int(math.log10(most)) // 3, 4) if most else 0
    unit = ["FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs"][order]
    cells = [f"{row.flops / 1000**order:.3f}" if row.flops else "--" for row in rows]
    return _Column(f"Total {unit}", cells)


def _columns(
    rows: list[Any],
    whole: float,
    unit: str | None,
    widths: tuple[int, int, int],
    memory: bool,
    flops: bool,
) -> list[_Column]:
    def time(name: str) -> list[str]:
        return [format_time(getattr(row, name), unit) for row in rows]

    name_width, shapes_width, source_width = widths
    columns = [
        _Column("Name", [row.key for row in rows], name_width),
        _Column("Self CPU %", [_share(row.self_cpu_time_total, whole) for row in rows]),
        _Column("Self CPU", time("self_cpu_time_total")),
        _Column("CPU total %", [_share(row.cpu_time_total, whole) for row in rows]),
        _Column("CPU total", time("cpu_time_total")),
        _Column("CPU time avg", time("cpu_time")),
    ]
    if memory:
        columns.append(_Column("CPU Mem", [format_memory(row.cpu_memory_usage) for row in rows]))
        own = [format_memory(row.self_cpu_memory_usage) for row in rows]
        columns.append(_Column("Self CPU Mem", own))
    columns.append(_Column("# of Calls", [str(row.count) for row in rows]))
    # What PyTorch has no columns for is shown only where there is something to show.
    if any(row.conversions for row in rows):
        columns.append(_Column("Conversions", [str(row.conversions) for row in rows]))
    if any(row.phase for row in rows):
        columns.append(_Column("Phase", [row.phase or "" for row in rows]))
    if any(row.input_shapes for row in rows):
        columns.append(
            _Column("Input Shapes", [str(row.input_shapes) for row in rows], shapes_width)
        )
    if any(row.stack for row in rows):
        sources = [row.stack[0] if row.stack else "" for row in rows]
        columns.append(_Column("Source Location", sources, source_width, left=True))
    if flops:
        columns.append(_flops_column(rows))
    return columns


def write_table(
    rows: list[Any],
    whole: float,
    *,
    memory: bool,
    flops: bool,
    header: str | None,
    time_unit: str | None,
    widths: tuple[int, int, int],
) -> str:
    if not rows:
        return ""
    if time_unit is not None and time_unit not in _SECONDS:
        raise ValueError(f"table: time_unit must be 's', 'ms', 'us' or None, found {time_unit!r}")
    columns = [c.lines() for c in _columns(rows, whole, time_unit, widths, memory, flops)]
    lines = ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
    total = f"Self CPU time total: {format_time(whole, time_unit)}"
    return "\n".join([*([header] if header else []), *lines, total, ""])

# SPDX-License-Identifier: Apache-2.0
"""A profile as files; of the memory over time numbers, a picture, or a page that shows it."""

from __future__ import annotations

import base64
import gzip
import io
import json
from typing import Any

from .chrome_trace import memory_over_time, write_chrome_trace, write_stacks
from .drawing import draw
from .events import EventList

__all__ = ["memory_over_time", "write_chrome_trace", "write_memory_timeline", "write_stacks"]

_PICTURES = (".png", ".svg", ".pdf")


def write_memory_timeline(path: str, events: EventList) -> None:
    if not events.profile_memory:
        raise ValueError("export_memory_timeline: wants a profile with profile_memory=True")
    if path.endswith("raw.json.gz"):
        raise NotImplementedError(
            "export_memory_timeline: single allocations are not recorded, "
            "wanted a path that does not end in raw.json.gz"
        )
    if path.endswith(_PICTURES):
        draw(events, path, timeline=False)
        return
    if path.endswith(".html"):
        _write_page(path, events)
        return
    points = memory_over_time(events)
    opened: Any = gzip.open if path.endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8") as file:
        file.write(json.dumps([[at for at, _ in points], [size for _, size in points]]))


def _write_page(path: str, events: EventList) -> None:
    """The picture as a page that needs no other file."""
    picture = io.BytesIO()
    draw(events, timeline=False).savefig(picture, format="png")
    data = base64.b64encode(picture.getvalue()).decode("ascii")
    with open(path, "w", encoding="utf-8") as file:
        file.write(
            '<!doctype html><html><head><meta charset="utf-8"><title>Memory</title></head>'
            f'<body><img src="data:image/png;base64,{data}"></body></html>\n'
        )

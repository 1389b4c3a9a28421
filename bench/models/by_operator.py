# SPDX-License-Identifier: Apache-2.0
"""Where a step's time goes: libdl's own time by operator, seen by an interceptor."""

import collections
import time
from typing import Any

from training import Training

WARM_STEPS = 3
Key = tuple[str, str, str]  # phase, call, the operator on whose behalf


class Clock:
    """Sums each call's time without that of the calls inside it."""

    def __init__(self) -> None:
        self.calls: collections.Counter[Key] = collections.Counter()
        self.seconds: collections.defaultdict[Key, float] = collections.defaultdict(float)
        self.open: list[list[float]] = []  # of each call: when it began, time of calls inside

    def before(self, call: Any) -> None:
        self.open.append([time.perf_counter(), 0.0])

    def after(self, call: Any) -> None:
        start, inside = self.open.pop()
        spent = time.perf_counter() - start
        if self.open:
            self.open[-1][1] += spent
        source = "" if call.source in (None, call.name) else call.source
        key = (call.phase, call.name, source)
        self.calls[key] += 1
        self.seconds[key] += spent - inside


def profile(training: Training) -> dict[str, Any]:
    for _ in range(WARM_STEPS):
        training.step()
    clock = Clock()
    with training.m.utils.intercept(clock.before, clock.after):
        start = time.perf_counter()
        training.step()
        whole = time.perf_counter() - start
    rows = [[*key, clock.calls[key], seconds] for key, seconds in clock.seconds.items()]
    return {"seconds": whole, "rows": sorted(rows, key=lambda row: -row[-1])}


def table(measured: dict[str, Any]) -> str:
    whole = measured["seconds"]
    lines = [f"  {'phase':10}{'operator':28}{'for':24}{'calls':>6}{'ms':>10}{'share':>8}"]
    for phase, name, source, calls, seconds in measured["rows"]:
        lines.append(
            f"  {phase:10}{name:28}{source:24}{calls:6}{seconds * 1e3:10.3f}{seconds / whole:8.1%}"
        )
    rest = whole - sum(row[-1] for row in measured["rows"])
    lines.append(f"  {'outside of operators':68}{rest * 1e3:10.3f}{rest / whole:8.1%}")
    lines.append(f"  {'the step':68}{whole * 1e3:10.3f}")
    return "\n".join(lines)

# SPDX-License-Identifier: Apache-2.0
"""The operators' cases on the CPU and on the device: a share of every operator's samples first,
then the checks of many blocks, then the other shares while time is left."""

from __future__ import annotations

import importlib.util
import os
import queue
import sys
import threading
import time

from part import ROOT, Part

sys.path.append(str(ROOT / "tests/cuda"))

from device_process import Device, Devices, Ended  # noqa: E402

PATIENCE = 60  # seconds for one case, after which its process is taken for hung


def refused() -> str:
    """Why the cases cannot run, if so."""
    if importlib.util.find_spec("numpy"):
        return ""
    return "the operators' cases need NumPy (prepare --wheel carries one)"


def operators() -> list[str]:
    sys.path.append(str(ROOT / "tests/ops"))
    import harness

    return [case.name for case in harness.cases()]


def checks_of_many_blocks() -> list[str]:
    import large

    return [f"large {name}" for name in large.CHECKS]


def started(
    prefix: tuple[str, ...] = (),
    environment: dict[str, str] | None = None,
    patience: float = PATIENCE,
) -> Device:
    device = Device(environment or {}, prefix, patience)
    if device.state != "ready":
        raise Ended(str(device.state))
    return device


class Comparison:
    def __init__(self, part: Part, names: list[str], work: list[str]) -> None:
        self.part, self.names = part, names
        self.work: queue.SimpleQueue[str] = queue.SimpleQueue()
        for line in work:
            self.work.put(line)
        self.guard = threading.Lock()
        self.seen: set[str] = set()
        self.compared = 0
        self.told = 0.0

    def take(self) -> None:
        """Compares what the queue holds, in a process of its own, until time is up."""
        try:
            devices = Devices(started)
            while self.part.left() > 0:
                line = self.work.get_nowait()
                self.note(line, *devices.compared(line))
            devices.end()
        except queue.Empty:
            devices.end()
        except Ended as e:
            with self.guard:
                self.part.fail(f"no process for the device: {e}")

    def note(self, line: str, failures: list[str], compared: int) -> None:
        with self.guard:
            self.seen.add(line if line.startswith("large ") else line.split()[0])
            self.compared += compared
            for text in failures:
                self.part.fail(f"{line}: {text}")
            if time.monotonic() > self.told + 1:
                self.write()

    def write(self) -> None:
        self.told = time.monotonic()
        reached = len(self.seen.intersection(self.names))
        large = len(self.seen) - reached
        self.part.write(
            f"{self.compared:,} samples of {reached} of {len(self.names)} operators and {large} "
            f"checks of many blocks: {self.part.found['failed']} failures",
            operators=len(self.names),
            reached=reached,
            compared=self.compared,
        )


def main() -> None:
    part = Part()
    if refused():
        part.not_run(refused())
    names, large = operators(), [] if part.rehearsal else checks_of_many_blocks()
    shares = 40 if part.rehearsal else 8
    rounds = [
        [f"{name} {share}/{shares}" for name in names]
        for share in range(1 if part.rehearsal else shares)
    ]
    comparison = Comparison(part, names, rounds[0] + large + sum(rounds[1:], []))
    jobs = [
        threading.Thread(target=comparison.take)
        for _ in range(max(1, min(4, (os.cpu_count() or 1) // 2)))
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    unseen = [name for name in names if name not in comparison.seen]
    part.expect(not unseen, f"no time for {len(unseen)} operators: {', '.join(unseen[:5])} ...")
    comparison.write()


if __name__ == "__main__":
    main()

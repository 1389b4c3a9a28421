# SPDX-License-Identifier: Apache-2.0
"""Tensors between processes, libdl.multiprocessing beside PyTorch's: milliseconds until another
process has read a tensor from a queue and has answered.

    python bench/processes.py [--rounds N]

Both libraries alternate; the ratio is that of the medians, above 1 where libdl is faster. "new" is
a tensor that no other process has seen, "again" one that was sent before.
"""

import argparse
import importlib
import statistics
import time
from collections.abc import Callable
from typing import Any

LIBRARIES = ("libdl", "torch")
SIZES = {"64 bytes": 16, "4 MB": 1 << 20}  # float32


def echo(requests: Any, answers: Any) -> None:
    while (x := requests.get()) is not None:
        answers.put(float(x[0]))


class Other:
    """Another process, which answers."""

    def __init__(self, library: str) -> None:
        self.m = importlib.import_module(library)
        context = importlib.import_module(f"{library}.multiprocessing").get_context("fork")
        self.requests, self.answers = context.SimpleQueue(), context.SimpleQueue()
        self.process = context.Process(target=echo, args=(self.requests, self.answers), daemon=True)
        self.process.start()

    def ask(self, x: Any) -> float:
        start = time.perf_counter()
        self.requests.put(x)
        self.answers.get()
        return 1000 * (time.perf_counter() - start)

    def end(self) -> None:
        self.requests.put(None)
        self.process.join()


def compare(name: str, others: dict[str, Other], made: Callable[[Any], Any], rounds: int) -> None:
    times: dict[str, list[float]] = {library: [] for library in LIBRARIES}
    for _ in range(rounds):
        for library, other in others.items():
            times[library].append(other.ask(made(other.m)))
    ours, theirs = (statistics.median(times[library]) for library in LIBRARIES)
    print(
        f"{name:16} libdl {ours:7.3f}  PyTorch {theirs:7.3f} ms  ratio {theirs / ours:5.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=100, help="messages of each library (100)")
    rounds = parser.parse_args().rounds
    others = {library: Other(library) for library in LIBRARIES}
    for name, size in SIZES.items():
        kept = {other.m: other.m.ones(size) for other in others.values()}
        for other in others.values():
            other.ask(kept[other.m])
        compare(f"{name}, new", others, lambda m, size=size: m.ones(size), rounds)
        compare(f"{name}, again", others, lambda m, kept=kept: kept[m], rounds)
    for other in others.values():
        other.end()


if __name__ == "__main__":
    main()

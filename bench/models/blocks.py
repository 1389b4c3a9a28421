# SPDX-License-Identifier: Apache-2.0
"""Peers measured in turn: interleaved blocks of steps, forwards and backwards (ABBA)."""

import contextlib
import dataclasses
import math
import statistics
import time

from canary import Canary
from peers import Peer, Process

WARM_STEPS = 3
LEAST_STEPS = 2
BLOCK_SECONDS = 1.0
# Threads of OpenMP wait actively for some milliseconds after their last work.
REST_SECONDS = 0.05
TRIES = 3


@dataclasses.dataclass
class Measured:
    """One peer's blocks, in the order of the rounds."""

    peer: Peer
    version: str
    first: float  # seconds of the first step
    blocks: list[dict[str, float]]
    peak: float = 0.0  # MB
    repeated: int = 0  # blocks that were measured again
    disturbed: int = 0  # blocks that are kept though the canary was off at each try

    @property
    def seconds(self) -> list[float]:
        return [block["seconds"] for block in self.blocks]

    def median(self, key: str = "seconds") -> float:
        return statistics.median(block[key] for block in self.blocks)


class Runner:
    """A peer's process while it is measured."""

    def __init__(self, process: Process, weights: str | None, canary: Canary) -> None:
        self.process, self.canary = process, canary
        if weights is not None:
            process.ask("load", weights)
        first = process.ask("step", 1)
        self.measured = Measured(process.peer, process.ask("version"), first, [])
        once = process.ask("step", WARM_STEPS)
        self.steps = max(LEAST_STEPS, math.ceil(BLOCK_SECONDS / once))

    def block(self) -> None:
        """A block between two canaries that say that nothing else runs."""
        for attempt in range(1, (TRIES if self.canary.patience > 0 else 1) + 1):
            time.sleep(REST_SECONDS)
            before = self.canary.wait()
            block = self.process.ask("block", self.steps)
            time.sleep(REST_SECONDS)
            undisturbed = before and self.canary.undisturbed()
            if undisturbed:
                break
        self.measured.blocks.append(block)
        self.measured.repeated += attempt - 1
        self.measured.disturbed += not undisturbed


def measure(
    peers: list[Peer],
    network: str,
    size: int,
    threads: int,
    blocks: int,
    weights: str | None,
    canary: Canary,
) -> list[Measured]:
    with contextlib.ExitStack() as stack:
        runners = [
            Runner(stack.enter_context(Process(peer, network, size, threads)), weights, canary)
            for peer in peers
        ]
        for i in range(blocks):
            for runner in reversed(runners) if i % 2 else runners:
                runner.block()
        for runner in runners:
            runner.measured.peak = runner.process.ask("peak")
        return [runner.measured for runner in runners]

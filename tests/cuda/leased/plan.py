# SPDX-License-Identifier: Apache-2.0
"""The parts in the order in which they run, the seconds that each may take, and what it tries."""

import dataclasses
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]  # of the source tree, or of what was carried


@dataclasses.dataclass(frozen=True)
class Planned:
    seconds: int
    tries: str


PARTS = {
    "correctness": Planned(
        300, "every operator's cases and the checks of many blocks, beside the CPU"
    ),
    "memcheck": Planned(180, "compute-sanitizer's memcheck and racecheck over some of the cases"),
    "streams": Planned(60, "threads, each on a stream of its own, which take each other's results"),
    "exchange": Planned(30, "DLPack to PyTorch and back on the device, between streams"),
    "host": Planned(60, "the host's time of a call, beside PyTorch"),
    "roofline": Planned(
        240, "bytes and operations a second of each kind of operator, beside PyTorch"
    ),
    "allocator": Planned(60, "allocations of random sizes, memory that runs out, the time of one"),
}

# SPDX-License-Identifier: Apache-2.0
"""The figures of one network as a table, of all of them as means, and as JSON."""

import dataclasses
import json
import os
import platform
import statistics
from pathlib import Path
from typing import Any

from blocks import Measured
from intervals import deviation, geometric_mean, interval
from networks import NETWORKS
from peers import DEFAULT

HEADING = (
    f"{'':28}{'rate':>11} {'+-':>5}  {'':9}{'ratio':>6}{'95 %':>15}"
    f"{'first s':>9}{'peak MB':>9}{'faults':>9}"
)


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.partition(": ")[2] for x in lines if x.startswith("model name")), "unknown")


@dataclasses.dataclass
class Result:
    network: str
    size: int
    measured: list[Measured]  # of libdl first
    equality: dict[str, str]

    def ratios(self, other: Measured) -> list[float]:
        """How many times faster libdl was than the other, round by round."""
        return [b / a for a, b in zip(self.measured[0].seconds, other.seconds, strict=True)]

    def best(self) -> Measured:
        """PyTorch's fastest configuration."""
        return min((x for x in self.measured if x.peer.library == "torch"), key=Measured.median)

    def default(self) -> Measured:
        return next(x for x in self.measured if x.peer.name == DEFAULT.name)

    def rate(self, seconds: float) -> float:
        return float(NETWORKS[self.network].units(self.size) / seconds)

    def row(self, x: Measured) -> str:
        unit = NETWORKS[self.network].UNIT + "/s"
        rates = [self.rate(seconds) for seconds in x.seconds]
        text = f"  {x.peer.name:26}{statistics.median(rates):11,.1f} {deviation(rates):5.1%}"
        text += f"  {unit:9}"
        if x is self.measured[0]:
            text += f"{'':21}"
        else:
            ratios = self.ratios(x)
            low, high = interval(ratios)
            text += f"{statistics.median(ratios):6.2f}  {low:5.2f} to {high:5.2f}"
        text += f"{x.first:9.2f}{x.peak:9,.0f}{x.median('faults'):9,.0f}"
        notes = [
            f"{n} blocks {what}"
            for n, what in ((x.repeated, "repeated"), (x.disturbed, "disturbed"))
            if n
        ]
        return text + (f"  ({', '.join(notes)})" if notes else "")

    def table(self) -> str:
        return "\n".join(self.row(x) for x in self.measured)

    def data(self) -> dict[str, Any]:
        peers = []
        for x in self.measured:
            ratios = self.ratios(x)
            peers.append(
                {
                    **dataclasses.asdict(x),
                    "rate": self.rate(x.median()),
                    "ratio": statistics.median(ratios),
                    "interval": interval(ratios),
                }
            )
        return {
            "network": self.network,
            "size": self.size,
            "equality": self.equality,
            "peers": peers,
        }


def means(results: list[Result]) -> str:
    """Geometric means of the ratios to each of libdl's rivals, and to the fastest of PyTorch."""
    names = list(dict.fromkeys(x.peer.name for r in results for x in r.measured[1:]))
    lines = []
    for name in names:
        ratios = [
            statistics.median(r.ratios(x))
            for r in results
            for x in r.measured
            if x.peer.name == name
        ]
        lines.append(f"{name:26}{geometric_mean(ratios):6.2f}  ({len(ratios)} networks)")
    if any(x.peer.library == "torch" for r in results for x in r.measured):
        fastest = [statistics.median(r.ratios(r.best())) for r in results]
        lines.append(f"{'the fastest of PyTorch':26}{geometric_mean(fastest):6.2f}")
    return "Geometric means of the ratios\n  " + "\n  ".join(lines)


def write(path: str, results: list[Result], threads: int) -> None:
    machine = {
        "processor": processor(),
        "threads": threads,
        "system": platform.platform(),
        "LIBDL": {k: v for k, v in os.environ.items() if k.startswith("LIBDL_")},
    }
    text = json.dumps({**machine, "results": [r.data() for r in results]}, indent=1)
    Path(path).write_text(text + "\n")

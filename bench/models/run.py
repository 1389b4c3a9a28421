# SPDX-License-Identifier: Apache-2.0
"""libdl beside PyTorch in training the six networks of the PyTorch paper: see docs/benchmarks.md.

python bench/models/run.py [--only NAME,...] [--blocks N] [--threads N] [--size N]
                           [--without NAME,...] [--compile] [--autocast] [--patience S]
                           [--json FILE]
                           [--check | --planted | --profile | --ablation]
"""

import argparse
import dataclasses
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import by_operator
import report
from blocks import measure
from canary import Canary
from equality import LIMITS, Verdict, autocast_limits, judge
from networks import NETWORKS
from peers import (
    BEST,
    COMPILED,
    DEFAULT,
    IN_FLOAT32,
    LIBDL,
    TCMALLOC,
    Failure,
    Peer,
    Process,
    libdl_without,
)
from planted import ERRORS
from report import Result

# What LIBDL_DISABLE can disable. The library has no list of these.
MECHANISMS = ["winograd", "split_products", "sparse_rows", "panels", "forms", "fusion", "allocator"]


class Unable(Failure):
    """PyTorch cannot train a network as asked on this processor, as GNMT in bfloat16 without
    AVX-512: libdl's own are measured."""


class Bench:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.failed = False
        self.results: list[Result] = []

    def say(self, text: str) -> None:
        print(text, flush=True)

    def cases(self) -> Iterator[tuple[str, int]]:
        only = self.options.only
        for name, network in NETWORKS.items():
            if not only or name in only:
                for size in [self.options.size] if self.options.size else network.SIZES:
                    yield name, size

    def cast(self, peer: Peer) -> Peer:
        return dataclasses.replace(peer, autocast=self.options.autocast)

    def process(self, peer: Peer, network: str, size: int) -> Process:
        return Process(peer, network, size, self.options.threads)

    def follow(
        self,
        peer: Peer,
        network: str,
        size: int,
        losses: list[float],
        folder: str,
        limits: dict[str, float],
        error: str | None = None,
    ) -> Verdict | None:
        """How a peer's training compares with the leader's; None if the error does not apply."""
        with self.process(peer, network, size) as process:
            if error is not None and not process.ask("plant", error):
                return None
            return judge(losses, process.ask("follow", folder), limits)

    def lead(self, network: str, size: int, folder: str) -> list[float]:
        with self.process(DEFAULT, network, size) as process:
            losses: list[float] = process.ask("lead", folder)
            return losses

    def limits(self, network: str, size: int, losses: list[float], folder: str) -> dict[str, float]:
        """How far from the leader, which trains in float32, a training may be that does not."""
        if not self.options.autocast:
            return LIMITS
        anything = dict.fromkeys(LIMITS, float("inf"))
        try:
            verdict = self.follow(self.cast(DEFAULT), network, size, losses, folder, anything)
        except Failure as failure:
            raise Unable(str(failure)) from failure
        assert verdict is not None
        self.say(f"  {DEFAULT.name:26}apart from its float32: {verdict}")
        return autocast_limits(verdict)

    def equal(self, peers: list[Peer], network: str, size: int, folder: str) -> dict[str, str]:
        """What was found; raises Failure where a peer trains otherwise than PyTorch's default."""
        losses = self.lead(network, size, folder)
        limits, found = self.limits(network, size, losses, folder), {}
        for peer in peers:
            if peer.name != DEFAULT.name:
                allowed = limits if peer.autocast else LIMITS
                verdict = self.follow(peer, network, size, losses, folder, allowed)
                assert verdict is not None
                self.say(f"  {peer.name:26}apart from PyTorch: {verdict}")
                found[peer.name] = str(verdict)
                if verdict.faults:
                    raise Failure(f"{peer.name}: " + "; ".join(verdict.faults))
        return found

    def planted(self, network: str, size: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            losses = self.lead(network, size, folder)
            limits = self.limits(network, size, losses, folder)
            for error in [None, *ERRORS]:
                verdict = self.follow(
                    self.cast(LIBDL), network, size, losses, folder, limits, error
                )
                if verdict is not None:
                    noticed = bool(verdict.faults)
                    self.failed |= noticed != (error is not None)
                    word = "noticed" if noticed else "not noticed"
                    self.say(f"  {error or 'no error':28}{word:13}{verdict}")

    def profile(self, network: str, size: int) -> None:
        with self.process(self.cast(LIBDL), network, size) as process:
            self.say(by_operator.table(process.ask("profile")))

    def compare(self, network: str, size: int, canary: Canary | None) -> None:
        peers = [LIBDL, *map(libdl_without, self.options.without), DEFAULT, BEST]
        peers += [COMPILED] * self.options.compile
        peers = [*map(self.cast, peers)] + [IN_FLOAT32] * self.options.autocast
        with tempfile.TemporaryDirectory() as folder:
            try:
                equality = self.equal(peers, network, size, folder)
            except Unable as unable:
                self.failed = True
                self.say(f"  NOT COMPARED: {unable}")
                peers, equality = [p for p in peers if p.library == LIBDL.library], {}
            if canary is not None:
                self.measure(peers, network, size, canary, f"{folder}/0.npz", equality)

    def ablate(self, network: str, size: int, canary: Canary) -> None:
        peers = [LIBDL, *map(libdl_without, self.options.without or MECHANISMS)]
        peers = [*map(self.cast, peers)] + [IN_FLOAT32] * self.options.autocast
        self.measure(peers, network, size, canary, None, {})

    def measure(
        self,
        peers: list[Peer],
        network: str,
        size: int,
        canary: Canary,
        weights: str | None,
        equality: dict[str, str],
    ) -> None:
        options = self.options
        measured = measure(peers, network, size, options.threads, options.blocks, weights, canary)
        result = Result(network, size, measured, equality)
        self.results.append(result)
        self.say(result.table())

    @contextmanager
    def reported(self, network: str, size: int) -> Iterator[None]:
        self.say(f"{network}, batch {size}")
        try:
            yield
        except Failure as failure:
            self.failed = True
            self.say(f"  NOT MEASURED: {failure}")

    def run(self) -> None:
        options = self.options
        measures = not (options.check or options.planted or options.profile)
        self.say(
            f"{report.processor()}, {options.threads} threads, "
            f"LIBDL_DISABLE={os.environ.get('LIBDL_DISABLE', '')}"
        )
        if TCMALLOC is None and not options.ablation:
            self.say("libtcmalloc-minimal4 is missing: PyTorch's best runs without it")
        canary = Canary(options.threads, options.patience) if measures else None
        if measures:
            self.say(report.HEADING)
        for network, size in self.cases():
            with self.reported(network, size):
                if options.planted:
                    self.planted(network, size)
                elif options.profile:
                    self.profile(network, size)
                elif options.ablation:
                    assert canary is not None
                    self.ablate(network, size, canary)
                else:
                    self.compare(network, size, canary)
        if self.results:
            versions = {x.peer.library: x.version for r in self.results for x in r.measured}
            self.say(report.means(self.results))
            self.say(", ".join(f"{name} {version}" for name, version in versions.items()))
            if options.json:
                report.write(options.json, self.results, options.threads)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--only",
        type=lambda text: text.split(","),
        default=[],
        metavar="NAME,...",
        help=", ".join(NETWORKS),
    )
    parser.add_argument("--blocks", type=int, default=8, help="of each peer (8)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--size", type=int, help="of the batch; default: each network's own")
    parser.add_argument(
        "--without",
        type=lambda text: text.split(","),
        default=[],
        metavar="NAME,...",
        help="also libdl without a mechanism",
    )
    parser.add_argument("--compile", action="store_true", help="also torch.compile; slow at first")
    parser.add_argument(
        "--autocast", action="store_true", help="every peer in bfloat16, and libdl also in float32"
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=3.0,
        metavar="SECONDS",
        help="for the machine to come to rest; 0: no block is repeated (3)",
    )
    parser.add_argument("--json", metavar="FILE", help="where to write all figures")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="only whether the results are equal")
    mode.add_argument("--planted", action="store_true", help="whether planted errors are noticed")
    mode.add_argument("--profile", action="store_true", help="libdl's time by operator")
    mode.add_argument("--ablation", action="store_true", help="libdl without each mechanism")
    options = parser.parse_args()
    unknown = set(options.only) - set(NETWORKS)
    if unknown:
        parser.error(f"--only: {', '.join(sorted(unknown))}: wanted some of {', '.join(NETWORKS)}")
    for name in ("blocks", "threads", "size"):
        if getattr(options, name) is not None and getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    return options


if __name__ == "__main__":
    bench = Bench(arguments())
    bench.run()
    sys.exit(bench.failed)

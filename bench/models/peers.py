# SPDX-License-Identifier: Apache-2.0
"""What is measured: a library in one configuration, in a process of its own."""

import contextlib
import ctypes.util
import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

TCMALLOC = ctypes.util.find_library("tcmalloc_minimal")


@dataclasses.dataclass(frozen=True)
class Peer:
    name: str
    library: str = "torch"
    tcmalloc: bool = False  # keeps large blocks, where malloc returns them to the system
    fused: bool = False  # an optimizer's step in one pass
    channels_last: bool = False
    compiled: bool = False
    without: str = ""  # the mechanism of libdl that is disabled
    autocast: bool = False  # to bfloat16

    def environment(self, threads: int) -> dict[str, str]:
        changed = {"OMP_NUM_THREADS": str(threads), "LIBDL_NUM_THREADS": str(threads)}
        if self.tcmalloc and TCMALLOC is not None:
            changed["LD_PRELOAD"] = TCMALLOC
        if self.without:
            names = os.environ.get("LIBDL_DISABLE", "").split(",") + [self.without]
            changed["LIBDL_DISABLE"] = ",".join(filter(None, names))
        return os.environ | changed


LIBDL = Peer("libdl", "libdl")
DEFAULT = Peer("PyTorch")
BEST = Peer("PyTorch, best", tcmalloc=True, fused=True, channels_last=True)
IN_FLOAT32 = Peer("libdl in float32", "libdl")
COMPILED = dataclasses.replace(BEST, name="PyTorch, compiled", compiled=True)


def libdl_without(name: str) -> Peer:
    return dataclasses.replace(LIBDL, name=f"libdl without {name}", without=name)


class Failure(Exception):
    """What a process raised."""


class Process:
    """Trains one network in another process, and answers one order at a time (worker.py)."""

    def __init__(self, peer: Peer, network: str, size: int, threads: int) -> None:
        self.peer = peer
        job = {
            "peer": dataclasses.asdict(peer),
            "network": network,
            "size": size,
            "threads": threads,
        }
        self.process = subprocess.Popen(
            [sys.executable, "-B", Path(__file__).with_name("worker.py"), json.dumps(job)],
            env=peer.environment(threads),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.answer()

    def ask(self, order: str, *arguments: Any) -> Any:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # then there is no answer either
            self.process.stdin.write(json.dumps([order, *arguments]) + "\n")
            self.process.stdin.flush()
        return self.answer()

    def answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"{self.peer.name}: ended with {self.process.wait()}")
        answer = json.loads(line)
        if "failure" in answer:
            raise Failure(f"{self.peer.name}: {answer['failure']}")
        return answer["result"]

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *exception: object) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()  # type: ignore[union-attr]
        self.process.wait()
        self.process.stdout.close()  # type: ignore[union-attr]

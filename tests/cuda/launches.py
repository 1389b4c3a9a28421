# SPDX-License-Identifier: Apache-2.0
"""What each operator asks of the device: launches of kernels, copies, fills, and waits of the host,
in one call whose memory is cached, forward and backward. Counted by the simulated driver:

    python tests/cuda/launches.py BUILD [--refresh]

prints the table; --refresh writes launches.txt, which test_launches.py compares."""

from __future__ import annotations

import argparse
import ctypes
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / "launches.txt"
CALLS = ("cuLaunchKernel", "cuMemcpyAsync", "cuMemsetD8Async")
HEAD = """\
# Launches, copies, fills and waits of each operator's first case, forward and backward; written by
# tests/cuda/launches.py. A number that grows is a loss to be explained.
"""


def counted(driver: ctypes.CDLL, call: Callable[[], Any]) -> tuple[list[int], Any]:
    """The calls of the second time: the first one fills the caches."""
    import libdl

    def now() -> list[int]:
        return [driver.libdl_simulated_calls_of(c.encode()) for c in CALLS] + [
            driver.libdl_simulated_waits()
        ]

    result: Any = None
    for _ in range(2):
        del result
        libdl.manual_seed(0)
        libdl.cuda.synchronize()
        before = now()
        result = call()
        after = now()
    return [a - b for a, b in zip(after, before, strict=True)], result


def row(driver: ctypes.CDLL, case: Any) -> str:
    import checks
    import libdl
    from libdl import autograd
    from on_device import moved

    samples = list(case.samples())
    sample = next((s for s in samples if case.differentiable and s.smooth), samples[0])
    xs, rebuild = checks.flat_inputs(sample)
    leaves = [moved(checks.tensor(x, libdl.float32, grad=True)) for x in xs]
    args = [moved(a) for a in rebuild(leaves)]
    forward, outs = counted(driver, lambda: checks.run(case, sample, args))
    backward: list[int] = []
    outs = [y for y in outs if isinstance(y, libdl.Tensor) and y.requires_grad]
    if leaves and outs:
        seeds = [moved(v).to(y.dtype) for v, y in zip(checks.weights(outs, 3), outs, strict=True)]
        backward, _ = counted(
            driver,
            lambda: autograd.grad(outs, leaves, seeds, allow_unused=True, retain_graph=True),
        )
    numbers = [f"{n:4}" for n in forward] + ["   |"] + [f"{n:4}" for n in backward]
    return f"{case.name:32}" + "".join(numbers).rstrip(" |")


def count() -> None:
    sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "ops")]
    import harness
    import on_device

    driver = ctypes.CDLL(os.environ["LIBDL_CUDA_DRIVER"])
    driver.libdl_simulated_calls_of.restype = ctypes.c_int64
    driver.libdl_simulated_waits.restype = ctypes.c_int64
    for case in sorted(harness.cases(), key=lambda c: c.name):
        if case.name not in on_device.ON_CPU:
            print(row(driver, case), flush=True)


def table(build: pathlib.Path) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": str(build / "python"),
        "LIBDL_CUDA_DRIVER": str(build / "libsimulated_cuda.so"),
        "LIBDL_SIMULATED_SEED": "1",
    }
    run = subprocess.run(
        [sys.executable, "-B", __file__, "--count"], env=environment, capture_output=True, text=True
    )
    if run.returncode:
        raise RuntimeError(f"counting failed after {run.stdout[-200:]!r}:\n{run.stderr}")
    return HEAD + run.stdout


def sums(text: str) -> list[int]:
    """Of each column; the first four are forward."""
    totals = [0] * 8
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        forward, _, backward = line.partition("|")
        numbers = [*forward.split()[1:], *backward.split()]
        for i, n in enumerate(numbers):
            totals[i] += int(n)
    return totals


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", nargs="?", default="build", type=pathlib.Path)
    parser.add_argument("--refresh", action="store_true")
    parser.add_argument("--count", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.count:
        return count()
    text = table(given.build.resolve())
    print(text, end="")
    print("sums:", *sums(text))
    if given.refresh:
        TABLE.write_text(text)


if __name__ == "__main__":
    main()

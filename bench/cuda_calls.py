# SPDX-License-Identifier: Apache-2.0
"""The host's time of an operator on CUDA, without a device: python bench/cuda_calls.py BUILD

The driver is the simulated one, which counts its calls and does nothing (LIBDL_SIMULATED_NOOP):
what is left is libdl's own time, besides the counting and what the plugin tells a simulation of
each kernel's reads and writes. Minimum and median of many rounds.
"""

import os
import pathlib
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

ROUNDS, COUNT = 51, 200


def microseconds(call: Callable[[], Any]) -> list[float]:
    """Of one call, round by round, sorted."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(COUNT):
            call()
        times.append((time.perf_counter() - start) / COUNT * 1e6)
    return sorted(times)


def calls(m: Any) -> dict[str, Callable[[], Any]]:
    """Of libdl, or of PyTorch, whose names are the same; nothing is recorded."""
    m.set_grad_enabled(False)
    x, y = (m.ones(64, 64, device="cuda") for _ in range(2))
    parameters = [m.nn.Parameter(m.ones(30 + i, device="cuda")) for i in range(20)]
    for p in parameters:
        p.grad = m.ones_like(p)
    adam = m.optim.Adam(parameters, lr=0.1)
    return {
        "x + y": lambda: x + y,
        "x.add_(y)": lambda: x.add_(y),
        "x * 2": lambda: x * 2.0,
        "x @ y": lambda: x @ y,
        "softmax": lambda: x.softmax(1),
        "sum": lambda: x.sum(),
        "layer_norm": lambda: m.nn.functional.layer_norm(x, (64,)),
        "copy_": lambda: x.copy_(y),
        "empty_like": lambda: m.empty_like(x),
        "Adam.step of 20 parameters": adam.step,
    }


def main() -> None:
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build").absolute()
    os.environ["LIBDL_CUDA_DRIVER"] = str(build / "libsimulated_cuda.so")
    os.environ["LIBDL_SIMULATED_NOOP"] = "1"
    sys.path.insert(0, str(build / "python"))
    import libdl
    from libdl import nn, optim  # noqa: F401

    print(f"{'':28}{'minimum':>10}{'median':>10}  us")
    for name, call in calls(libdl).items():
        times = microseconds(call)
        print(f"{name:28}{times[0]:10.2f}{statistics.median(times):10.2f}", flush=True)


if __name__ == "__main__":
    main()

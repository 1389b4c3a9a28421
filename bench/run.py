# SPDX-License-Identifier: Apache-2.0
"""libdl beside PyTorch: python bench/run.py [BUILD] [PATTERN]

Each case is checked to give the same result on both sides, then timed in interleaved blocks (libdl,
PyTorch, PyTorch, libdl) on the same number of threads. Printed are the median times of a call and
the ratio of the medians with a bootstrap 95 % interval: above 1, libdl is faster.
"""

import random
import statistics
import sys
import time
from typing import Any

import libdl
import numpy
import torch

from cases import CASES, Call

BLOCKS = 14
BLOCK_SECONDS = 0.02


def block(call: Call, repeat: int) -> float:
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - start) / repeat


def array(result: Any) -> Any:
    return numpy.asarray(result.detach()) if hasattr(result, "detach") else numpy.asarray(result)


def compare(name: str) -> tuple[float, float, float, float, float]:
    ours, theirs = CASES[name](libdl), CASES[name](torch)
    a, b = array(ours()).astype(float), array(theirs()).astype(float)
    # float32 sums of a few thousand terms in another order: 1e-4 of the largest value.
    scale = max(float(numpy.abs(b).max()), 1e-30)
    if not numpy.allclose(a, b, rtol=1e-4, atol=1e-4 * scale):
        raise SystemExit(f"bench: {name}: the results differ by {numpy.abs(a - b).max()}")
    once = max(block(ours, 1), block(theirs, 1))
    repeat = max(1, int(BLOCK_SECONDS / max(once, 1e-7)))
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    for i in range(BLOCKS):
        order = [("ours", ours), ("theirs", theirs)]
        for side, call in order if i % 2 else reversed(order):
            times[side].append(block(call, repeat))
    pick = random.Random(1)
    ratios = sorted(
        statistics.median(pick.choices(times["theirs"], k=BLOCKS))
        / statistics.median(pick.choices(times["ours"], k=BLOCKS))
        for _ in range(1000)
    )
    mine, other = statistics.median(times["ours"]), statistics.median(times["theirs"])
    return mine, other, other / mine, ratios[25], ratios[974]


def main() -> None:
    pattern = sys.argv[2] if len(sys.argv) > 2 else ""
    threads = torch.get_num_threads()
    libdl.set_num_threads(threads)
    print(f"libdl {libdl.__version__}, PyTorch {torch.__version__}, {threads} threads")
    print(f"{'':44}{'libdl':>12}{'PyTorch':>12}{'ratio':>8}   95 %")
    for name in CASES:
        if pattern in name:
            mine, other, ratio, low, high = compare(name)
            times = f"{mine * 1e6:10.2f}us{other * 1e6:10.2f}us"
            print(f"{name:44}{times}{ratio:8.2f}   {low:.2f} to {high:.2f}", flush=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""libdl beside PyTorch: python bench/run.py [PATTERN ...]

Each case is checked to give the same result on both sides, then timed in interleaved blocks (libdl,
PyTorch, PyTorch, libdl) on the same number of threads. A block's time is the median of its parts,
so that a machine which is taken away for some milliseconds counts for one part. Printed are the
median times of a call and the median of the ratios of neighbouring blocks, which what slows the
machine for longer hits alike, with a bootstrap 95 % interval: above 1, libdl is faster.

PyTorch leaves large blocks to malloc, which gives fresh pages for each, so every case is measured
a second time in a process whose malloc keeps them (tcmalloc, preloaded): the two columns to the
right. A case is run where a PATTERN is part of its name.

--sweep measures instead functions by dtype, size and layout on one thread, and prints what is
slower than PyTorch; --sweep --help tells its options.
"""

import ctypes.util
import json
import os
import random
import statistics
import subprocess
import sys
import time
from typing import Any

from cases import CASES, Call
from sweep import sweep

BLOCKS = 16
PARTS = 5
PART_SECONDS = 0.003
# Before a block the other side's threads come to rest: OpenMP's spin for about 15 ms after work, on
# a processor that the next block's threads need.
REST_SECONDS = 0.02
WARM_SECONDS = 0.002
SAMPLES = 1000


def block(call: Call, repeat: int) -> float:
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - start) / repeat


def rested_block(call: Call, repeat: int) -> float:
    time.sleep(REST_SECONDS)
    end = time.perf_counter() + WARM_SECONDS
    while time.perf_counter() < end:
        call()
    return statistics.median(block(call, repeat) for _ in range(PARTS))


def array(result: Any) -> Any:
    import numpy

    if is_bfloat16(result):
        result = result.float()
    return numpy.asarray(result.detach() if hasattr(result, "detach") else result)


def is_bfloat16(result: Any) -> bool:
    return str(getattr(result, "dtype", "")).endswith("bfloat16")


def check(name: str, ours: Any, theirs: Any) -> None:
    import numpy

    a, b = array(ours), array(theirs)
    # Sums of a few thousand terms in another order: 1e-4 of the largest value in float32, and as
    # many digits fewer than the type has in float64. bfloat16 is rounded to 8 bits, an operand of
    # the backward pass among it.
    digits = {"float16": 2**-9, "float64": 1e-12}
    tolerance = 2**-7 if is_bfloat16(ours) else digits.get(str(a.dtype), 1e-4)
    a, b = a.astype(float), b.astype(float)
    scale = float(numpy.abs(b).max(initial=1e-30))
    if a.shape != b.shape or not numpy.allclose(a, b, rtol=tolerance, atol=tolerance * scale):
        raise SystemExit(f"bench: {name}: the results differ")


def compare(name: str) -> list[float]:
    """Times of libdl and PyTorch, their ratio, and its interval."""
    import libdl
    import torch

    ours, theirs = CASES[name](libdl), CASES[name](torch)
    check(name, ours(), theirs())
    once = max(min(block(call, 1) for _ in range(3)) for call in (ours, theirs))
    repeat = max(1, int(PART_SECONDS / max(once, 1e-7)))
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    for i in range(BLOCKS):
        order = [("ours", ours), ("theirs", theirs)]
        for side, call in order if i % 2 else reversed(order):
            times[side].append(rested_block(call, repeat))
    pick = random.Random(1)
    ratios = [b / a for a, b in zip(times["ours"], times["theirs"], strict=True)]
    medians = sorted(statistics.median(pick.choices(ratios, k=BLOCKS)) for _ in range(SAMPLES))
    low, high = medians[SAMPLES * 25 // 1000], medians[SAMPLES * 975 // 1000 - 1]
    return [
        statistics.median(times["ours"]),
        statistics.median(times["theirs"]),
        statistics.median(ratios),
        low,
        high,
    ]


def measure() -> None:
    """In the child: names come in, one a line, and figures go out."""
    import libdl
    import torch

    threads = torch.get_num_threads()
    libdl.set_num_threads(threads)
    print(f"libdl {libdl.__version__}, PyTorch {torch.__version__}, {threads} threads", flush=True)
    for line in sys.stdin:
        print(json.dumps(compare(line.rstrip("\n"))), flush=True)


class Child:
    def __init__(self, preload: str | None) -> None:
        environment = dict(os.environ)
        if preload is not None:
            environment["LD_PRELOAD"] = preload
        self.process = subprocess.Popen(
            [sys.executable, "-B", __file__, "--measure"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.heading = self.answer()

    def answer(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(1)  # the child has said why
        return line.rstrip("\n")

    def compare(self, name: str) -> list[float]:
        assert self.process.stdin is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        figures: list[float] = json.loads(self.answer())
        return figures


def columns(figures: list[float]) -> str:
    mine, other, ratio, low, high = figures
    return f"{mine * 1e6:10.2f}{other * 1e6:11.2f}{ratio:7.2f} {low:5.2f} to {high:5.2f}"


def main() -> None:
    patterns = sys.argv[1:] or [""]
    tcmalloc = ctypes.util.find_library("tcmalloc_minimal")
    children = [Child(None)] + ([Child(tcmalloc)] if tcmalloc else [])
    print(children[0].heading + "; microseconds a call")
    heading = f"{'libdl':>10}{'PyTorch':>11}{'ratio':>7}    95 %      "
    print(f"{'':40}{heading}" + (f"  {heading[:-12]} with tcmalloc" if tcmalloc else ""))
    if not tcmalloc:
        print("without libtcmalloc-minimal4 (tools/setup/run bench) the second half is left out")
    for name in CASES:
        if any(pattern in name for pattern in patterns):
            row = "  ".join(columns(child.compare(name)) for child in children)
            print(f"{name:40}{row}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--measure"]:
        measure()
    elif sys.argv[1:2] == ["--sweep"]:
        sweep(sys.argv[2:])
    else:
        main()

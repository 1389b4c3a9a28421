# SPDX-License-Identifier: Apache-2.0
"""The sweep of bench/run.py: rows of many functions, on one thread, in search of cliffs.

A row's time is the least of many calls, libdl's and PyTorch's in turn, within a budget a row; what
stands below the threshold is measured twice more, and printed where all three agree.
"""

import argparse
import statistics
import time
import warnings

from cases_sweep import DTYPES, LAYOUTS, RECIPES, SIZES, Call, Operands, Row, rows

TURN_SECONDS = 0.0005


def turn(call: Call, repeat: int) -> float:
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - start) / repeat


def least(ours: Call, theirs: Call, budget: float) -> tuple[float, float]:
    """Seconds a call; at least three turns each."""
    first = turn(ours, 1), turn(theirs, 1)
    repeat = max(1, int(TURN_SECONDS / max(*first, 1e-7)))
    best = [1e9, 1e9]
    end = time.perf_counter() + budget
    turns = 0
    while turns < 3 or time.perf_counter() < end:
        for side, call in enumerate((ours, theirs)):
            best[side] = min(best[side], turn(call, repeat))
        turns += 1
    return best[0], best[1]


def calls(row: Row) -> tuple[Call, Call] | None:
    """Both sides' calls, if both accept the row's dtype."""
    import libdl
    import torch

    made = []
    for m in (libdl, torch):
        try:
            call = RECIPES[row.function](m, Operands(m, row))
            call()
        except (RuntimeError, TypeError, ValueError, NotImplementedError, AttributeError):
            return None
        made.append(call)
    return made[0], made[1]


def measure(row: Row, budget: float, threshold: float) -> tuple[float, float, float] | None:
    """Times and their ratio; the nearest to 1 of three where they are below the threshold."""
    pair = calls(row)
    if pair is None:
        return None
    worst = (1.0, 0.0, 0.0)
    for _ in range(3):
        ours, theirs = least(*pair, budget)
        worst = max(worst, (ours, theirs, theirs / ours), key=lambda x: x[2])
        if worst[2] >= threshold:
            break
    return worst


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="bench/run.py --sweep", description=__doc__)
    p.add_argument("patterns", nargs="*", default=[""], help="parts of functions' names")
    p.add_argument("--dtypes", nargs="+", default=list(DTYPES), choices=DTYPES)
    p.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), choices=SIZES)
    p.add_argument("--layouts", nargs="+", default=list(LAYOUTS), choices=LAYOUTS)
    p.add_argument("--budget", type=float, default=0.05, help="seconds a row")
    p.add_argument("--below", type=float, default=0.9, help="print rows below this ratio")
    return p


def sweep(arguments: list[str]) -> None:
    import libdl
    import torch

    options = parser().parse_args(arguments)
    warnings.simplefilter("ignore")
    libdl.set_num_threads(1)
    torch.set_num_threads(1)
    print(f"libdl {libdl.__version__}, PyTorch {torch.__version__}, one thread; microseconds")
    print(f"{'':56}{'libdl':>12}{'PyTorch':>12}{'ratio':>7}")
    ratios: dict[str, list[float]] = {dtype: [] for dtype in options.dtypes}
    refused = 0
    for row in rows(options.patterns, options.dtypes, options.sizes, options.layouts):
        found = measure(row, options.budget, options.below)
        if found is None:
            refused += 1
            continue
        ours, theirs, ratio = found
        ratios[row.dtype].append(ratio)
        if ratio < options.below:
            print(f"{str(row):56}{ours * 1e6:12.2f}{theirs * 1e6:12.2f}{ratio:7.2f}", flush=True)
    print(f"\n{'dtype':12}{'rows':>6}{'median':>8}{'least':>7}{'below ' + str(options.below):>11}")
    for dtype, found_ratios in ratios.items():
        if found_ratios:
            below = sum(r < options.below for r in found_ratios)
            middle, low = statistics.median(found_ratios), min(found_ratios)
            print(f"{dtype:12}{len(found_ratios):6}{middle:8.2f}{low:7.2f}{below:11}")
    print(f"{refused} rows that one side does not accept")

# SPDX-License-Identifier: Apache-2.0
"""One peer's process: worker.py JOB. Orders come in, a line of JSON each, and results go out."""

import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import by_operator
import equality
import planted
from peers import Peer
from training import Training


def version(training: Training) -> str:
    return str(training.m.__version__)


def load(training: Training, path: str) -> None:
    training.load(path)


def step(training: Training, count: int) -> float:
    """Seconds of a step, the mean of so many."""
    start = time.perf_counter()
    for _ in range(count):
        training.step()
    return (time.perf_counter() - start) / count


def block(training: Training, count: int) -> dict[str, float]:
    """The mean of so many steps, after one that brings back what other processes have displaced."""
    training.step()
    before = resource.getrusage(resource.RUSAGE_SELF)
    seconds = step(training, count)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "seconds": seconds,
        "faults": (after.ru_minflt - before.ru_minflt) / count,
        "switches": (after.ru_nivcsw - before.ru_nivcsw) / count,
    }


def peak(training: Training) -> float:
    """The most memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


ORDERS: dict[str, Callable[..., Any]] = {
    "version": version,
    "load": load,
    "step": step,
    "block": block,
    "peak": peak,
    "lead": equality.lead,
    "follow": equality.follow,
    "plant": planted.plant,
    "profile": by_operator.profile,
}


def main() -> None:
    # What a library prints goes to stderr, away from the results.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(call: Callable[[], Any]) -> Any:
        try:
            result = call()
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__}: {error} ({os.path.basename(place.filename)})"
            print(json.dumps({"failure": text}), file=out, flush=True)
            raise SystemExit(1) from None
        return result

    job = json.loads(sys.argv[1])
    job["peer"] = Peer(**job["peer"])
    training = answer(lambda: Training(**job))
    print(json.dumps({"result": None}), file=out, flush=True)
    for line in sys.stdin:
        order, *arguments = json.loads(line)
        result = answer(lambda: ORDERS[order](training, *arguments))
        print(json.dumps({"result": result}), file=out, flush=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""libdl's CUDA backend beside PyTorch on the same device: python bench/cuda.py

The host's time of a call (work is queued, nobody waits) and of an allocation; what operators of
each kind move or compute a second (cuda_operators.py). Interleaved, medians; float32 is strict in
both libraries (no TF32). Where no device is, it says so and measures nothing.
"""

import sys
from collections.abc import Callable
from typing import Any

from cuda_operators import WHOLE, beside, host_time, measured, operators, strict


def tell(name: str, found: dict[str, Any], unit: str, times: float = 1.0) -> None:
    print(
        f"{name:60}{found['libdl'] * times:12.2f}{found['PyTorch'] * times:12.2f} {unit:8}"
        f"{found['ratio']:7.2f} {found['least']:6.2f} to {found['most']:6.2f}"
        f"{'' if found.get('same', True) else '  VALUES DIFFER'}",
        flush=True,
    )


def chain(m: Any) -> Callable[[], Any]:
    x = m.ones(1, device="cuda").requires_grad_()

    def run() -> None:
        y = x
        for _ in range(100):
            y = y * 1.01
        y.sum().backward()

    return run


def add(m: Any) -> Callable[[], Any]:
    x, y = m.ones(1, device="cuda"), m.ones(1, device="cuda")
    return lambda: x + y


def main() -> None:
    import libdl
    import torch

    if not libdl.cuda.is_available() or not torch.cuda.is_available():
        sys.exit("bench: there is no CUDA device here that both libraries can use")
    strict(torch)
    print(
        f"libdl {libdl.__version__}, PyTorch {torch.__version__}, {torch.cuda.get_device_name()}, "
        f"CUDA {torch.version.cuda}"
    )
    print(f"{'':60}{'libdl':>12}{'PyTorch':>12}{'':9}{'ratio':>7} {'least':>6}    {'most':>6}")
    calls: list[tuple[str, Any, int, str, float]] = [
        ("host: x + y, 1 element", add, 1000, "ns", 1e9),
        ("host: empty(1000)", lambda m: lambda: m.empty(1000, device="cuda"), 1000, "ns", 1e9),
        ("host: backward of a chain of 100 mul, 1 element", chain, 10, "us", 1e6),
    ]
    for name, make, count, unit, times in calls:
        sides = [(make(m), m.cuda.synchronize) for m in (libdl, torch)]
        tell(name, beside(host_time, sides, count, WHOLE.repeats), unit, times)
    for operator in operators(WHOLE):
        tell(operator.name, measured(operator, [libdl, torch], WHOLE), operator.unit)


if __name__ == "__main__":
    main()

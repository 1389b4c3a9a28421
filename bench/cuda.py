# SPDX-License-Identifier: Apache-2.0
"""libdl's CUDA backend beside PyTorch on the same device: python bench/cuda.py

The host's time of a call (work is queued, nobody waits), of an allocation, the bandwidth of
operators that go element by element, and products. Interleaved, medians; float32 products are
strict in both libraries (no TF32). Where no device is, it says so and measures nothing.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

REPEATS = 9


def host_time(call: Callable[[], Any], wait: Callable[[], None], count: int) -> float:
    """Seconds of the host for one call of many that are only queued."""
    wait()
    start = time.perf_counter()
    for _ in range(count):
        call()
    spent = (time.perf_counter() - start) / count
    wait()
    return spent


def device_time(call: Callable[[], Any], wait: Callable[[], None], count: int) -> float:
    """Seconds of one call of many, the wait for the last one among them."""
    call()
    wait()
    start = time.perf_counter()
    for _ in range(count):
        call()
    wait()
    return (time.perf_counter() - start) / count


def row(name: str, measure: Callable[..., float], cases: list[Any], unit: str, value: Any) -> None:
    times: list[list[float]] = [[], []]
    for i in range(REPEATS):
        for side in (0, 1) if i % 2 else (1, 0):
            times[side].append(measure(*cases[side]))
    ours, theirs = (statistics.median(t) for t in times)
    ratios = sorted(b / a for a, b in zip(*times, strict=True))
    print(
        f"{name:44}{value(ours):12.2f}{value(theirs):12.2f} {unit:6}"
        f"{ratios[REPEATS // 2]:7.2f} {ratios[0]:6.2f} to {ratios[-1]:6.2f}",
        flush=True,
    )


def main() -> None:
    import libdl
    import torch

    if not libdl.cuda.is_available() or not torch.cuda.is_available():
        sys.exit("bench: there is no CUDA device here that both libraries can use")
    print(
        f"libdl {libdl.__version__}, PyTorch {torch.__version__}, {torch.cuda.get_device_name()}, "
        f"CUDA {torch.version.cuda}"
    )
    print(f"{'':44}{'libdl':>12}{'PyTorch':>12}{'':7}{'ratio':>7} {'least':>6}    {'most':>6}")
    both = [(libdl, libdl.cuda.synchronize), (torch, torch.cuda.synchronize)]

    def sides(make: Callable[[Any], Callable[[], Any]], count: int) -> list[Any]:
        return [(make(m), wait, count) for m, wait in both]

    def ones(m: Any, *shape: int) -> Any:
        return m.ones(*shape, device="cuda")

    micro, nano = (lambda s: s * 1e6), (lambda s: s * 1e9)

    def add(m: Any, *shape: int) -> Callable[[], Any]:
        x, y = ones(m, *shape), ones(m, *shape)
        return lambda: x + y

    row("host: x + y, 1 element", host_time, sides(lambda m: add(m, 1), 1000), "ns", nano)
    row("host: empty(1000)", host_time, sides(lambda m: lambda: m.empty(1000, device="cuda"), 1000),
        "ns", nano)  # fmt: skip
    n = 1 << 26
    operators = [
        ("x + y", 12, lambda m: add(m, n)),
        ("exp", 8, lambda m: (lambda x: lambda: m.exp(x))(ones(m, n))),
        ("relu", 8, lambda m: (lambda x: lambda: m.relu(x))(ones(m, n))),
        ("clone", 8, lambda m: (lambda x: lambda: x.clone())(ones(m, n))),
        ("sum", 4, lambda m: (lambda x: lambda: x.sum())(ones(m, n))),
        ("softmax of rows of 1,024", 8,
         lambda m: (lambda x: lambda: m.softmax(x, -1))(ones(m, n // 1024, 1024))),
        ("transposed to contiguous", 8,
         lambda m: (lambda x: lambda: x.t().contiguous())(ones(m, 8192, 8192))),
    ]  # fmt: skip
    for name, each, make in operators:
        row(f"{name}, 2^26 float32", device_time, sides(make, 20), "GB/s",
            lambda s, each=each: each * n / s / 1e9)  # fmt: skip
    for size in (128, 1024, 4096, 8192):

        def product(m: Any, size: int = size) -> Callable[[], Any]:
            a, b = ones(m, size, size), ones(m, size, size)
            return lambda: a @ b

        row(f"matmul {size} float32", device_time, sides(product, 10), "TF/s",
            lambda s, size=size: 2 * size**3 / s / 1e12)  # fmt: skip
    row("backward of a chain of 100 mul, 1 element", host_time,
        sides(chain, 10), "us", micro)  # fmt: skip


def chain(m: Any) -> Callable[[], Any]:
    x = m.ones(1, device="cuda").requires_grad_()

    def run() -> None:
        y = x
        for _ in range(100):
            y = y * 1.01
        y.sum().backward()

    return run


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Operators of each kind on a CUDA device, and what each must move or compute at least: the floor
that bandwidth and arithmetic set. With PyTorch's names, so that either library can be `m`."""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Call = Callable[[], Any]


@dataclasses.dataclass
class Operator:
    kind: str
    name: str
    unit: str  # GB/s or TFLOP/s
    amount: float  # bytes or operations of one call, in 1e9 or 1e12
    make: Callable[[Any], Call]
    same: bool = True  # both libraries give the same values


@dataclasses.dataclass
class Sizes:
    elements: int  # far more than the cache holds
    row: int
    products: tuple[int, ...]
    images: tuple[int, int, int]  # number, channels, side
    parameters: tuple[int, int]  # tensors, elements of each
    calls: int
    repeats: int


WHOLE = Sizes(1 << 26, 1024, (1024, 4096, 8192), (32, 64, 56), (64, 1 << 20), 20, 9)
SMALL = Sizes(1 << 10, 16, (16,), (1, 2, 6), (3, 40), 2, 2)  # of rehearsals: only that it runs


def host_time(call: Call, wait: Call, count: int) -> float:
    """Seconds of the host for one call of many that are only queued."""
    wait()
    start = time.perf_counter()
    for _ in range(count):
        call()
    spent = (time.perf_counter() - start) / count
    wait()
    return spent


def device_time(call: Call, wait: Call, count: int) -> float:
    """Seconds of one call of many, the wait for the last one among them."""
    wait()
    start = time.perf_counter()
    for _ in range(count):
        call()
    wait()
    return (time.perf_counter() - start) / count


def beside(
    measure: Callable[..., float], sides: Sequence[tuple[Call, Call]], count: int, repeats: int
) -> dict[str, float]:
    """Seconds of each side, medians of interleaved turns, and how many times faster we are."""
    for call, _ in sides:  # kernels are loaded, memory is cached
        call()
    times: list[list[float]] = [[] for _ in sides]
    for turn in range(repeats):
        for side in range(len(sides)) if turn % 2 else reversed(range(len(sides))):
            times[side].append(measure(*sides[side], count))
    found = {"libdl": statistics.median(times[0])}
    if len(sides) > 1:
        ratios = sorted(b / a for a, b in zip(*times, strict=True))
        found |= {
            "PyTorch": statistics.median(times[1]),
            "ratio": statistics.median(ratios),
            "least": ratios[0],
            "most": ratios[-1],
        }
    return found


def values(m: Any, *shape: int) -> Any:
    """The same in both libraries, in [-0.5, 0.5) and of no order."""
    count = 1
    for n in shape:
        count *= n
    spread = m.arange(count, device="cuda") * 40503 % 65536
    return (spread.to(m.float32) / 65536 - 0.5).reshape(shape)


def indices(m: Any, count: int, below: int) -> Any:
    return m.arange(count, device="cuda") * 40503 % below


def some(result: Any) -> list[float]:
    """About a thousand elements of a result, from all of it."""
    flat = (result[0] if isinstance(result, (tuple, list)) else result).detach().reshape(-1)
    return list(flat[:: max(1, flat.numel() // 997)].double().cpu().tolist())


def agree(ours: list[float], theirs: list[float], near: float) -> bool:
    top = max((abs(x) for x in theirs), default=0.0)
    return len(ours) == len(theirs) and all(
        abs(a - b) <= near * top for a, b in zip(ours, theirs, strict=True)
    )


def pointwise(s: Sizes) -> Iterator[Operator]:
    n = s.elements

    def of(name: str, each: int, call: Callable[..., Any], dtype: str = "float32") -> Operator:
        def make(m: Any) -> Call:
            x = values(m, n).to(getattr(m, dtype))
            y = x.clone()
            return lambda: call(m, x, y)

        return Operator("pointwise", name, "GB/s", each * n / 1e9, make)

    yield of("x + y", 12, lambda m, x, y: x + y)
    yield of("x + y, bfloat16", 6, lambda m, x, y: x + y, "bfloat16")
    yield of("y.add_(x)", 12, lambda m, x, y: y.add_(x))
    yield of("relu", 8, lambda m, x, y: m.relu(x))
    yield of("exp", 8, lambda m, x, y: m.exp(x))
    yield of("gelu", 8, lambda m, x, y: m.nn.functional.gelu(x))


def rows(s: Sizes) -> Iterator[Operator]:
    """Of matrices whose rows are `s.row` long, and of square ones."""
    n, row = s.elements, s.row
    side = int(n**0.5)

    def of(
        kind: str, name: str, each: float, shape: tuple[int, ...], make: Callable[[Any, Any], Call]
    ) -> Operator:
        return Operator(kind, name, "GB/s", each * n / 1e9, lambda m: make(m, values(m, *shape)))

    def with_row(m: Any, x: Any) -> Call:
        y = values(m, side)
        return lambda: x + y

    def with_column(m: Any, x: Any) -> Call:
        y = values(m, side, 1)
        return lambda: x + y

    def normalised(m: Any, x: Any) -> Call:
        weight, bias = values(m, row), values(m, row)
        return lambda: m.nn.functional.layer_norm(x, (row,), weight, bias)

    square, lines = (side, side), (n // row, row)
    yield of("broadcast", "matrix + row", 8, square, with_row)
    yield of("broadcast", "matrix + column", 8, square, with_column)
    yield of("reduction", "sum of all", 4, square, lambda m, x: lambda: x.sum())
    yield of("reduction", "sum of each row", 4, square, lambda m, x: lambda: x.sum(1))
    yield of("reduction", "sum of each column", 4, square, lambda m, x: lambda: x.sum(0))
    yield of("reduction", "max of each row", 4, square, lambda m, x: lambda: m.max(x, 1))
    yield of("softmax", f"softmax of rows of {row}", 8, lines, lambda m, x: lambda: x.softmax(1))
    yield of("layer_norm", f"layer_norm of rows of {row}", 8, lines, normalised)
    yield of("copy", "clone", 8, square, lambda m, x: lambda: x.clone())
    yield of("copy", "to bfloat16", 6, square, lambda m, x: lambda: x.to(m.bfloat16))
    yield of("copy", "transposed to contiguous", 8, square, lambda m, x: lambda: x.t().contiguous())
    yield of(
        "copy",
        "channels to the end",
        8,
        (n // row, 4, row // 4),
        lambda m, x: lambda: x.permute(0, 2, 1).contiguous(),
    )


def indexed(s: Sizes) -> Iterator[Operator]:
    n, row = s.elements, s.row
    count, few = n // row, n // 16

    def embedding(m: Any) -> Call:
        x, i = values(m, count, row), indices(m, count, count)
        return lambda: m.nn.functional.embedding(i, x)

    def gather(m: Any) -> Call:
        x, i = values(m, few), indices(m, few, few)
        return lambda: m.gather(x, 0, i)

    def scatter(m: Any) -> Call:
        x, y, i = values(m, few), m.zeros(few, device="cuda"), indices(m, few, few)
        return lambda: m.scatter_add(y, 0, i, x)

    def order(m: Any) -> Call:
        x = values(m, few)
        return lambda: m.sort(x)

    def best(m: Any) -> Call:
        x = values(m, count, row)
        return lambda: m.topk(x, 8, 1)

    yield Operator(
        "gather", f"embedding of rows of {row}", "GB/s", (8 * n + 8 * count) / 1e9, embedding
    )
    yield Operator("gather", "gather of elements", "GB/s", 16 * few / 1e9, gather)
    # Besides the index and the values, what is added to is read once and written once.
    yield Operator("scatter", "scatter_add of elements", "GB/s", 20 * few / 1e9, scatter)
    yield Operator("sort", "sort", "GB/s", 16 * few / 1e9, order)
    yield Operator("sort", f"topk of rows of {row}", "GB/s", 4 * n / 1e9, best)


def random(s: Sizes) -> Iterator[Operator]:
    n = s.elements
    for name in ("rand", "randn"):

        def fresh(m: Any, name: str = name) -> Call:
            return lambda: getattr(m, name)(n, device="cuda")

        yield Operator("random", name, "GB/s", 4 * n / 1e9, fresh, same=False)

    def dropout(m: Any) -> Call:
        x = values(m, n)
        return lambda: m.nn.functional.dropout(x, 0.3)

    yield Operator("random", "dropout", "GB/s", 8 * n / 1e9, dropout, same=False)


def products(s: Sizes) -> Iterator[Operator]:
    for dtype in ("float32", "bfloat16"):
        for size in s.products:

            def square(m: Any, size: int = size, dtype: str = dtype) -> Call:
                a, b = (values(m, size, size).to(getattr(m, dtype)) for _ in range(2))
                return lambda: a @ b

            yield Operator(
                "product", f"matmul {size}, {dtype}", "TFLOP/s", 2 * size**3 / 1e12, square
            )

        def linear(m: Any, dtype: str = dtype) -> Call:
            size = s.products[-1]
            x, w = (values(m, size, size).to(getattr(m, dtype)) for _ in range(2))
            bias = values(m, size).to(getattr(m, dtype))
            return lambda: m.nn.functional.linear(x, w, bias)

        yield Operator(
            "product",
            f"linear with a bias {s.products[-1]}, {dtype}",
            "TFLOP/s",
            2 * s.products[-1] ** 3 / 1e12,
            linear,
        )


def convolutions(s: Sizes) -> Iterator[Operator]:
    number, channels, side = s.images
    for window in (1, 3):

        def of(m: Any, window: int = window) -> tuple[Any, Any, Call]:
            x = values(m, number, channels, side, side).requires_grad_()
            w = values(m, channels, channels, window, window).requires_grad_()
            return x, w, lambda: m.nn.functional.conv2d(x, w, padding=window // 2)

        def forward(m: Any, of: Any = of) -> Call:
            x, w, call = of(m)
            x.requires_grad_(False)
            w.requires_grad_(False)
            return call

        def backward(m: Any, of: Any = of) -> Call:
            x, w, call = of(m)
            y = call()
            seed = m.ones_like(y)
            return lambda: m.autograd.grad(y, [x, w], seed, retain_graph=True)

        once = 2 * number * channels**2 * window**2 * side**2 / 1e12
        name = f"conv2d {window} x {window} of {number} x {channels} x {side} x {side}"
        yield Operator("convolution", name, "TFLOP/s", once, forward)
        yield Operator("convolution", f"backward of {name}", "TFLOP/s", 2 * once, backward)


def optimizers(s: Sizes) -> Iterator[Operator]:
    count, size = s.parameters
    # Values read and written for each parameter.
    for name, moved, options in (("SGD", 5, {"momentum": 0.9}), ("Adam", 7, {})):

        def make(m: Any, name: str = name, options: dict[str, float] = options) -> Call:
            parameters = [values(m, size).requires_grad_() for _ in range(count)]
            for p in parameters:
                p.grad = m.ones_like(p)
            step: Call = getattr(m.optim, name)(parameters, lr=1e-3, **options).step
            return step

        yield Operator(
            "optimizer",
            f"{name} of {count} tensors of {size}",
            "GB/s",
            4 * moved * count * size / 1e9,
            make,
            same=False,
        )


def operators(s: Sizes) -> Iterator[Operator]:
    for kind in (pointwise, rows, indexed, random, products, convolutions, optimizers):
        yield from kind(s)


TURN = 0.2  # seconds of one side; slower operators are called less often
# What sums in another order, or 16 bits, may differ by, relative to the largest value.
NEAR = {"float32": 1e-4, "bfloat16": 2e-2}


def measured(operator: Operator, modules: list[Any], s: Sizes) -> dict[str, Any]:
    """A row: rates in the operator's unit; "same": whether the libraries' values agree."""
    sides = [(operator.make(m), m.cuda.synchronize) for m in modules]
    row: dict[str, Any] = {"kind": operator.kind, "name": operator.name, "unit": operator.unit}
    if operator.same and len(modules) > 1:
        near = NEAR["bfloat16" if "bfloat16" in operator.name else "float32"]
        ours, theirs = (some(call()) for call, _ in sides)
        row["same"] = agree(ours, theirs, near)
    slowest = max(device_time(call, wait, 1) for call, wait in sides)
    count = max(1, min(s.calls, int(TURN / slowest)))
    found = beside(device_time, sides, count, s.repeats)
    for side in ("libdl", "PyTorch"):
        if side in found:
            row[side] = operator.amount / found.pop(side)
    return row | found


def strict(torch: Any) -> None:
    """float32 as float32: PyTorch's convolutions would take TF32."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False

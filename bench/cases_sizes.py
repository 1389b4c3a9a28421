# SPDX-License-Identifier: Apache-2.0
"""Operators that go element by element, reductions of everything, and copies, by size."""

from typing import Any

from registry import Call, case, ramp

SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


def unary(name: str, size: int, dtype: str = "float32") -> None:
    @case(f"{name} {'' if dtype == 'float32' else dtype + ' '}{size:,}")
    def _(m: Any) -> Call:
        x = ramp(m, size, dtype=dtype)
        if name in ("log", "sqrt"):
            x = x + 1
        f = getattr(m.nn.functional if name in ("gelu", "silu") else m, name)
        return (lambda: f(x, 0)) if name in ("cumsum", "argmax") else (lambda: f(x))


for size in SIZES:
    for name in ("exp", "tanh", "relu", "sigmoid", "cumsum"):
        unary(name, size)

    @case(f"add {size:,}")
    def _(m: Any, size: int = size) -> Call:
        x, y = ramp(m, size), ramp(m, size)
        return lambda: x + y

    @case(f"add_ {size:,}")
    def _(m: Any, size: int = size) -> Call:
        x, y = ramp(m, size), m.zeros(size)
        return lambda: x.add_(y)

    @case(f"sum {size:,}")
    def _(m: Any, size: int = size) -> Call:
        x = ramp(m, size)
        return lambda: x.sum()

    @case(f"compare and where {size:,}")
    def _(m: Any, size: int = size) -> Call:
        x, y = ramp(m, size), ramp(m, size, scale=-1e-3)
        return lambda: m.where(x > y, x, y)

    @case(f"clone {size:,}")
    def _(m: Any, size: int = size) -> Call:
        x = ramp(m, size)
        return lambda: x.clone()


for size in (1_000, 100_000, 1_000_000):
    for name in ("gelu", "silu", "erf", "log", "sin", "sqrt", "abs", "argmax", "amax"):
        unary(name, size)
    for name in ("exp", "tanh", "sigmoid", "cumsum", "sum", "sqrt"):
        unary(name, size, "float64")

    @case(f"mul float64 {size:,}")
    def _(m: Any, size: int = size) -> Call:
        x, y = ramp(m, size, dtype="float64"), ramp(m, size, dtype="float64")
        return lambda: x * y

    @case(f"x * 2 + y {size:,}")
    def _(m: Any, size: int = size) -> Call:
        x, y = ramp(m, size), ramp(m, size)
        return lambda: x * 2 + y

    @case(f"pow(x, 3) {size:,}")
    def _(m: Any, size: int = size) -> Call:
        x = ramp(m, size)
        return lambda: x**3

    @case(f"clamp {size:,}")
    def _(m: Any, size: int = size) -> Call:
        x = ramp(m, size)
        return lambda: m.clamp(x, -0.25, 0.25)

    @case(f"add int64 {size:,}")
    def _(m: Any, size: int = size) -> Call:
        x, y = m.arange(size), m.arange(size)
        return lambda: x + y

    @case(f"float32 to float16 {size:,}")
    def _(m: Any, size: int = size) -> Call:
        x = ramp(m, size)
        return lambda: x.to(m.float16)

    @case(f"float32 to float64 {size:,}")
    def _(m: Any, size: int = size) -> Call:
        x = ramp(m, size)
        return lambda: x.to(m.float64)


for size in (32, 100, 300, 1000, 3000):

    @case(f"matrix + row {size} x {size}")
    def _(m: Any, size: int = size) -> Call:
        x, y = ramp(m, size, size), ramp(m, size)
        return lambda: x + y

    @case(f"matrix + column {size} x {size}")
    def _(m: Any, size: int = size) -> Call:
        x, y = ramp(m, size, size), ramp(m, size, 1)
        return lambda: x + y

    @case(f"transposed copy {size} x {size}")
    def _(m: Any, size: int = size) -> Call:
        x = ramp(m, size, size)
        return lambda: x.t().clone(memory_format=m.contiguous_format)

    @case(f"matrix + transposed {size} x {size}")
    def _(m: Any, size: int = size) -> Call:
        x = ramp(m, size, size)
        return lambda: x + x.t()

    @case(f"transposed + transposed {size} x {size}")
    def _(m: Any, size: int = size) -> Call:
        x, y = ramp(m, size, size).t(), ramp(m, size, size).t()
        return lambda: x + y

# SPDX-License-Identifier: Apache-2.0
"""Operators along a dimension: reductions, rows, products of matrices, indexing, sorting."""

from typing import Any

from registry import Call, case, ramp

for shape in ((32, 32), (1000, 100), (100, 1000), (1024, 1024), (10, 1_000_000), (1_000_000, 10)):
    for name in ("sum", "amax", "mean", "softmax", "cumsum"):
        for dim in (0, 1):

            @case(f"{name} along {dim} of {shape[0]:,} x {shape[1]:,}")
            def _(m: Any, name: str = name, shape: tuple[int, int] = shape, dim: int = dim) -> Call:
                x = ramp(m, *shape)
                f = getattr(m, name)
                return lambda: f(x, dim)


for rows in (10, 100, 1024):

    @case(f"layer_norm {rows} x 1024")
    def _(m: Any, rows: int = rows) -> Call:
        x, w, b = ramp(m, rows, 1024), ramp(m, 1024), ramp(m, 1024)
        return lambda: m.nn.functional.layer_norm(x, (1024,), w, b)

    @case(f"log_softmax {rows} x 1024")
    def _(m: Any, rows: int = rows) -> Call:
        x = ramp(m, rows, 1024)
        return lambda: m.log_softmax(x, 1)

    @case(f"var {rows} x 1024")
    def _(m: Any, rows: int = rows) -> Call:
        x = ramp(m, rows, 1024)
        return lambda: m.var(x, 1)


@case("softmax float64 1024 x 1024")
def _(m: Any) -> Call:
    x = ramp(m, 1024, 1024, dtype="float64")
    return lambda: m.softmax(x, 1)


for size in (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048):

    @case(f"matmul {size}")
    def _(m: Any, size: int = size) -> Call:
        a, b = ramp(m, size, size), ramp(m, size, size)
        return lambda: a @ b


for size in (8, 64, 512):

    @case(f"matmul float64 {size}")
    def _(m: Any, size: int = size) -> Call:
        a, b = ramp(m, size, size, dtype="float64"), ramp(m, size, size, dtype="float64")
        return lambda: a @ b

    @case(f"matmul a b^T {size}")
    def _(m: Any, size: int = size) -> Call:
        a, b = ramp(m, size, size), ramp(m, size, size)
        return lambda: a @ b.t()

    @case(f"matmul a^T b {size}")
    def _(m: Any, size: int = size) -> Call:
        a, b = ramp(m, size, size), ramp(m, size, size)
        return lambda: a.t() @ b


@case("bmm 64 of 32 x 64 x 32")
def _(m: Any) -> Call:
    a, b = ramp(m, 64, 32, 64), ramp(m, 64, 64, 32)
    return lambda: m.bmm(a, b)


for size in (100, 1024, 4096):

    @case(f"matrix times vector {size}")
    def _(m: Any, size: int = size) -> Call:
        a, x = ramp(m, size, size), ramp(m, size)
        return lambda: m.mv(a, x)

    @case(f"vector times matrix {size}")
    def _(m: Any, size: int = size) -> Call:
        a, x = ramp(m, size, size), ramp(m, size)
        return lambda: x @ a


@case("dot 100,000")
def _(m: Any) -> Call:
    x, y = ramp(m, 100_000), ramp(m, 100_000)
    return lambda: m.dot(x, y)


for rows, inputs, outputs in ((1, 256, 256), (1, 1024, 4096), (8, 1024, 4096), (64, 784, 256)):

    @case(f"linear {rows} x {inputs} -> {outputs}")
    def _(m: Any, rows: int = rows, inputs: int = inputs, outputs: int = outputs) -> Call:
        x, w, b = ramp(m, rows, inputs), ramp(m, outputs, inputs), ramp(m, outputs)
        return lambda: m.nn.functional.linear(x, w, b)


# As in training, where the weight has changed since the last step.
for rows, inputs in ((2, 25_088), (32, 9_216)):

    @case(f"layer forward {rows} x {inputs:,} -> 4,096")
    def _(m: Any, rows: int = rows, inputs: int = inputs) -> Call:
        x, w = ramp(m, rows, inputs), ramp(m, 4_096, inputs)
        return lambda: x @ w.fill_diagonal_(0.5).t()

    @case(f"layer backward {rows} x {inputs:,} -> 4,096")
    def _(m: Any, rows: int = rows, inputs: int = inputs) -> Call:
        dy, w = ramp(m, rows, 4_096), ramp(m, 4_096, inputs)
        return lambda: dy @ w.fill_diagonal_(0.5)


for rows, inputs, outputs in ((65_536, 256, 256), (6_272, 256, 256), (100_352, 32, 64)):

    @case(f"weight gradient {rows:,} x {inputs} -> {outputs}")
    def _(m: Any, rows: int = rows, inputs: int = inputs, outputs: int = outputs) -> Call:
        x, dy = ramp(m, rows, inputs), ramp(m, rows, outputs)
        return lambda: dy.t() @ x


for size in (100, 1_000, 10_000):

    @case(f"embedding {size:,} of 10,000 x 64")
    def _(m: Any, size: int = size) -> Call:
        w, i = ramp(m, 10_000, 64), m.arange(size) * 37 % 10_000
        return lambda: m.nn.functional.embedding(i, w)

    @case(f"gather {size:,} x 16")
    def _(m: Any, size: int = size) -> Call:
        x = ramp(m, size, 16)
        i = (m.arange(size * 16) * 7 % 16).reshape(size, 16)
        return lambda: m.gather(x, 1, i)

    @case(f"index_select of rows {size:,} x 16")
    def _(m: Any, size: int = size) -> Call:
        x, i = ramp(m, size, 16), m.arange(size) * 7 % size
        return lambda: m.index_select(x, 0, i)

    @case(f"masked_select {size:,}")
    def _(m: Any, size: int = size) -> Call:
        x = ramp(m, size)
        c = x > 0
        return lambda: m.masked_select(x, c)

    @case(f"index_add {size:,} x 16")
    def _(m: Any, size: int = size) -> Call:
        x, y, i = ramp(m, 100, 16), ramp(m, size, 16), m.arange(size) * 7 % 100
        return lambda: m.index_add(x, 0, i, y)

    @case(f"cat of two {size:,}")
    def _(m: Any, size: int = size) -> Call:
        x = ramp(m, size)
        return lambda: m.cat([x, x])


for size in (1_000, 100_000, 1_000_000):

    @case(f"sort {size:,}")
    def _(m: Any, size: int = size) -> Call:
        x = (m.arange(size) * 7919 % 1_000_003).to(m.float32)
        return lambda: m.sort(x)[0]

    @case(f"topk 10 of {size:,}")
    def _(m: Any, size: int = size) -> Call:
        x = (m.arange(size) * 7919 % 1_000_003).to(m.float32)
        return lambda: m.topk(x, 10)[0]


@case("sort rows 1000 x 100")
def _(m: Any) -> Call:
    x = (m.arange(100_000) * 7919 % 100_003).to(m.float32).reshape(1000, 100)
    return lambda: m.sort(x, 1)[0]


for name in ("rand", "randn"):
    # Random numbers differ: a zero times them is compared.
    @case(f"{name} 1,000,000")
    def _(m: Any, name: str = name) -> Call:
        f = getattr(m, name)
        zero = m.zeros(1)

        def run() -> Any:
            return f(1_000_000)[:1] * zero

        return run

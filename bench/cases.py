# SPDX-License-Identifier: Apache-2.0
"""What is compared: each case makes a call from a module (libdl or torch), the same for both."""

from collections.abc import Callable
from typing import Any

Call = Callable[[], Any]
CASES: dict[str, Callable[[Any], Call]] = {}


def case(name: str) -> Callable[[Callable[[Any], Call]], Callable[[Any], Call]]:
    def register(make: Callable[[Any], Call]) -> Callable[[Any], Call]:
        CASES[name] = make
        return make

    return register


def ramp(m: Any, *shape: int, scale: float = 1e-3) -> Any:
    count = 1
    for size in shape:
        count *= size
    return (m.arange(count, dtype=m.float32) % 1021 * scale - 0.5).reshape(shape)


# -- the cost of a call -----------------------------------------------------------------------------


@case("x + y, 1 element")
def _(m: Any) -> Call:
    x, y = ramp(m, 1), ramp(m, 1)
    return lambda: x + y


@case("x + y recorded, 1 element")
def _(m: Any) -> Call:
    x, y = ramp(m, 1).requires_grad_(), ramp(m, 1)
    return lambda: x + y


@case("x + 2.0, 1 element")
def _(m: Any) -> Call:
    x = ramp(m, 1)
    return lambda: x + 2.0


@case("a.add_(b), 1 element")
def _(m: Any) -> Call:
    a, b = ramp(m, 1), ramp(m, 1)
    a.zero_()
    b.zero_()
    return lambda: a.add_(b)


@case("x.view(2, 2)")
def _(m: Any) -> Call:
    x = ramp(m, 4)
    return lambda: x.view(2, 2)


@case("x[0]")
def _(m: Any) -> Call:
    x = ramp(m, 4)
    return lambda: x[0]


@case("from_dlpack")
def _(m: Any) -> Call:
    import numpy

    array = numpy.ones(4, dtype=numpy.float32)
    return lambda: m.from_dlpack(array)


@case("x.item()")
def _(m: Any) -> Call:
    x = ramp(m, 1)
    return lambda: x.item()


@case("chain of 1000 mul, forward and backward")
def _(m: Any) -> Call:
    x, factor = m.ones(1, requires_grad=True), m.ones(1)

    def run() -> Any:
        y = x
        for _ in range(1000):
            y = y * factor
        x.grad = None
        y.backward()
        return x.grad

    return run


# -- operators by size ------------------------------------------------------------------------------

for size in (1_000, 100_000, 10_000_000):
    for name in ("exp", "tanh", "relu", "sigmoid", "cumsum"):

        @case(f"{name}, {size:,}")
        def _(m: Any, name: str = name, size: int = size) -> Call:
            x = ramp(m, size)
            f = getattr(m, name)
            return (lambda: f(x, 0)) if name == "cumsum" else (lambda: f(x))

    @case(f"add, {size:,}")
    def _(m: Any, size: int = size) -> Call:
        x, y = ramp(m, size), ramp(m, size)
        return lambda: x + y

    @case(f"sum, {size:,}")
    def _(m: Any, size: int = size) -> Call:
        x = ramp(m, size)
        return lambda: x.sum()


@case("softmax, 1024 x 1024")
def _(m: Any) -> Call:
    x = ramp(m, 1024, 1024)
    return lambda: m.softmax(x, 1)


@case("layer_norm, 1024 x 1024")
def _(m: Any) -> Call:
    x = ramp(m, 1024, 1024)
    return lambda: m.nn.functional.layer_norm(x, (1024,))


for size in (64, 256, 1024, 2048):

    @case(f"matmul, {size}")
    def _(m: Any, size: int = size) -> Call:
        a, b = ramp(m, size, size), ramp(m, size, size)
        return lambda: a @ b


@case("linear 8 x 1024 -> 4096")
def _(m: Any) -> Call:
    x, w, b = ramp(m, 8, 1024), ramp(m, 4096, 1024), ramp(m, 4096)
    return lambda: m.nn.functional.linear(x, w, b)


@case("sort, 1,000,000")
def _(m: Any) -> Call:
    x = (m.arange(1_000_000) * 7919 % 1_000_003).to(m.float32)
    return lambda: m.sort(x)[0]


# -- training ---------------------------------------------------------------------------------------


@case("training step, MLP 32-32-32, batch 16, Adam")
def _(m: Any) -> Call:
    net = m.nn.Sequential(m.nn.Linear(32, 32), m.nn.ReLU(), m.nn.Linear(32, 32))
    with m.no_grad():
        for p in net.parameters():
            p.copy_(ramp(m, *p.shape))
    optimizer = m.optim.Adam(net.parameters(), lr=0.0)
    x, y = ramp(m, 16, 32), ramp(m, 16, 32)

    def step() -> Any:
        loss = m.nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


def adam(m: Any, count: int, size: int) -> Call:
    params = [m.nn.Parameter(ramp(m, size)) for _ in range(count)]
    for p in params:
        p.grad = ramp(m, size)
    optimizer = m.optim.Adam(params, lr=0.0)

    def step() -> Any:
        optimizer.step()
        return params[0].detach()

    return step


CASES["Adam, 100 tensors of 10"] = lambda m: adam(m, 100, 10)
CASES["Adam, 150 tensors of 100,000"] = lambda m: adam(m, 150, 100_000)

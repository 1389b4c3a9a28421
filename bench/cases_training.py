# SPDX-License-Identifier: Apache-2.0
"""Backward passes and steps of training."""

from typing import Any

from registry import CASES, Call, case, ramp


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


@case("matmul 256 and backward")
def _(m: Any) -> Call:
    a, b = ramp(m, 256, 256).requires_grad_(), ramp(m, 256, 256).requires_grad_()

    def run() -> Any:
        a.grad = b.grad = None
        (a @ b).sum().backward()
        return a.grad

    return run


for name in ("tanh", "sigmoid", "exp"):
    for size in (1_000, 100_000, 1_000_000):

        @case(f"{name} and backward, {size:,}")
        def _(m: Any, name: str = name, size: int = size) -> Call:
            x, dy = ramp(m, size).requires_grad_(), ramp(m, size)

            def run() -> Any:
                x.grad = None
                getattr(m, name)(x).backward(dy)
                return x.grad

            return run


@case("cross_entropy 256 x 1000 and backward")
def _(m: Any) -> Call:
    x = ramp(m, 256, 1000).requires_grad_()
    y = m.arange(256)

    def run() -> Any:
        x.grad = None
        m.nn.functional.cross_entropy(x, y).backward()
        return x.grad

    return run


@case("layer_norm 256 x 1024 and backward")
def _(m: Any) -> Call:
    x = ramp(m, 256, 1024).requires_grad_()
    w, b = ramp(m, 1024).requires_grad_(), ramp(m, 1024).requires_grad_()
    dy = ramp(m, 256, 1024)

    def run() -> Any:
        x.grad = w.grad = b.grad = None
        m.nn.functional.layer_norm(x, (1024,), w, b).backward(dy)
        return x.grad

    return run


@case("softmax 256 x 1024 and backward")
def _(m: Any) -> Call:
    x, dy = ramp(m, 256, 1024).requires_grad_(), ramp(m, 256, 1024)

    def run() -> Any:
        x.grad = None
        m.softmax(x, 1).backward(dy)
        return x.grad

    return run


@case("embedding 1000 of 5000 x 64 and backward")
def _(m: Any) -> Call:
    w = ramp(m, 5000, 64).requires_grad_()
    i = m.arange(1000) * 37 % 5000
    dy = ramp(m, 1000, 64)

    def run() -> Any:
        w.grad = None
        m.nn.functional.embedding(i, w).backward(dy)
        return w.grad

    return run


@case("training step, MLP 784-256-10, batch 64, SGD")
def _(m: Any) -> Call:
    net = m.nn.Sequential(m.nn.Linear(784, 256), m.nn.ReLU(), m.nn.Linear(256, 10))
    with m.no_grad():
        for p in net.parameters():
            p.copy_(ramp(m, *p.shape, scale=1e-4))
    optimizer = m.optim.SGD(net.parameters(), lr=0.0)
    x, y = ramp(m, 64, 784), m.arange(64) % 10

    def step() -> Any:
        loss = m.nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step

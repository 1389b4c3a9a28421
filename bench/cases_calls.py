# SPDX-License-Identifier: Apache-2.0
"""The cost of a call: operators on one element."""

from typing import Any

from registry import Call, case, ramp


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


@case("x.sum(), 1 element")
def _(m: Any) -> Call:
    x = ramp(m, 1)
    return lambda: x.sum()


@case("x[0] = y")
def _(m: Any) -> Call:
    x, y = ramp(m, 4), ramp(m, 1)[0]

    def run() -> Any:
        x[0] = y
        return x

    return run


@case("cat of two, 1 element")
def _(m: Any) -> Call:
    x = ramp(m, 1)
    return lambda: m.cat([x, x])


@case("where, 1 element")
def _(m: Any) -> Call:
    x, y = ramp(m, 1), ramp(m, 1)
    c = x > 0
    return lambda: m.where(c, x, y)


@case("linear 1 x 1")
def _(m: Any) -> Call:
    x, w = ramp(m, 1, 1), ramp(m, 1, 1)
    return lambda: m.nn.functional.linear(x, w)

# SPDX-License-Identifier: Apache-2.0
"""Derivatives as functions of functions: Jacobians by rows and columns, alone and mapped over."""

from typing import Any

from registry import Call, case, ramp


def _small(m: Any) -> Call:
    """A function of 64 numbers that gives 200."""
    first, last = ramp(m, 64, 64), ramp(m, 200, 64)
    return lambda x: last @ m.tanh(first @ x)


@case("jacrev, 200 rows")
def _(m: Any) -> Call:
    f, x = _small(m), ramp(m, 64)
    return lambda: m.func.jacrev(f)(x)


@case("jacrev, elementwise, 200 rows")
def _(m: Any) -> Call:
    x = ramp(m, 200)
    return lambda: m.func.jacrev(lambda x: x.sin() * x.exp() + x**3)(x)


@case("jacrev, 8 rows of a 512x512 weight")
def _(m: Any) -> Call:
    x, weight = ramp(m, 16, 512), ramp(m, 512, 512)
    return lambda: m.func.jacrev(lambda w: m.tanh(x @ w).sum(0)[:8])(weight)


@case("vmap(jacrev), 32 samples of 8")
def _(m: Any) -> Call:
    weight, xs = ramp(m, 8, 8), ramp(m, 32, 8)
    return lambda: m.func.vmap(m.func.jacrev(lambda x: m.tanh(weight @ x) * x.sin()))(xs)


@case("jacrev(jacrev), 8 numbers")
def _(m: Any) -> Call:
    weight, x = ramp(m, 8, 8), ramp(m, 8)
    f = m.func.jacrev(m.func.jacrev(lambda x: m.tanh(weight @ x) * x.sin()))
    return lambda: f(x)


@case("hessian, 64 numbers")
def _(m: Any) -> Call:
    weight, x = ramp(m, 64, 64), ramp(m, 64)
    return lambda: m.func.hessian(lambda x: m.tanh(weight @ x).square().sum())(x)


@case("autograd.grad, is_grads_batched, 200 rows")
def _(m: Any) -> Call:
    f, x, units = _small(m), ramp(m, 64).requires_grad_(), m.eye(200)
    return lambda: m.autograd.grad(f(x), x, units, is_grads_batched=True)


@case("autograd.functional.jacobian, 200 rows")
def _(m: Any) -> Call:
    f, x = _small(m), ramp(m, 64)
    return lambda: m.autograd.functional.jacobian(f, x, vectorize=True)

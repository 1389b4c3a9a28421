# SPDX-License-Identifier: Apache-2.0
"""A number beside float64 tensors keeps all its digits in gradients of every order.

Each case is a function that takes a number, and the same function with the number as a float64
tensor, which has no digits to lose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import libdl
from libdl import func
from libdl.nn import functional as F

X = libdl.tensor([0.3, 0.7, 1.1, 1.9, 2.3], dtype=libdl.float64)
Y = libdl.tensor([1.7, 0.2, 0.9, 1.3, 0.6], dtype=libdl.float64)
M = libdl.tensor([[0.3, 0.7], [1.1, 1.9]], dtype=libdl.float64)
MASK = libdl.tensor([True, False, True, False, False])
AT = libdl.tensor([0, 3])


def wide(number: float) -> Any:
    return libdl.tensor(number, dtype=libdl.float64)


def same(function: Callable[[Any, Any], Any], number: float = 0.1) -> tuple[Any, Any]:
    return (lambda x: function(x, number)), (lambda x: function(x, wide(number)))


CASES: dict[str, tuple[Any, Any]] = {
    "add": same(lambda x, n: x + n),
    "rsub": same(lambda x, n: n - x * x),
    "mul": same(lambda x, n: x * x * n),
    "div": same(lambda x, n: x * x / n),
    "rdiv": same(lambda x, n: n / x),
    "pow": same(lambda x, n: x**n),
    "rpow": same(lambda x, n: n**x),
    "two to the": same(lambda x, n: n**x, 2),
    "cube": same(lambda x, n: x**n, 3),
    "square": same(lambda x, n: x**n, 2),
    "pow of pow": same(lambda x, n: (x**n) ** n, 0.7),
    "remainder": same(lambda x, n: libdl.remainder(x * x, n)),
    "fmod": same(lambda x, n: libdl.fmod(x * x, n)),
    "lerp": same(lambda x, n: libdl.lerp(x, x * x, n)),
    "lerp far": same(lambda x, n: libdl.lerp(x, x * x, n), 0.9),
    "lerp of products": same(lambda x, n: libdl.lerp(x * x, Y * x, n)),
    "maximum": same(lambda x, n: libdl.maximum(x * x, libdl.ones_like(x) * n)),
    "clamp": same(lambda x, n: (x * x).clamp(n, 1.1), 0.4),
    "clamp min": same(lambda x, n: (x**3).clamp(min=n)),
    "clamp max": same(lambda x, n: (x**3).clamp(max=n)),
    "where": same(lambda x, n: libdl.where(x > 1, x * x, n)),
    "masked_fill": same(lambda x, n: (x * x).masked_fill(MASK, n)),
    "index_fill": same(lambda x, n: (x * x).index_fill(0, AT, n) * n),
    "add alpha": (lambda x: libdl.add(x, x * x, alpha=0.1), lambda x: x + x * x * wide(0.1)),
    "sub alpha": (lambda x: libdl.sub(x, x * x, alpha=0.1), lambda x: x - x * x * wide(0.1)),
    "scatter": (
        lambda x: (x * x).scatter(0, AT, 0.1) * x,
        lambda x: (x * x).index_fill(0, AT, wide(0.1)) * x,
    ),
    "index_add": (
        lambda x: (x * x).index_add(0, AT, (x * x)[:2], alpha=0.1),
        lambda x: (x * x).index_add(0, AT, (x * x)[:2] * wide(0.1)),
    ),
    "addcmul": (
        lambda x: libdl.addcmul(x, x, x * x, value=0.1),
        lambda x: x + wide(0.1) * x * (x * x),
    ),
    "addcdiv": (
        lambda x: libdl.addcdiv(x, x * x, Y * x * x, value=0.1),
        lambda x: x + wide(0.1) * (x * x) / (Y * x * x),
    ),
    "addmm": (
        lambda x: libdl.addmm(M, x[:4].view(2, 2), x[1:].view(2, 2), beta=0.3, alpha=0.1),
        lambda x: M * wide(0.3) + x[:4].view(2, 2) @ x[1:].view(2, 2) * wide(0.1),
    ),
    "norm 3": (lambda x: x.norm(3), lambda x: (x ** wide(3.0)).sum() ** (1 / wide(3.0))),
    "norm 0.7": (lambda x: x.norm(0.7), lambda x: (x ** wide(0.7)).sum() ** (1 / wide(0.7))),
    "var": (
        lambda x: x.var(correction=0.3),
        lambda x: ((x - x.sum() / wide(5.0)) ** 2).sum() / (5 - wide(0.3)),
    ),
    "std": (
        lambda x: x.std(correction=0.3),
        lambda x: (((x - x.sum() / wide(5.0)) ** 2).sum() / (5 - wide(0.3))).sqrt(),
    ),
    "mean": (lambda x: (x * x)[:3].mean(), lambda x: (x * x)[:3].sum() / wide(3.0)),
    "leaky_relu": same(
        lambda x, n: (
            F.leaky_relu((x - 1) ** 3, n)
            if isinstance(n, float)
            else libdl.where(x > 1, (x - 1) ** 3, (x - 1) ** 3 * n)
        )
    ),
    "elu": same(
        lambda x, n: (
            F.elu((x - 1) ** 3, n)
            if isinstance(n, float)
            else libdl.where(x > 1, (x - 1) ** 3, ((x - 1) ** 3).expm1() * n)
        )
    ),
    "softplus": (
        lambda x: F.softplus(x, beta=0.1),
        lambda x: libdl.log1p(libdl.exp(x * wide(0.1))) / wide(0.1),
    ),
    "layer_norm": (
        lambda x: F.layer_norm(x, (5,), eps=0.1),
        lambda x: (x - x.mean()) / (((x - x.mean()) ** 2).mean() + wide(0.1)).sqrt(),
    ),
    "label_smoothing": (
        lambda x: F.cross_entropy(x, libdl.tensor(2), label_smoothing=0.1),
        lambda x: (
            -F.log_softmax(x, 0)[2] * (1 - wide(0.1)) - F.log_softmax(x, 0).sum() * (wide(0.1) / 5)
        ),
    ),
    "exp2": (lambda x: libdl.exp2(x), lambda x: wide(2.0) ** x),
    "log2": (lambda x: libdl.log2(x), lambda x: libdl.log(x) / libdl.log(wide(2.0))),
    "log10": (lambda x: libdl.log10(x), lambda x: libdl.log(x) / libdl.log(wide(10.0))),
    "gelu": (lambda x: F.gelu(x), lambda x: x * wide(0.5) * (1 + libdl.erf(x * wide(0.5).sqrt()))),
}


def derivatives(function: Any) -> dict[str, Any]:
    x = X.clone().requires_grad_()
    found = {"value": function(x)}
    made = found["value"].sum()
    for order in ("first", "second", "third"):
        if not made.requires_grad:  # a polynomial came to its end
            break
        (slope,) = libdl.autograd.grad(made, x, create_graph=True, allow_unused=True)
        if slope is None:
            break
        found[order] = slope
        made = (slope * Y).sum()
    with libdl.no_grad():
        found["jvp"] = func.jvp(function, (X,), (Y,))[1]
    # The same with recording on, where a rule's steps are operators of their own.
    found["recorded jvp"] = func.jvp(function, (X.clone().requires_grad_(),), (Y,))[1]
    return found


@pytest.mark.parametrize("name", CASES)
def test_derivatives_are_those_of_a_float64_tensor(name: str) -> None:
    number, tensor = (derivatives(function) for function in CASES[name])
    for what in ("value", "first", "second", "third", "jvp", "recorded jvp"):
        if what not in number and what not in tensor:
            continue
        found = number.get(what, libdl.zeros_like(X)).detach()
        wanted = tensor.get(what, libdl.zeros_like(X)).detach()
        scale = wanted.abs().max().clamp(min=1).item()
        error = (found - wanted).abs().max().item() / scale
        assert error <= 1e-14, (what, error, found.tolist(), wanted.tolist())


# Closed forms, to the last digits that double precision has.
def test_powers_of_two() -> None:
    x = libdl.tensor(1.0, dtype=libdl.float64, requires_grad=True)
    (first,) = libdl.autograd.grad(2**x, x, create_graph=True)
    (second,) = libdl.autograd.grad(first, x)
    assert first.item() == pytest.approx(1.3862943611198906, rel=1e-15)
    assert second.item() == pytest.approx(0.9609060278364028, rel=1e-15)
    assert func.jvp(lambda t: 2**t, (x,), (libdl.ones_like(x),))[1].item() == pytest.approx(
        1.3862943611198906, rel=1e-15
    )


@pytest.mark.parametrize("base", ["integers", "float32"])
def test_a_narrower_tensor_counts_with_the_digits_of_the_wider_one(base: str) -> None:
    dtype = libdl.int64 if base == "integers" else libdl.float32
    x = libdl.tensor([2, 3], dtype=dtype)
    p = libdl.tensor([1.5, 0.5], dtype=libdl.float64, requires_grad=True)
    (slope,) = libdl.autograd.grad((x**p).sum(), p, create_graph=True)
    assert slope.detach().tolist() == pytest.approx(
        [2**1.5 * 0.6931471805599453, 3**0.5 * 1.0986122886681098], rel=1e-15
    )


def test_complex_numbers_too() -> None:
    z = libdl.tensor(0.5 + 0.25j, dtype=libdl.complex128, requires_grad=True)
    (first,) = libdl.autograd.grad((0.1**z).abs(), z, create_graph=True)
    wide_z = z.detach().requires_grad_()
    tenth = libdl.tensor(0.1, dtype=libdl.complex128)
    (wanted,) = libdl.autograd.grad((tenth**wide_z).abs(), wide_z)
    assert abs(first.item() - wanted.item()) < 1e-15

# SPDX-License-Identifier: Apache-2.0
"""Pointwise operators: a line each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import libdl
from libdl.nn import functional as F
from samples import Case, Reject, Sample, binary, integers, numbers, unary

erf = np.vectorize(math.erf, otypes=[float])


def no_strings(name: str, function: Any) -> list[Reject]:
    return [Reject(TypeError, (name, "input"), lambda: function("a"))]


def no_shapes(name: str, function: Any, dtype: Any = None) -> list[Reject]:
    a, b = np.ones((2, 2)), np.ones(3)
    return [Reject((ValueError, RuntimeError), (name, "broadcast"),
                   lambda: function(libdl.tensor(a, dtype=dtype),
                                    libdl.tensor(b, dtype=dtype)))]


def one(name: str, reference: Any, *domain: float, result: str = "float", **how: Any) -> Case:
    function = getattr(libdl, name)
    domain_of = {k: how.pop(k) for k in ("away",) if k in how}
    return Case(name, function, reference, unary(*domain, **domain_of), result=result,
                out=True, inplace=hasattr(libdl.Tensor, name + "_"),
                rejects=no_strings(name, function), **how)


def two(name: str, reference: Any, *domain: float, result: str = "same", **how: Any) -> Case:
    function = getattr(libdl, name)
    domain_of = {k: how.pop(k) for k in ("away", "low2", "high2", "special") if k in how}
    return Case(name, function, reference, binary(*domain, **domain_of), result=result,
                out=True, inplace=hasattr(libdl.Tensor, name + "_"),
                rejects=no_shapes(name, function), **how)


def sigmoid(x: Any) -> Any:
    return np.where(x >= 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x)))


UNARY = [
    one("neg", np.negative, result="same", dtypes="fiu", exact=True),
    one("abs", np.abs, result="same", dtypes="fiu", exact=True, away=0.01),
    one("sign", np.sign, result="same", away=0.01),
    one("sgn", np.sign, result="same", away=0.01),
    one("reciprocal", lambda x: 1 / x, 0.5, 2.0),
    one("square", np.square, result="own"),
    one("sqrt", np.sqrt, 0.1, 4.0),
    one("rsqrt", lambda x: 1 / np.sqrt(x), 0.3, 4.0),
    one("exp", np.exp), one("exp2", np.exp2), one("expm1", np.expm1),
    one("log", np.log, 0.1, 5.0), one("log2", np.log2, 0.1, 5.0),
    one("log10", np.log10, 0.1, 5.0), one("log1p", np.log1p, -0.5, 5.0),
    one("sin", np.sin), one("cos", np.cos), one("tan", np.tan, -1.2, 1.2),
    one("tanh", np.tanh), one("sigmoid", sigmoid), one("erf", erf),
    one("relu", lambda x: np.where(np.isnan(x), x, np.maximum(x, 0)), result="same",
        dtypes="fiu", away=0.01),
    one("floor", np.floor, result="same", dtypes="fiu", away=0.01),
    one("ceil", np.ceil, result="same", dtypes="fiu", away=0.01),
    one("round", np.round, -0.4, 0.4, result="same", dtypes="fiu"),
    one("trunc", np.trunc, result="same", dtypes="fiu", away=0.01),
    one("logical_not", np.logical_not, result="bool", differentiable=False),
]
for name in ("isnan", "isinf", "isfinite"):
    UNARY.append(Case(name, getattr(libdl, name), getattr(np, name), unary(), result="bool",
                      differentiable=False, exact=True,
                      rejects=no_strings(name, getattr(libdl, name))))
UNARY += [
    Case("gelu", F.gelu, lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))), unary(special=False),
         dtypes="f", scale=4, rejects=no_strings("gelu", F.gelu)),
    Case("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"),
         lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
         unary(special=False), dtypes="f", scale=4,
         rejects=[Reject((ValueError, RuntimeError), ("gelu", "approximate"),
                         lambda: F.gelu(libdl.ones(2), approximate="no"))]),
    Case("silu", F.silu, lambda x: x * sigmoid(x), unary(special=False), dtypes="f", scale=4,
         rejects=no_strings("silu", F.silu)),
    Case("clamp", libdl.clamp, lambda x, min=None, max=None: np.clip(x, min, max),
         lambda: unary(away=0.01, min=-0.995, max=1.0)() + unary(away=0.01, min=0.0)(),
         result="own", out=True, inplace=True, dtypes="f",
         rejects=no_strings("clamp", libdl.clamp)),
]

BINARY = [
    two("add", np.add, exact=True), two("sub", np.subtract, exact=True, dtypes="fiu"),
    two("mul", np.multiply, exact=True),
    two("div", np.divide, -2, 2, low2=0.5, high2=2.0, result="float"),
    two("pow", np.power, 0.3, 2.0, low2=0.5, high2=2.0, scale=8, dtypes="fiu"),
    two("maximum", np.maximum, exact=True), two("minimum", np.minimum, exact=True),
    two("remainder", np.mod, -1.9, 1.9, low2=2.1, high2=3.0, away=0.01, special=False, dtypes="f"),
    two("fmod", np.fmod, -1.9, 1.9, low2=2.1, high2=3.0, special=False, dtypes="f"),
    two("floor_divide", np.floor_divide, 0.1, 1.9, low2=2.1, high2=3.0, special=False,
        differentiable=False, dtypes="f"),
]
for name, reference in {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
                        "gt": np.greater, "ge": np.greater_equal, "logical_and": np.logical_and,
                        "logical_or": np.logical_or, "logical_xor": np.logical_xor}.items():
    BINARY.append(two(name, reference, result="bool", differentiable=False, exact=True))


def whole(low: int = -9, high: int = 9, low2: int = -9, high2: int = 9) -> Any:
    from samples import PAIRS
    return lambda: [Sample((integers(a, 10 * i + n, low, high),
                            integers(b, 700 + 10 * i + n, low2, high2)))
                    for i, (a, b) in enumerate(PAIRS) for n in (1, 2)]


for name, reference, made in [
        ("bitwise_and", np.bitwise_and, whole()), ("bitwise_or", np.bitwise_or, whole()),
        ("bitwise_xor", np.bitwise_xor, whole()),
        ("bitwise_left_shift", np.left_shift, whole(0, 99, 0, 8)),
        ("bitwise_right_shift", np.right_shift, whole(-99, 99, 0, 8))]:
    function = getattr(libdl, name)
    BINARY.append(Case(name, function, reference, made, differentiable=False, exact=True,
                       out=True, inplace=True, rejects=no_shapes(name, function, libdl.int64)))


def three(low: float = 0.5) -> Any:
    return lambda: [Sample((s.args[0], s.args[1], numbers(s.args[0].shape, 900 + i, low, 2.0)))
                    for i, s in enumerate(binary(special=False)())]


TERNARY = [
    Case("lerp", libdl.lerp, lambda a, b, w: a + w * (b - a), three(), dtypes="f", out=True,
         scale=4, inplace=True),
    Case("addcmul", libdl.addcmul, lambda a, b, c: a + b * c, three(), dtypes="f", out=True,
         scale=4, inplace=True),
    Case("addcdiv", libdl.addcdiv, lambda a, b, c: a + b / c, three(), dtypes="f", out=True,
         scale=4, inplace=True),
    Case("where", libdl.where, np.where,
         lambda: [Sample((np.asarray(s.args[0] > 0), *s.args), smooth=s.smooth)
                 for s in binary()()], exact=True, out=True),
]
CASES = UNARY + BINARY + TERNARY

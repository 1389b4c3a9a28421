# SPDX-License-Identifier: Apache-2.0
"""Special functions and inverse trigonometry. The references are the defining series, products and
recurrences, or math's functions, beside which a quotient of differences has no place: gradients are
compared with those by the harness."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import libdl
from cases_pointwise import no_shapes, one, two
from samples import Case, Reject, unary


def each(function: Any) -> Any:
    """A function of a number for arrays, NaN where it is refused."""

    def tolerant(*x: float) -> float:
        try:
            return float(function(*x))
        except (ValueError, OverflowError, ZeroDivisionError):
            return math.nan

    return np.vectorize(tolerant, otypes=[float])


def erfinv(x: float) -> float:
    """By bisection on math.erf."""
    low, high = 0.0, 6.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle) < abs(x) else (low, middle)
    return math.copysign(low, x)


def digamma(x: float) -> float:
    """The series of Gauss, begun at x + 200, where its third term is 1e-11 of the first."""
    below = math.fsum(1 / (x + k) for k in range(200))
    far = x + 200
    return math.log(far) - 1 / (2 * far) - 1 / (12 * far**2) + 1 / (120 * far**4) - below


def polygamma(n: int, x: float) -> float:
    """Sums of powers to 2000, and Euler and Maclaurin's integral of the rest."""
    if n == 0:
        return digamma(x)
    end = x + 2000
    rest = end**-n / n + end ** (-n - 1) / 2 + (n + 1) * end ** (-n - 2) / 12
    total = math.fsum((x + k) ** (-n - 1) for k in range(2000)) + rest
    return (-1) ** (n + 1) * math.factorial(n) * total


def bessel(order: int, x: float) -> float:
    return math.fsum(
        (x / 2) ** (2 * k + order) / (math.factorial(k) * math.factorial(k + order))
        for k in range(40)
    )


def ndtri(p: float) -> float:
    low, high = -40.0, 40.0
    for _ in range(200):
        middle = (low + high) / 2
        below = 0.5 * math.erfc(-middle / math.sqrt(2)) < p
        low, high = (middle, high) if below else (low, middle)
    return low


def igamma(a: float, x: float) -> float:
    """The power series."""
    term, total = 1 / math.gamma(a + 1), 0.0
    for k in range(1, 200):
        total, term = total + term, term * x / (a + k)
    return total * x**a * math.exp(-x)


def real(name: str, reference: Any, low: float, high: float) -> Case:
    case = one(name, each(reference), low, high, dtypes="f")
    case.samples = unary(low, high, special=False)
    case.rejects = [
        *case.rejects,
        Reject(
            (RuntimeError, TypeError),
            (f"{name}: argument 1", "complex64"),
            lambda: getattr(libdl, name)(libdl.ones(2, dtype=libdl.complex64)),
        ),
    ]
    case.scale = 8
    return case


REAL = [
    real("erfc", math.erfc, -2, 2),
    real("erfinv", erfinv, -0.9, 0.9),
    real("erfcx", lambda x: math.exp(x * x) * math.erfc(x), -2, 2),
    real("lgamma", math.lgamma, 0.3, 3),
    real("digamma", digamma, 0.3, 3),
    real("i0", lambda x: bessel(0, x), -2, 2),
    real("i0e", lambda x: bessel(0, x) * math.exp(-abs(x)), 0.1, 3),
    real("i1", lambda x: bessel(1, x), 0.1, 3),
    real("i1e", lambda x: bessel(1, x) * math.exp(-abs(x)), 0.1, 3),
    real("ndtr", lambda x: 0.5 * math.erfc(-x / math.sqrt(2)), -2, 2),
    real("ndtri", ndtri, 0.1, 0.9),
    real("log_ndtr", lambda x: math.log(0.5 * math.erfc(-x / math.sqrt(2))), -3, 2),
    Case(
        "polygamma",
        lambda x, n=1: libdl.polygamma(n, x),
        lambda x, n=1: each(lambda v: polygamma(n, v))(x),
        lambda: [s for n in (0, 1, 2) for s in unary(0.5, 3, special=False, n=n)()],
        dtypes="f",
        result="float",
        scale=16,
        rejects="""
            libdl.polygamma(-1, libdl.ones(2))
                # ValueError: polygamma: argument 1 (n) is -1 ... 0 or more
        """,
    ),
]

PLANE = [
    one("sinh", np.sinh, scale=4),
    one("cosh", np.cosh, scale=4),
    one("asin", np.arcsin, -0.9, 0.9),
    one("acos", np.arccos, -0.9, 0.9),
    one("atan", np.arctan),
    one("asinh", np.arcsinh),
    one("acosh", np.arccosh, 1.2, 3),
    one("atanh", np.arctanh, -0.9, 0.9),
]

PAIRED = [
    two("atan2", np.arctan2, 0.2, 2, result="float", special=False),
    two("hypot", np.hypot, 0.2, 2, result="float", special=False),
]
for name, reference in (("logaddexp", np.logaddexp), ("logaddexp2", np.logaddexp2)):
    case = two(name, reference, result="float", special=False)
    case.inplace = False
    PAIRED.append(case)
ORDERS = (0.5, 1.0, 3.5, 12.0)
for name, reference in (("igamma", igamma), ("igammac", lambda a, x: 1 - igamma(a, x))):
    function = getattr(libdl, name)
    PAIRED.append(
        Case(
            name,
            lambda x, a=1.0, function=function: function(x.new_tensor(a), x),
            lambda x, a=1.0, reference=reference: each(lambda v: reference(a, v))(x),
            lambda: [s for a in ORDERS for s in unary(0.3, 5, special=False, a=a)()],
            dtypes="f",
            scale=16,
            rejects=no_shapes(name, function),
        )
    )
CASES = REAL + PLANE + PAIRED

# SPDX-License-Identifier: Apache-2.0
"""Differences, slopes and integrals of sampled functions, and running sums of exponentials."""

from __future__ import annotations

from typing import Any

import numpy as np

import libdl
from samples import Case, Sample, numbers

SHAPES = [(5,), (2, 3), (3, 1, 2), (2, 3, 4), (1,), (2, 0, 3), (65,)]


def differences() -> list[Sample]:
    return [
        Sample((numbers(s, i + n),), {"n": n, "dim": d})
        for i, s in enumerate(SHAPES)
        for d in (-1, 0)
        for n in (0, 1, 2)
    ]


def joined() -> list[Sample]:
    return [
        Sample(
            (numbers((2, 3), i + 9 * k), numbers(a, i + 9 * k + 1), numbers(b, i + 9 * k + 2)),
            {"n": n, "dim": d},
        )
        for i, (a, b, d) in enumerate(
            [((2, 1), (2, 2), 1), ((1, 3), (2, 3), 0), ((2, 2), (2, 0), -1)]
        )
        for n in (1, 2)
        for k in range(4)
    ]


def diff_between(x: Any, a: Any, b: Any, n: int, dim: int, out: Any = None) -> Any:
    return libdl.diff(x, n, dim, a, b, out=out)


def diff_joined(x: Any, a: Any, b: Any, n: int, dim: int) -> Any:
    return np.diff(x, n, dim, a, b)


def integrals() -> list[Sample]:
    made = []
    for i, s in enumerate(SHAPES[:5] + SHAPES[6:]):
        for d in dict.fromkeys((-1, 0)):
            x = np.sort(numbers((s[d],), i))
            made += [
                Sample((numbers(s, i),), {"dim": d}),
                Sample((numbers(s, i),), {"dx": 0.5, "dim": d}),
                Sample((numbers(s, i), x), {"dim": d}),
            ]
    return made


def trapezoid(y: Any, x: Any = None, dx: float = 1.0, dim: int = -1) -> Any:
    return np.trapezoid(y, x, dx, dim)


def running_trapezoid(y: Any, x: Any = None, dx: float = 1.0, dim: int = -1) -> Any:
    y = np.moveaxis(y, dim, -1)
    steps = dx if x is None else np.diff(x)
    return np.moveaxis(np.cumsum((y[..., 1:] + y[..., :-1]) / 2 * steps, -1), -1, dim)


def slopes() -> list[Sample]:
    made = []
    for i, s in enumerate([(5,), (3, 4), (2, 2), (3, 3, 2), (65,)]):
        for order in (1, 2) if 2 not in s else (1,):
            for kw in ({}, {"spacing": 0.5}, {"dim": 0}, {"dim": -1, "spacing": 2}):
                made.append(Sample((numbers(s, i),), {"edge_order": order, **kw}))
    return made


def gradient(x: Any, edge_order: int = 1, spacing: Any = 1, dim: Any = None) -> Any:
    found = np.gradient(x, *([spacing] if spacing != 1 else []), axis=dim, edge_order=edge_order)
    return found if isinstance(found, (list, tuple)) else [found]


def uneven() -> list[Sample]:
    return [
        Sample(
            (numbers((n, 3), n + k), np.arange(n) + numbers((n,), k + 4, 0.0, 0.5)),
            {"edge_order": order},
        )
        for n in (2, 3, 5, 8)
        for k in range(4)
        for order in (1, 2)
        if n > order
    ]


def uneven_gradient(x: Any, places: Any, edge_order: int) -> Any:
    return libdl.gradient(x, spacing=[places], dim=0, edge_order=edge_order)[0]


def uneven_reference(x: Any, places: Any, edge_order: int) -> Any:
    return np.gradient(x, places, axis=0, edge_order=edge_order)


def rows() -> list[Sample]:
    made = [
        Sample((numbers(s, 7 * i + n),), {"dim": d})
        for i, s in enumerate(SHAPES)
        for d in {-1, len(s) - 2, 0}
        if -len(s) <= d
        for n in (1, 2)
    ]
    wide = np.array(
        [[-np.inf, -np.inf, 1.0, 700.0, -np.inf, 2.0], [800.0, 800.0, -1e3, 0.0, 0.0, 1e3]]
    )
    return [
        *made,
        Sample((numbers((), 3),), {"dim": 0}),
        Sample((wide,), {"dim": 1}, smooth=False),
        Sample((wide.T.copy(),), {"dim": 0}, smooth=False),
    ]


def running_log(x: Any, dim: int) -> Any:
    return np.logaddexp.accumulate(x, dim) if x.ndim else x


CASES = [
    Case(
        "diff",
        libdl.diff,
        lambda x, n, dim: np.diff(x, n, dim),
        differences,
        dtypes="fiuc",
        out=True,
        scale=8,
        roundings=3,
        terms=4.0,
        rejects="""
            libdl.diff(libdl.ones(()))
                # ValueError: diff: argument 1 (input) is 0-d
            libdl.diff(libdl.ones(3), -1)
                # ValueError: diff: argument 2 (n) is -1 ... 0 or more
            libdl.diff(libdl.ones(3), 1, 1)
                # IndexError: diff: argument 3 (dim) is 1 ... -1 to 0
            libdl.diff(libdl.ones(2, 2), prepend=libdl.ones(2))
                # ValueError: diff: argument 4 (prepend) has shape [2] ... [2, 2]
        """,
    ),
    Case(
        "diff_between",
        diff_between,
        diff_joined,
        joined,
        operators=("diff",),
        dtypes="fic",
        scale=8,
        out=True,
        roundings=3,
        terms=4.0,
        rejects="""
            libdl.diff(libdl.ones(2, 2), append=libdl.ones(3, 1))
                # ValueError: diff: argument 5 (append) has shape [3, 1]
        """,
    ),
    Case(
        "trapezoid",
        libdl.trapezoid,
        trapezoid,
        integrals,
        dtypes="fc",
        scale=16,
        terms=8.0,
        rejects="""
            libdl.trapezoid(libdl.ones(()))
                # IndexError: trapezoid: argument 1 (y) has no dimensions
            libdl.trapezoid(libdl.ones(3), dim=1)
                # IndexError: trapezoid: argument 4 (dim) is 1 ... -1 to 0
            libdl.trapezoid(libdl.ones(3) > 0)
                # NotImplementedError: trapezoid: argument 1 (y) is bool
            libdl.trapezoid(libdl.ones(3), libdl.ones(2))
                # ValueError: trapezoid: argument 2 (x) has shape [2] ... [3]
        """,
    ),
    Case(
        "cumulative_trapezoid",
        libdl.cumulative_trapezoid,
        running_trapezoid,
        integrals,
        dtypes="fc",
        scale=16,
        terms=8.0,
        rejects="""
            libdl.cumulative_trapezoid(libdl.ones(3), libdl.ones(2))
                # ValueError: cumulative_trapezoid: argument 2 (x) has shape [2] ... [3]
        """,
    ),
    Case(
        "gradient",
        libdl.gradient,
        gradient,
        slopes,
        dtypes="f",
        scale=16,
        roundings=6,
        terms=16.0,
        rejects="""
            libdl.gradient(libdl.ones(4), edge_order=3)
                # ValueError: gradient: argument 4 (edge_order) is 3 ... 1 or 2
            libdl.gradient(libdl.ones(4), dim=1)
                # IndexError: gradient: argument 3 (dim) names 1 ... -1 to 0
            libdl.gradient(libdl.ones(4, 4), dim=(0, -2))
                # ValueError: gradient: argument 3 (dim) ... dimension 0 twice
            libdl.gradient(libdl.ones(1))
                # ValueError: gradient: argument 1 (input) has size 1 in dimension 0 ... 2 or more
            libdl.gradient(libdl.ones(4, 4), spacing=[1.0])
                # ValueError: gradient: argument 2 (spacing) has 1 entries ... 2
            libdl.gradient(libdl.ones(4), spacing=[libdl.ones(3)])
                # ValueError: gradient: argument 2 (spacing) holds shape [3] ... [4]
        """,
    ),
    Case(
        "gradient_uneven",
        uneven_gradient,
        uneven_reference,
        uneven,
        operators=("gradient",),
        dtypes="f",
        scale=256,
        roundings=40,
        terms=64.0,
        rejects="""
            libdl.gradient(libdl.ones(4), spacing=1j)
                # TypeError: gradient: argument 2 (spacing) holds complex128
        """,
    ),
    Case(
        "logcumsumexp",
        libdl.logcumsumexp,
        running_log,
        rows,
        dtypes="f",
        out=True,
        scale=4,
        terms=4.0,
        rejects="""
            libdl.logcumsumexp(libdl.arange(3), 0)
                # NotImplementedError: logcumsumexp: argument 1 (input) is int64 ... floating
            libdl.logcumsumexp(libdl.ones(3), 1)
                # IndexError: logcumsumexp: argument 2 (dim) is 1 ... -1 to 0
        """,
    ),
]

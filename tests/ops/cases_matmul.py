# SPDX-License-Identifier: Apache-2.0
"""The products. A sum of k terms: its error grows with k, and with what cancels."""

from __future__ import annotations

from typing import Any

import numpy as np

import libdl
from libdl.nn import functional as F
from refusals import refusals
from samples import Case, Reject, Sample, numbers

MM = [
    ((1, 1), (1, 1)),
    ((2, 3), (3, 2)),
    ((1, 4), (4, 1)),
    ((3, 1), (1, 3)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((2, 3), (3, 0)),
    ((4, 2), (2, 4)),
    ((5, 7), (7, 3)),
    ((17, 33), (33, 9)),
    ((2, 65), (65, 4)),
]
MV = [
    ((1, 1), (1,)),
    ((2, 3), (3,)),
    ((3, 1), (1,)),
    ((0, 3), (3,)),
    ((2, 0), (0,)),
    ((5, 7), (7,)),
    ((17, 33), (33,)),
    ((4, 2), (2,)),
    ((1, 9), (9,)),
    ((3, 3), (3,)),
    ((2, 2), (2,)),
]
DOT = [((n,), (n,)) for n in (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 65)]
BMM = [((b, *m), (b, *n)) for b in (1, 2) for m, n in MM[:8]]
BROADCAST = [
    ((2, 2, 3), (3, 2)),
    ((2, 3), (2, 3, 2)),
    ((2, 1, 2, 2), (3, 2, 1)),
    ((3,), (2, 3, 2)),
    ((2, 2, 3), (3,)),
    ((1, 2, 2), (2, 2, 1)),
]

KRON = [
    ((), ()),
    ((2,), ()),
    ((2,), (3,)),
    ((2, 3), (3, 2)),
    ((2,), (2, 2)),
    ((2, 1, 3), (2, 2)),
    ((0, 2), (3, 1)),
    ((1,), (65,)),
    ((2, 2), (2, 0)),
    ((3, 3), (3, 3)),
    ((1, 2, 1, 2), (2,)),
]


def of(shapes: Any, extra: int = 0) -> Any:
    """Two operands, and with `extra` a third of that many leading dimensions of the result."""

    def make() -> list[Sample]:
        return [
            Sample(tuple(numbers(s, 40 * i + 7 * k + n) for k, s in enumerate(pair)))
            for i, pair in enumerate(shapes)
            for n in (1, 2)
        ]

    return make


def wrong(name: str, function: Any, a: tuple[int, ...], b: tuple[int, ...]) -> list[Reject]:
    return refusals(
        f"""
            function(libdl.ones(a), libdl.ones(b))
                # ValueError | RuntimeError: {name} ... argument
            function(libdl.ones(a), libdl.ones(b).to(libdl.float64))
                # TypeError | RuntimeError | ValueError: {name} ... argument
        """,
        globals() | locals(),
    )


def addmm_samples() -> list[Sample]:
    return [
        Sample((numbers(s, 3 * i, 0.5), numbers(a, 5 * i), numbers(b, 6 * i)), kw)
        for i, (a, b) in enumerate(MM)
        for s in [(a[0], b[1]), (b[1],)]
        for kw in ({}, {"beta": 0.5, "alpha": 2.0})
    ]


def linear_samples() -> list[Sample]:
    made = []
    for i, lead in enumerate([(), (1,), (4,), (2, 3), (0,)]):
        for k, (n, m) in enumerate([(3, 2), (1, 1), (5, 4)]):
            x, w, b = numbers((*lead, n), i), numbers((m, n), k), numbers((m,), i + k)
            made += [Sample((x, w)), Sample((x, w, b))]
    return made


# Terms up to 4, of which up to 65 are added in float32.
common = {"dtypes": "fiuc", "scale": 64, "result": "same", "terms": 4.0}
CASES = [
    Case(
        "matmul",
        libdl.matmul,
        np.matmul,
        of(MM + MV + BROADCAST + DOT[1:3]),
        out=True,
        rejects=wrong("matmul", libdl.matmul, (2, 3), (2, 3)),
        **common,
    ),
    Case(
        "mm",
        libdl.mm,
        np.matmul,
        of(MM),
        out=True,
        rejects=wrong("mm", libdl.mm, (2, 3), (2, 3)),
        **common,
    ),
    Case(
        "bmm",
        libdl.bmm,
        np.matmul,
        of(BMM),
        out=True,
        rejects=wrong("bmm", libdl.bmm, (2, 2, 3), (2, 2, 3)),
        **common,
    ),
    Case(
        "mv",
        libdl.mv,
        np.matmul,
        of(MV),
        out=True,
        rejects=wrong("mv", libdl.mv, (2, 3), (2,)),
        **common,
    ),
    Case(
        "dot",
        libdl.dot,
        np.dot,
        of(DOT),
        out=True,
        rejects=wrong("dot", libdl.dot, (2,), (3,)),
        **common,
    ),
    Case(
        "kron",
        libdl.kron,
        np.kron,
        of(KRON),
        dtypes="fiuc",
        scale=64,
        out=True,
        rejects=[
            Reject(
                (RuntimeError, ValueError),
                ("kron: ", "64"),
                lambda: libdl.kron(libdl.ones([1] * 33), libdl.ones(1)),
            )
        ],
    ),
    Case(
        "addmm",
        libdl.addmm,
        lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b),
        addmm_samples,
        out=True,
        inplace=True,
        rejects="""
            libdl.addmm(libdl.ones(2, 2), libdl.ones(2, 3), libdl.ones(2, 2))
                # ValueError | RuntimeError: addmm ... mat2
            libdl.addmm(*[libdl.ones(2, 2, dtype=libdl.int64)] * 3, beta=0.5)
                # TypeError: addmm: argument 4 (beta) is float64 ... int64
            libdl.addmm(libdl.ones(3), libdl.ones(2, 2), libdl.ones(2, 2))
                # ValueError: addmm: argument 1 (input) ... broadcasts
        """,
        **{**common, "dtypes": "fc"},
    ),
    Case(
        "addmm_whole",
        libdl.addmm,
        lambda c, a, b: c + a @ b,
        lambda: [Sample(s.args) for s in addmm_samples() if not s.kwargs],
        operators=("addmm",),
        rejects=wrong("addmm", lambda a, b: libdl.addmm(a, a, b), (2, 3), (2, 3)),
        **common,
    ),
    Case(
        "linear",
        F.linear,
        lambda x, w, b=0: x @ w.T + b,
        linear_samples,
        rejects=wrong("linear", F.linear, (2, 3), (2, 4)),
        **common,
    ),
]

# SPDX-License-Identifier: Apache-2.0
"""Units of newer networks, distances, bilinear and local_response_norm."""

from __future__ import annotations

from typing import Any

import numpy as np

import libdl
from libdl.nn import functional as F
from samples import Case, Reject, Sample, numbers, unary

REFUSED = (ValueError, RuntimeError, TypeError)
ones = libdl.ones


def sigmoid(x: Any) -> Any:
    return np.where(x >= 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x)))


def no_integers(name: str, *args: Any) -> Reject:
    return Reject(
        REFUSED,
        (f"{name}: argument 1 (input) is int64",),
        lambda: getattr(F, name)(libdl.arange(4), *args),
    )


def unit(name: str, reference: Any, *made: Any, **how: Any) -> Case:
    rejects = how.pop("rejects", "")
    return Case(
        name,
        getattr(F, name),
        reference,
        lambda: [sample for make in made for sample in make()],
        dtypes="f",
        rejects=[no_integers(name), *([rejects] if rejects else [])],
        **how,
    )


def selu(x: Any) -> Any:
    return 1.0507009873554805 * np.where(x < 0, 1.6732632423543772 * np.expm1(x), x)


def mish(x: Any) -> Any:
    return np.where(x == -np.inf, 0, x * np.tanh(np.log1p(np.exp(x))))


def hardswish(x: Any) -> Any:
    return np.where(x == -np.inf, 0, x * np.clip(x + 3, 0, 6) / 6)


def softshrink(x: Any, lambd: float = 0.5) -> Any:
    return np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, np.where(x != x, x, 0)))


def wide(**options: Any) -> Any:
    return unary(-5.0, 5.0, away=0.01, **options)


UNITS = [
    Case(
        "relu6",
        F.relu6,
        lambda x: np.clip(x, 0, 6),
        lambda: [*unary(-9.0, 9.0, away=0.01)()],
        dtypes="fi",
        rejects="""
            F.relu6(ones(2, dtype=libdl.complex64))
                # REFUSED: relu6: argument 1 (input) is complex64
        """,
    ),
    Case(
        "threshold",
        F.threshold,
        lambda x, t, v: np.where(x <= t, v, x),  # a NaN stays
        lambda: [
            Sample((x.args[0], t, v), smooth=x.smooth)
            for x in unary(-3.0, 3.0, away=0.01)()
            for t, v in ((0, -2), (1, 3))
        ],
        dtypes="fi",
        exact=True,
        out=False,
        rejects="""
            F.threshold(ones(2, dtype=libdl.complex64), 0, 1)
                # REFUSED: threshold: argument 1 (input) is complex64
            F.threshold(ones(2), 0, 1j)
                # REFUSED: threshold: argument 3 (value) is complex128, wanted a real number
            F.threshold(ones(2, dtype=libdl.int8), 300, 1)
                # REFUSED: threshold: argument 2 (threshold) is 300 ... int8
            F.threshold(ones(2), 0, ones(2))
                # REFUSED: threshold: argument 3 (value) has shape [2], wanted a number
        """,
    ),
    Case(
        "softsign",
        F.softsign,
        lambda x: x / (1 + np.abs(x)),
        unary(special=False, away=0.01),
        result="float",
        dtypes="fc",
        roundings=3,
        scale=4,
        rejects=[Reject(TypeError, ("softsign", "input"), lambda: F.softsign("a"))],
    ),
    Case(
        "tanhshrink",
        F.tanhshrink,
        lambda x: x - np.tanh(x),
        unary(0.5, 2.0, special=False),
        dtypes="fc",
        roundings=3,
        scale=8,
        terms=2.0,
        rejects=[Reject(REFUSED, ("tanhshrink", "bool"), lambda: F.tanhshrink(ones(2) > 0))],
    ),
    Case(
        "hardtanh",
        F.hardtanh,
        lambda x, min_val=-1.0, max_val=1.0: np.clip(x, min_val, max_val),
        lambda: unary(away=0.01)() + unary(away=0.01, min_val=-0.995, max_val=2.0)(),
        dtypes="f",
        rejects="""
            F.hardtanh(ones(2), 2.0, 1.0)
                # ValueError: hardtanh: argument 2 (min_val) is 2 ... at most max_val
            F.hardtanh(ones(2), 0.0, 1e300)
                # OverflowError: hardtanh ... max_val
            F.hardtanh(ones(2) > 0)
                # REFUSED: hardtanh: argument 1 (input) is bool
        """,
    ),
    unit("hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6, wide()),
    unit("hardswish", hardswish, wide(), scale=2),
    unit("selu", selu, unary(away=0.01), scale=2),
    unit(
        "celu",
        lambda x, alpha=1.0: np.where(x < 0, alpha * np.expm1(x / alpha), x),
        unary(away=0.01),
        unary(away=0.01, alpha=0.5, special=False),
        scale=4,
        rejects="""
            F.celu(ones(2), 0.0)
                # ValueError: celu: argument 2 (alpha) is 0
        """,
    ),
    unit("mish", mish, unary(special=False), scale=8),
    unit(
        "softshrink",
        softshrink,
        unary(),
        unary(away=0.01, lambd=0.0),
        rejects="""
            F.softshrink(ones(2), -1.0)
                # ValueError: softshrink: argument 2 (lambd) is -1 ... 0 or more
        """,
    ),
    unit(
        "rrelu",
        lambda x, lower=1 / 8, upper=1 / 3: np.where(x > 0, x, (lower + upper) / 2 * x),
        unary(away=0.01),
        unary(away=0.01, lower=0.0, upper=0.5),
        rejects="""
            F.rrelu(ones(2), math.nan)
                # ValueError: rrelu: argument 2 (lower) is nan ... finite
            F.rrelu(ones(2), 2.0, 1.0)
                # ValueError: rrelu: argument 3 (upper) is 1 ... not below lower
        """,
    ),
]


def halves() -> list[Sample]:
    made = [
        Sample((numbers(s, 20 * i + n, -3, 3), d))
        for i, s in enumerate([(2,), (4,), (6,), (2, 4), (4, 2), (2, 2, 6), (0, 4), (4, 66)])
        for n in (1, 2)
        for d in (0, -1)
        if s[d] % 2 == 0
    ]
    return made


def glu(x: Any, dim: int) -> Any:
    a, b = np.split(x, 2, dim)
    return a * sigmoid(b)


def slopes() -> list[Sample]:
    return [
        Sample((numbers(s, 10 * i + n, away=0.01), numbers(w, i + n + 90)))
        for i, (s, w) in enumerate(
            [
                ((5,), (1,)),
                ((2, 3), (3,)),
                ((2, 3, 2), (3,)),
                ((3, 2), ()),
                ((), (1,)),
                ((2, 3), (1,)),
                ((0, 3), (3,)),
                ((2, 65), (65,)),
                ((1, 2, 2, 2), (2,)),
                ((7,), ()),
            ]
        )
        for n in (1, 2)
    ]


def prelu(x: Any, weight: Any) -> Any:
    w = weight if weight.size == 1 else weight.reshape((-1,) + (1,) * (x.ndim - 2))
    return np.where(x > 0, x, (w.reshape(()) if w.size == 1 else w) * x)


GATED = [
    Case(
        "glu",
        F.glu,
        glu,
        halves,
        dtypes="f",
        scale=2,
        rejects=[
            no_integers("glu"),
            Reject(
                REFUSED,
                ("glu: argument 1 (input) has shape [3]", "even size"),
                lambda: F.glu(ones(3)),
            ),
            Reject(REFUSED, ("glu: argument 1 (input) is 0-d",), lambda: F.glu(ones(()))),
            Reject(IndexError, ("glu: argument 2 (dim) is 2",), lambda: F.glu(ones(2, 2), 2)),
        ],
    ),
    Case(
        "prelu",
        F.prelu,
        prelu,
        slopes,
        dtypes="f",
        rejects=[
            no_integers("prelu", ones(1)),
            """
            F.prelu(ones(2), ones(1).double())
                # REFUSED: prelu: argument 1 (input) is float32, wanted float64, as argument 2
                #    (weight)
            F.prelu(ones(2, 3), ones(2))
                # REFUSED: prelu: argument 1 (input) has shape [2, 3], wanted 2 channels, as weight
                #    has
            F.prelu(ones(2, 3), ones(1, 1))
                # REFUSED: prelu: argument 2 (weight) has shape [1, 1]
            """,
        ],
    ),
]

# -- of two inputs ---------------------------------------------------------------------------------


def vectors() -> list[Sample]:
    return [
        Sample((numbers(a, i), numbers(b, i + 40), p), {"keepdim": keep})
        for i, (a, b) in enumerate(
            [((3,), (3,)), ((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 2, 2), (2, 2)), ((0, 3), (3,))]
        )
        for p in (2.0, 1.0, 3.0)
        for keep in (False, True)
    ]


def pairwise_distance(a: Any, b: Any, p: float, keepdim: bool) -> Any:
    return (np.abs(a - b + 1e-6) ** p).sum(-1, keepdims=keepdim) ** (1 / p)


def rows() -> list[Sample]:
    return [
        Sample((numbers(s, 10 * i + n), p))
        for i, s in enumerate([(3, 2), (4, 3), (2, 5), (1, 3), (0, 2)])
        for n in (1, 2)
        for p in (2.0, 1.0, 3.0)
    ]


def pdist(x: Any, p: float) -> Any:
    first, second = np.triu_indices(len(x), 1)
    return (np.abs(x[first] - x[second]) ** p).sum(-1) ** (1 / p)


def two_lists_of_rows() -> list[Sample]:
    made = []
    for i, (a, b) in enumerate(
        [
            ((3, 2), (4, 2)),
            ((1, 5), (3, 5)),
            ((2, 3, 2), (2, 2, 2)),
            ((2, 1, 3), (2, 3)),
            ((0, 2), (3, 2)),
            ((2, 0, 3), (2, 2, 3)),
        ]
    ):
        for n in (1, 2):
            made += [
                Sample((numbers(a, 10 * i + n), numbers(b, 10 * i + n + 60), p))
                for p in (2.0, 1.0, 3.0)
            ]
    return made


def cdist(a: Any, b: Any, p: float) -> Any:
    return (np.abs(a[..., :, None, :] - b[..., None, :, :]) ** p).sum(-1) ** (1 / p)


def products() -> list[Sample]:
    made = []
    for i, lead in enumerate([(4,), (), (2, 3), (0,), (1,)]):
        for n in (1, 2):
            a, b = numbers((*lead, 3), 10 * i + n), numbers((*lead, 2), 10 * i + n + 5)
            w = numbers((2, 3, 2), i + n + 60)
            made += [Sample((a, b, w)), Sample((a, b, w, numbers((2,), i + 80)))]
    return made


def bilinear(a: Any, b: Any, w: Any, bias: Any = 0.0) -> Any:
    return np.einsum("...i,kij,...j->...k", a, w, b) + bias


def normalized(x: Any, p: float = 2.0, dim: Any = 1) -> Any:
    axis = tuple(dim) if isinstance(dim, (tuple, list)) else dim
    return x / np.maximum((np.abs(x) ** p).sum(axis, keepdims=True) ** (1 / p), 1e-12)


def to_normalize() -> list[Sample]:
    return [
        Sample((numbers(s, 10 * i + n, 0.1, 2.0),), kw)
        for i, s in enumerate([(2, 3), (3, 2, 2), (4, 1), (2, 0)])
        for n in (1, 2)
        for kw in ({}, {"p": 3.0}, {"dim": -1}, {"dim": (0, 1), "p": 2.0})
    ]


def cosine(a: Any, b: Any, dim: int = 1) -> Any:
    a, b = np.broadcast_arrays(a, b)
    norms = [np.maximum(np.sqrt((x * x).sum(dim, keepdims=True)), 1e-8) for x in (a, b)]
    return (a / norms[0] * (b / norms[1])).sum(dim)


def two_batches() -> list[Sample]:
    return [
        Sample((numbers(a, 10 * i + n), numbers(b, 10 * i + n + 5)), kw)
        for i, (a, b) in enumerate(
            [((3, 2), (3, 2)), ((2, 4), (1, 4)), ((2, 3, 2), (3, 2)), ((1, 5), (4, 5))]
        )
        for n in (1, 2, 3)
        for kw in ({}, {"dim": -1})
    ]


TWO = [
    Case(
        "normalize",
        F.normalize,
        normalized,
        to_normalize,
        dtypes="fc",
        scale=32,
        roundings=3,
        out=True,
        rejects="""
            F.normalize(ones(2, 2), dim=2)
                # IndexError: normalize: argument 3 (dim) is 2 ... -2 to 1
            F.normalize(ones(2, 2).long())
                # REFUSED: normalize: argument 1 (input) is int64
        """,
    ),
    Case(
        "cosine_similarity",
        F.cosine_similarity,
        cosine,
        two_batches,
        dtypes="f",
        scale=64,
        roundings=6,
        terms=1.0,
        rejects="""
            F.cosine_similarity(ones(2, 2), ones(2, 3))
                # REFUSED: cosine_similarity: argument 2 (x2) ... broadcast
            F.cosine_similarity(ones(2, 2).long(), ones(2, 2).long())
                # TypeError: cosine_similarity: argument 1 (x1) is int64 ... floating
            F.cosine_similarity(ones(2, 2), 1.0)
                # TypeError: cosine_similarity: argument 2 (x2) is a number
        """,
    ),
    Case(
        "pairwise_distance",
        F.pairwise_distance,
        pairwise_distance,
        vectors,
        dtypes="f",
        scale=32,
        roundings=4,
        terms=8.0,
        rejects="""
            F.pairwise_distance(ones(2), ones(3))
                # REFUSED: pairwise_distance: argument 2 (x2) ... broadcast
            F.pairwise_distance(ones(()), ones(()))
                # REFUSED: pairwise_distance: argument 1 (x1) is 0-d
            F.pairwise_distance(ones(2) > 0, ones(2) > 0)
                # REFUSED: pairwise_distance ... bool
        """,
    ),
    Case(
        "cdist",
        libdl.cdist,
        cdist,
        two_lists_of_rows,
        dtypes="f",
        scale=32,
        roundings=4,
        terms=8.0,
        rejects="""
            libdl.cdist(ones(2), ones(2, 2))
                # REFUSED: cdist: argument 1 (x1) has shape [2] ... [..., rows, columns]
            libdl.cdist(ones(3, 2), ones(4, 3))
                # REFUSED: cdist: argument 2 (x2) has shape [4, 3] ... 2 columns, as x1 has
            libdl.cdist(ones(2, 4, 2), ones(3, 4, 2))
                # REFUSED: cdist: argument 2 (x2) has shape [3] ... broadcast with [2]
            libdl.cdist(ones(2, 2), ones(2, 2), -1.0)
                # ValueError: cdist: argument 3 (p) is -1
            libdl.cdist(ones(2, 2), ones(2, 2).long())
                # REFUSED: cdist: argument 2 (x2) is int64
        """,
    ),
    Case(
        "pdist",
        F.pdist,
        pdist,
        rows,
        dtypes="f",
        scale=32,
        roundings=4,
        terms=8.0,
        rejects="""
            F.pdist(ones(2))
                # REFUSED: pdist: argument 1 (input) has shape [2] ... [n, d]
            F.pdist(ones(2, 2), -1.0)
                # ValueError: pdist: argument 2 (p) is -1
            F.pdist(ones(2, 2).long())
                # REFUSED: pdist: argument 1 (input) is int64
        """,
    ),
    Case(
        "bilinear",
        F.bilinear,
        bilinear,
        products,
        dtypes="f",
        scale=64,
        roundings=6,
        terms=40.0,
        rejects="""
            F.bilinear(ones(3) > 0, ones(2) > 0, ones(4, 3, 2) > 0)
                # REFUSED: bilinear: argument 1 (input1) is bool
            F.bilinear(ones(3), ones(2).double(), ones(4, 3, 2))
                # REFUSED: bilinear: argument 2 (input2) is float64, wanted float32
            F.bilinear(ones(3), ones(2), ones(3, 2))
                # REFUSED: bilinear: argument 3 (weight) has shape [3, 2]
            F.bilinear(ones(()), ones(2), ones(4, 3, 2))
                # REFUSED: bilinear: argument 1 (input1) has shape [], wanted [..., in1]
            F.bilinear(ones(2), ones(2), ones(4, 3, 2))
                # REFUSED: bilinear: argument 1 (input1) has shape [2]
            F.bilinear(ones(3), ones(3), ones(4, 3, 2))
                # REFUSED: bilinear: argument 2 (input2) has shape [3], wanted [2]
            F.bilinear(ones(3), ones(2), ones(4, 3, 2), ones(3))
                # REFUSED: bilinear: argument 4 (bias) has shape [3], wanted [4]
        """,
    ),
]

# -- of neighbours ---------------------------------------------------------------------------------


def images() -> list[Sample]:
    return [
        Sample((numbers(s, 10 * i + z), z), {"alpha": 0.5, "beta": 0.75, "k": 1.5})
        for i, s in enumerate([(2, 3, 1), (1, 5, 2), (1, 4, 2, 1), (2, 2, 1, 1, 2), (0, 3, 2)])
        for z in (1, 2, 3, 5)
    ]


def local_response_norm(x: Any, size: int, alpha: float, beta: float, k: float) -> Any:
    squares = np.zeros_like(x)
    for c in range(x.shape[1]):
        near = slice(max(0, c - size // 2), c + (size - 1) // 2 + 1)
        squares[:, c] = (x[:, near] ** 2).sum(1) / size
    return x / (k + alpha * squares) ** beta


NEIGHBOURS = [
    Case(
        "local_response_norm",
        F.local_response_norm,
        local_response_norm,
        images,
        dtypes="f",
        scale=8,
        roundings=6,
        rejects="""
            F.local_response_norm(ones(2, 3), 2)
                # REFUSED: local_response_norm: argument 1 (input) has shape [2, 3]
            F.local_response_norm(ones(2, 3, 1).long(), 2)
                # REFUSED: local_response_norm: argument 1 (input) is int64
            F.local_response_norm(ones(2, 3, 1), 0)
                # ValueError: local_response_norm: argument 2 (size) is 0 ... 1 or more
        """,
    ),
]

CASES = UNITS + GATED + TWO + NEIGHBOURS

# SPDX-License-Identifier: Apache-2.0
"""Products of vectors, matrices and tensors, and their norms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import libdl
from samples import Case, Reject, Sample, numbers

VECTORS = [
    ((n,), (m,))
    for n, m in [
        (1, 1),
        (3, 2),
        (2, 3),
        (0, 2),
        (2, 0),
        (5, 1),
        (1, 4),
        (2, 2),
        (4, 3),
        (17, 9),
        (1, 65),
    ]
]
SAME = [((n,), (n,)) for n in (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 65)]
INNER = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (2, 3)),
    ((2, 3), (4, 3)),
    ((2, 1, 3), (2, 3)),
    ((), (3,)),
    ((2,), ()),
    ((), ()),
    ((2, 0), (3, 0)),
    ((0, 2), (2,)),
    ((5, 7), (3, 7)),
]
ALONG = [
    ((3,), (3,)),
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    ((2, 1, 3), (2, 1)),
    ((2, 3), (1, 3)),
    ((2, 0), (2, 0)),
    ((1, 5), (4, 1)),
    ((2, 2, 2), (2, 2, 2)),
    ((1,), (1,)),
    ((3, 1), (3, 4)),
]
DOTTED = [
    ((2, 3), (3, 2), [1], [0]),
    ((2, 3), (3, 2), [0, 1], [1, 0]),
    ((2, 3), (3, 2), [-1], [-2]),
    ((2, 3, 2), (2, 2), [2, 0], [0, 1]),
    ((3,), (3,), [0], [0]),
    ((2,), (3,), [], []),
    ((), (), [], []),
    ((2, 0), (0, 3), [1], [0]),
    ((0, 2), (2, 1), [1], [0]),
    ((1, 3), (2, 3), [0], [0]),
    ((2, 3), (1, 3), [0], [0]),
]
CROSSED = [
    ((3,), (3,), 0),
    ((2, 3), (2, 3), 1),
    ((3, 2), (3, 2), 0),
    ((2, 3), (2, 3), -1),
    ((2, 3), (1, 3), 1),
    ((3, 3), (3, 3), 0),
    ((3, 3), (3, 3), -1),
    ((0, 3), (0, 3), 1),
    ((2, 3, 2), (2, 3, 2), 1),
    ((1, 3), (2, 3), -1),
    ((3, 1), (3, 1), -2),
]
CHAINS = [
    [(2, 3), (3, 2)],
    [(2, 3), (3, 4), (4, 1)],
    [(3,), (3, 2)],
    [(2, 3), (3,)],
    [(3,), (3,)],
    [(3,), (3, 2), (2,)],
    [(1, 4), (4, 1), (1, 3)],
    [(2, 0), (0, 3)],
    [(0, 2), (2, 3)],
    [(2, 2)] * 4,
    [(5, 1), (1, 5), (5, 2)],
]
TERMS = {
    "addmv": [
        ((2,), (2, 3), (3,)),
        ((1,), (2, 3), (3,)),
        ((), (2, 1), (1,)),
        ((2,), (2, 0), (0,)),
        ((0,), (0, 3), (3,)),
        ((4,), (4, 2), (2,)),
    ],
    "addr": [
        ((2, 3), (2,), (3,)),
        ((3,), (2,), (3,)),
        ((2, 1), (2,), (3,)),
        ((), (1,), (2,)),
        ((0, 2), (0,), (2,)),
        ((1, 1), (4,), (1,)),
    ],
    "baddbmm": [
        ((2, 2, 2), (2, 2, 1), (2, 1, 2)),
        ((2,), (1, 3, 2), (1, 2, 2)),
        ((), (2, 1, 3), (2, 3, 1)),
        ((2, 2, 2), (2, 2, 0), (2, 0, 2)),
        ((0, 2, 2), (0, 2, 3), (0, 3, 2)),
        ((3, 1), (2, 3, 2), (2, 2, 2)),
    ],
    "addbmm": [
        ((2, 2), (2, 2, 1), (2, 1, 2)),
        ((2,), (1, 3, 2), (1, 2, 2)),
        ((), (2, 1, 3), (2, 3, 1)),
        ((2, 2), (2, 2, 0), (2, 0, 2)),
        ((2, 2), (0, 2, 3), (0, 3, 2)),
        ((3, 1), (2, 3, 2), (2, 2, 2)),
    ],
}
FACTORS: list[dict[str, Any]] = [
    {},
    {"beta": 0.5, "alpha": 2.0},
    {"beta": 0},
    {"beta": 2, "alpha": 3},
]


def of(shapes: Any, **kwargs: Any) -> Callable[[], list[Sample]]:
    """Operands of these shapes."""
    return lambda: [
        Sample(tuple(numbers(s, 40 * i + 7 * k + n) for k, s in enumerate(each)), kwargs)
        for i, each in enumerate(shapes)
        for n in (1, 2)
    ]


def added(name: str, product: Any, whole: bool) -> list[Case]:
    """beta * input + alpha * product; integers without factors."""
    function = getattr(libdl, name)

    def samples() -> list[Sample]:
        return [
            Sample(tuple(numbers(s, 9 * i + k) for k, s in enumerate(each)), kwargs)
            for i, each in enumerate(TERMS[name])
            for kwargs in FACTORS
        ]

    def reference(c: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
        y = alpha * product(a, b)
        return y + (0 if beta == 0 else beta * c)

    first, left, right = TERMS[name][0]
    bad = [
        Reject(
            ValueError,
            (f"{name}: argument {i + 1} (",),
            lambda i=i: function(
                *[
                    libdl.ones((7,) * (5 if i == k else 1) if i == k else s)
                    for k, s in enumerate((first, left, right))
                ]
            ),
        )
        for i in range(3)
    ]
    bad.append(
        Reject(
            TypeError,
            (f"{name}: argument 4 (beta) is float64", "holds"),
            lambda: function(
                *[libdl.ones(s, dtype=libdl.int64) for s in (first, left, right)], beta=0.5
            ),
        )
    )
    cases = [
        Case(
            name,
            function,
            reference,
            samples,
            out=True,
            inplace=True,
            rejects=bad,
            dtypes="fc",
            scale=64,
            terms=8.0,
            roundings=3,
        )
    ]
    if whole:
        cases.append(
            Case(
                f"{name}_whole",
                function,
                reference,
                lambda: [
                    s
                    for s in (
                        Sample(x.args, k)
                        for x in samples()[::4]
                        for k in ({}, {"beta": 2, "alpha": 3}, {"beta": 0}, {"alpha": 2})
                    )
                ],
                operators=(name,),
                dtypes="fiuc",
                scale=64,
                terms=8.0,
                roundings=3,
                rejects=bad[:1],
                ranges={0: (-5, 5), 1: (-5, 5), 2: (-5, 5)},
            )
        )
    return cases


def wrong(name: str, function: Any, a: tuple[int, ...], b: tuple[int, ...]) -> list[Reject]:
    return [
        Reject((ValueError, RuntimeError), (name,), lambda: function(libdl.ones(a), libdl.ones(b)))
    ]


def tensordot(a: Any, b: Any, left: Any, right: Any, out: Any = None) -> Any:
    return libdl.tensordot(a, b, (left, right), out=out)


def tensordot_reference(a: Any, b: Any, left: Any, right: Any) -> Any:
    for i, j in zip(left, right):
        if a.shape[i] != b.shape[j]:  # a size of 1 broadcasts
            x, y = (a.sum(i, keepdims=True), b.sum(j, keepdims=True))
            a, b = (x, b) if b.shape[j] == 1 else (a, y)
    return np.tensordot(a, b, (left, right))


def dotted() -> list[Sample]:
    return [
        Sample((numbers(a, 3 * i + n), numbers(b, 5 * i + n), tuple(left), tuple(right)))
        for i, (a, b, left, right) in enumerate(DOTTED)
        for n in (0, 1)
    ]


def crossed() -> list[Sample]:
    return [
        Sample((numbers(a, 3 * i + n), numbers(b, 5 * i + n)), {"dim": dim})
        for i, (a, b, dim) in enumerate(CROSSED)
        for n in (0, 1)
    ]


def cross_reference(a: Any, b: Any, dim: int | None = None) -> Any:
    if dim is None:
        dim = a.shape.index(3)
    a, b = np.broadcast_arrays(a, b)

    def turned(x: Any, by: int) -> Any:
        return np.roll(x, -by, dim)

    return turned(a, 1) * turned(b, 2) - turned(a, 2) * turned(b, 1)


def vecdot_reference(x: Any, y: Any, dim: int = -1) -> Any:
    return (np.conj(x) * y).sum(dim)


def multi_dot(*tensors: Any, out: Any = None) -> Any:
    return libdl.linalg_multi_dot(tensors, out=out)


def multi_dot_reference(*each: Any) -> Any:
    y = each[0]
    for x in each[1:]:
        y = y @ x
    return y


def powers() -> list[Sample]:
    return [
        Sample((numbers(s, i + n), n))
        for i, s in enumerate([(2, 2), (2, 3, 3), (1, 1), (0, 2, 2)])
        for n in (0, 1, 2, 3, 5, 7)
    ]


def power_reference(x: Any, n: int) -> Any:
    y = np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape).copy()
    for _ in range(n):
        y = y @ x
    return y


def rescaled() -> list[Sample]:
    return [
        Sample((numbers(s, i + 3), p, dim, maxnorm))
        for i, (s, dim) in enumerate([((2, 3), 0), ((2, 3), 1), ((3, 2, 2), -1), ((2, 2, 2), 1)])
        for p, maxnorm in [(2, 1.0), (1, 2.0), (3, 0.5), (np.inf, 1.5), (2, 100.0), (2, 0.0)]
    ]


def renorm_reference(x: Any, p: float, dim: int, maxnorm: float) -> Any:
    others = tuple(d for d in range(x.ndim) if d != dim % x.ndim)
    size = np.abs(x)
    norms = (
        size.max(others, keepdims=True)
        if np.isinf(p)
        else (size**p).sum(others, keepdims=True) ** (1 / p)
    )
    return np.where(norms > maxnorm, x / (norms + 1e-7) * maxnorm, x)


def vector_norms() -> list[Sample]:
    return [
        Sample((numbers(s, i + 1),), {"ord": ord, "dim": dim, "keepdim": keep})
        for i, (s, dim, keep) in enumerate(
            [
                ((5,), None, False),
                ((2, 3), 0, True),
                ((2, 3), (0, 1), False),
                ((3, 2, 2), -1, False),
                ((2, 2), None, True),
            ]
        )
        for ord in (2, 1, 3, 0.5, np.inf, -np.inf)
    ]


def vector_norm_reference(x: Any, ord: float, dim: Any, keepdim: bool) -> Any:
    size = np.abs(x)
    if np.isinf(ord):
        return (size.max if ord > 0 else size.min)(dim, keepdims=keepdim)
    return (size**ord).sum(dim, keepdims=keepdim) ** (1 / ord)


def matrix_norms() -> list[Sample]:
    return [
        Sample((numbers(s, i + 1),), {"ord": ord, "dim": dim, "keepdim": keep})
        for i, (s, dim, keep) in enumerate(
            [
                ((2, 3), (-2, -1), False),
                ((2, 3), (1, 0), True),
                ((2, 2, 3), (0, 2), False),
                ((2, 2, 3), (-1, 0), True),
            ]
        )
        for ord in (None, 1, -1, np.inf, -np.inf)
    ]


def matrix_norm_reference(x: Any, ord: Any, dim: Any, keepdim: bool) -> Any:
    return np.linalg.norm(x, "fro" if ord is None else ord, dim, keepdim)


common = {"dtypes": "fiuc", "scale": 64, "terms": 4.0}


def norms_of_others(v: Any, p: int, dim: int) -> Any:
    others = tuple(d for d in range(v.ndim) if d != dim)
    if not others:
        return np.abs(v)
    return (np.abs(v) ** p).sum(others, keepdims=dim >= 0) ** (1 / p)


CASES = [
    Case(
        "outer",
        libdl.outer,
        np.outer,
        of(VECTORS),
        dtypes="fiuc",
        out=True,
        rejects=wrong("outer: argument 1 (input) has shape [2, 2]", libdl.outer, (2, 2), (2,))
        + wrong("outer: argument 2 (vec2)", libdl.outer, (2,), ()),
    ),
    Case(
        "inner",
        libdl.inner,
        np.inner,
        of(INNER),
        out=True,
        rejects=wrong("inner: argument 2 (other) has shape [4]", libdl.inner, (3,), (4,)),
        **common,
    ),
    Case(
        "vdot",
        libdl.vdot,
        np.vdot,
        of(SAME),
        out=True,
        rejects=wrong("vdot: argument 2 (other)", libdl.vdot, (3,), (4,)),
        **common,
    ),
    Case(
        "tensordot",
        tensordot,
        tensordot_reference,
        dotted,
        out=True,
        roundings=2,
        rejects="""
            tensordot(libdl.ones(2, 2), libdl.ones(2, 2), [0, 1], [0])
                # ValueError: tensordot: argument 3 (dims) names 1 ... 2, as argument 3
            tensordot(libdl.ones(2, 2), libdl.ones(2, 2), [0, -2], [0, 1])
                # ValueError: tensordot: argument 3 (dims) names dimension 0 twice
            tensordot(libdl.ones(2, 2), libdl.ones(2, 2), [0], [2])
                # IndexError: tensordot: argument 3 (dims) names 2 ... -2 to 1
            tensordot(libdl.ones(2, 2), libdl.ones(3, 2), [0], [0])
                # ValueError: tensordot: argument 2 (b) has shape [3, 2]
        """,
        **common,
    ),
    *added("addmv", np.matmul, True),
    *added("addr", np.outer, True),
    *added("baddbmm", np.matmul, True),
    *added("addbmm", lambda a, b: np.matmul(a, b).sum(0), True),
    Case(
        "cross",
        libdl.cross,
        cross_reference,
        lambda: crossed() + [Sample(s.args) for s in crossed()[:2]],
        dtypes="fiuc",
        out=True,
        scale=16,
        terms=4.0,
        roundings=3,
        rejects="""
            libdl.cross(libdl.ones(2, 2), libdl.ones(2, 2))
                # ValueError: cross: argument 1 (input) has shape [2, 2] ... size 3
            libdl.cross(libdl.ones(3, 3), libdl.ones(3, 3), dim=2)
                # IndexError: cross: argument 3 (dim) is 2 ... -2 to 1
            libdl.cross(libdl.ones(3, 3), libdl.ones(3))
                # ValueError: cross: argument 2 (other) ... 2 dimensions
        """,
    ),
    Case(
        "linalg_cross",
        libdl.linalg_cross,
        cross_reference,
        crossed,
        dtypes="fiuc",
        out=True,
        scale=16,
        terms=4.0,
        roundings=3,
        rejects="""
            libdl.linalg_cross(libdl.ones(3, 3), libdl.ones(3, 2))
                # ValueError: linalg_cross: argument 2 (other) has shape [3, 2] ... size 3
        """,
    ),
    Case(
        "linalg_vecdot",
        libdl.linalg_vecdot,
        vecdot_reference,
        lambda: of(ALONG)() + of(ALONG[1:2] + ALONG[7:8], dim=0)(),
        out=True,
        result="sum",
        roundings=3,
        rejects="""
            libdl.linalg_vecdot(libdl.ones(2), libdl.ones(1))
                # ValueError: linalg_vecdot: argument 2 (y) has shape [1] ... [2]
            libdl.linalg_vecdot(libdl.ones(2), libdl.ones(2), dim=1)
                # IndexError: linalg_vecdot: argument 3 (dim) ... -1 to 0
        """,
        **common,
    ),
    Case(
        "linalg_multi_dot",
        multi_dot,
        multi_dot_reference,
        of(CHAINS),
        out=True,
        rejects="""
            multi_dot(libdl.ones(2, 2))
                # ValueError: argument 1 (tensors) holds 1 ... two or more
            multi_dot(libdl.ones(2, 2), libdl.ones(2), libdl.ones(2, 2))
                # ValueError: holds shape [2] as number 1 ... a matrix
        """,
        **{**common, "scale": 1024, "terms": 16.0, "dtypes": "fc"},
        roundings=8,
    ),
    Case(
        "linalg_matrix_power",
        libdl.linalg_matrix_power,
        power_reference,
        powers,
        out=True,
        rejects="""
            libdl.linalg_matrix_power(libdl.ones(2, 3), 2)
                # ValueError: argument 1 (input) has shape [2, 3] ... square
            libdl.linalg_matrix_power(libdl.ones(2, 2), -1)
                # NotImplementedError: argument 2 (n) is -1 ... 0 or more
        """,
        dtypes="fc",
        scale=4096,
        terms=100.0,
        roundings=8,
    ),
    Case(
        "linalg_vector_norm",
        libdl.linalg_vector_norm,
        vector_norm_reference,
        vector_norms,
        out=True,
        dtypes="f",
        scale=64,
        rejects="""
            libdl.linalg_vector_norm(libdl.ones(2, dtype=libdl.int64))
                # NotImplementedError: argument 1 (x) is int64 ... floating
            libdl.linalg_vector_norm(libdl.ones(2), 2, 1)
                # IndexError: argument 3 (dim
        """,
    ),
    Case(
        "linalg_matrix_norm",
        libdl.linalg_matrix_norm,
        matrix_norm_reference,
        matrix_norms,
        out=True,
        dtypes="f",
        scale=64,
        rejects="""
            libdl.linalg_matrix_norm(libdl.ones(2))
                # ValueError: argument 1 (input) has shape [2] ... 2 dimensions
            libdl.linalg_matrix_norm(libdl.ones(2, 2, dtype=libdl.int64), 1)
                # NotImplementedError: argument 1 (input) is int64
            libdl.linalg_matrix_norm(libdl.ones(2, 2), -2)
                # NotImplementedError: argument 2 (ord) is -2 ... singular
            libdl.linalg_matrix_norm(libdl.ones(2, 2), 0.5)
                # ValueError: argument 2 (ord) is 0.5
            libdl.linalg_matrix_norm(libdl.ones(2, 2), 1, (0, 0))
                # ValueError: argument 3 (dim) is [0, 0]
            libdl.linalg_matrix_norm(libdl.ones(2, 2), 1, (0, 2))
                # IndexError: argument 3 (dim) is 2
        """,
    ),
    Case(
        "norm_except_dim",
        libdl.norm_except_dim,
        norms_of_others,
        lambda: [
            Sample((numbers(s, 3 * i + n, 0.5, 2.0), p, dim))
            for i, s in enumerate([(3,), (2, 3), (2, 3, 2), (4, 1)])
            for n, p in enumerate((2, 1, 3))
            for dim in range(-1, len(s))
        ],
        dtypes="f",
        scale=64,
        roundings=4,
        terms=64.0,
        rejects="""
            libdl.norm_except_dim(libdl.ones(2, 2), 2, 2)
                # ValueError: norm_except_dim: argument 3 (dim) is 2, wanted -1 to 1
            libdl.norm_except_dim(libdl.ones(2, 2), 2, -2)
                # ValueError: norm_except_dim: argument 3 (dim) is -2
            libdl.norm_except_dim(libdl.ones(2, 2, dtype=libdl.int64))
                # TypeError | RuntimeError: norm_except_dim: argument 1 (v) is int64
        """,
    ),
    Case(
        "renorm",
        libdl.renorm,
        renorm_reference,
        rescaled,
        out=True,
        inplace=True,
        dtypes="f",
        scale=64,
        roundings=4,
        rejects="""
            libdl.renorm(libdl.ones(2), 2, 0, 1)
                # ValueError: renorm: argument 1 (input) has shape [2]
            libdl.renorm(libdl.ones(2, 2), 0, 0, 1)
                # ValueError: renorm: argument 2 (p) is 0 ... above 0
            libdl.renorm(libdl.ones(2, 2), 2, 0, -1)
                # ValueError: renorm: argument 4 (maxnorm) is -1 ... 0 or more
            libdl.renorm(libdl.ones(2, 2), 2, 2, 1)
                # IndexError: renorm: argument 3 (dim) is 2 ... -2 to 1
        """,
    ),
]

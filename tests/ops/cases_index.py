# SPDX-License-Identifier: Apache-2.0
"""Gather, scatter, masks and sorting: choices of elements, compared bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np

import libdl
from refusals import refusals
from samples import Case, Reject, Sample, integers, numbers

SHAPES = [(1,), (5,), (2, 3), (3, 1, 2), (2, 3, 4), (7, 9)]


def along(size: Any = None, source: bool = False) -> Any:
    """input, dim, index of input's shape (index_*: one dimension long), and a source of values."""

    def make() -> list[Sample]:
        made = []
        for i, s in enumerate(SHAPES):
            for n in (1, 2):
                for d in {0, -1}:
                    shape = (size,) if size else s
                    index = integers(shape, 60 * i + n + d, 0, s[d])
                    values = list(s)
                    if size:
                        values[d] = size
                    args = (numbers(s, 30 * i + n), d, index)
                    more = (numbers(tuple(values), 31 * i + n),) if source else ()
                    made.append(Sample(args + more))
        return made

    return make


def added(x: Any, dim: int, index: Any, source: Any) -> Any:
    y, at = x.copy(), list(np.indices(index.shape))
    at[dim] = index
    np.add.at(y, tuple(at), source)
    return y


def index_add(x: Any, dim: int, index: Any, source: Any) -> Any:
    y = np.moveaxis(x.copy(), dim, 0)
    np.add.at(y, index, np.moveaxis(source, dim, 0))
    return np.moveaxis(y, 0, dim)


def permuted() -> list[Sample]:
    """scatter and index_copy need different targets: else the order would decide."""
    made = []
    for i, s in enumerate(SHAPES):
        for n in (1, 2):
            for d in {0, -1}:
                index = np.argsort(numbers(s, 77 * i + n), axis=d)
                made.append(Sample((numbers(s, 30 * i + n), d, index, numbers(s, 31 * i + n))))
    return made


def put(x: Any, dim: int, index: Any, source: Any) -> Any:
    y = x.copy()
    np.put_along_axis(y, index, source, dim)
    return y


def masked(more: str = "") -> Any:
    def make() -> list[Sample]:
        made = []
        for i, s in enumerate(SHAPES + [(0,), (2, 0, 3), ()]):
            for n in (1, 2, 3):
                mask = np.asarray(numbers(s, 13 * i + n) > 0)
                made.append(
                    Sample(
                        (
                            numbers(s, 30 * i + n),
                            mask,
                            *((float(n),) if more == "value" else ()),
                            *((numbers(s, 3 * i + n),) if more == "source" else ()),
                        )
                    )
                )
        return made

    return make


def masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    y = x.copy()
    y[mask] = source.reshape(-1)[: mask.sum()]
    return y


def sorting(*more: Any) -> Any:
    def make() -> list[Sample]:
        shapes = SHAPES + [(65,), (3, 70)]
        return [
            Sample((numbers(s, 30 * i + n), *more, d))
            for i, s in enumerate(shapes)
            for n in (1, 2)
            for d in sorted({0, -1})
        ]

    return make


def sort(x: Any, dim: int, descending: bool = False) -> Any:
    whole = x.dtype.kind in "iu"  # whose least number has no negative
    turned = x if not descending else ~x if whole else -x
    order = np.argsort(turned, axis=dim, kind="stable")
    return np.take_along_axis(x, order, dim), order


def topk(x: Any, k: int, dim: int) -> Any:
    values, order = sort(x, dim, True)
    return np.take(values, range(k), dim), np.take(order, range(k), dim)


SOURCES = ("scatter", "scatter_add", "index_add", "index_copy")


def indexed(name: str, reference: Any, made: Any, **how: Any) -> Case:
    function = getattr(libdl, name)
    takes = name in SOURCES  # a source of values follows the index
    return Case(
        name,
        function,
        reference,
        made,
        **{"exact": True, "dtypes": "fiuc", **how},
        rejects=refusals(
            f"""
                function(libdl.ones(2), 0, libdl.tensor([2]), *[libdl.ones(1)] * takes)
                    # IndexError: {name} ... index
                function(libdl.ones(2), 1, libdl.tensor([0]), *[libdl.ones(1)] * takes)
                    # IndexError: {name} ... dim
            """,
            globals() | locals(),
        ),
    )


def place(x: Any, index: Any, values: Any) -> Any:
    y = x.copy()
    y[index] = values
    return y


def places() -> list[Sample]:
    return [
        Sample((numbers(s, 20 * i + n), np.arange(k)[::-1].copy(), numbers((k, *s[1:]), n + i)))
        for i, s in enumerate([(3,), (4, 2), (5, 1, 2), (6, 3)])
        for n in (1, 2)
        for k in (0, 1, 3)
    ]


def slots() -> list[Sample]:
    """index_copy: two different places of the dimension, or the one that there is."""
    made = []
    for i, s in enumerate(SHAPES):
        for n in (1, 2):
            for d in {0, -1}:
                index = np.random.default_rng(9 * i + n).permutation(s[d])[:2]
                values = list(s)
                values[d] = len(index)
                made.append(
                    Sample((numbers(s, 30 * i + n), d, index, numbers(tuple(values), 31 * i + n)))
                )
    return made


def index_copy(x: Any, dim: int, index: Any, source: Any) -> Any:
    y = np.moveaxis(x.copy(), dim, 0)
    y[index] = np.moveaxis(source, dim, 0)
    return np.moveaxis(y, 0, dim)


def put_flat(x: Any, index: Any, source: Any, accumulate: bool) -> Any:
    y = x.copy()
    if accumulate:
        np.add.at(y.reshape(-1), index.reshape(-1), source.reshape(-1))
    else:
        y.reshape(-1)[index.reshape(-1)] = source.reshape(-1)
    return y


def put_samples() -> list[Sample]:
    """Places that differ, or that may meet where elements are added."""
    made = []
    for i, s in enumerate(SHAPES):
        for n in (1, 2):
            x = numbers(s, 30 * i + n)
            places = np.random.default_rng(9 * i + n).permutation(x.size)[:4]
            source = numbers(places.shape, 31 * i + n)
            made.append(Sample((x, places, source, False)))
            made.append(Sample((x, places[None] - x.size, source[None], False)))
            made.append(Sample((x, places // 2, source, True)))
    return made


def filled() -> list[Sample]:
    """index_fill: a place may be named twice."""
    return [
        Sample((numbers(s, 30 * i + n), d, np.array([0, s[d] - 1, 0]), numbers((), n)))
        for i, s in enumerate(SHAPES)
        for n in (1, 2)
        for d in {0, -1}
    ]


def index_fill(x: Any, dim: int, index: Any, value: Any) -> Any:
    y = np.moveaxis(x.copy(), dim, 0)
    y[index] = value
    return np.moveaxis(y, 0, dim)


def kthvalue(x: Any, k: int, dim: int) -> Any:
    values, order = sort(x, dim)
    return np.take(values, k - 1, dim), np.take(order, k - 1, dim)


def searched() -> list[Sample]:
    """Rows with equal elements, to be sorted, and what is searched: some of them, and others."""
    made = []
    for i, (row, shape) in enumerate(
        [
            ((1,), (5,)),
            ((7,), (2, 3)),
            ((9,), ()),
            ((3, 4), (3, 70)),
            ((2, 1, 40), (2, 1, 5)),
            ((33,), (3, 41)),
            ((3,), (0,)),
            ((100,), (70,)),
            ((5,), (4,)),
            ((16,), (2, 2)),
            ((17,), (1, 9)),
            ((6, 2), (6, 3)),
            ((2,), (3, 1, 2)),
            ((64,), (1,)),
            ((12,), (12,)),
        ]
    ):
        for right in (False, True):
            rows = np.round(numbers(row, 13 * i, -6, 6)) / 2
            x = np.round(numbers(shape, 17 * i + right, -8, 8)) / 2
            made.append(Sample((rows, x), {"right": right}))
    return made


def search(rows: Any, x: Any, right: bool = False) -> Any:
    side, rows = "right" if right else "left", np.sort(rows, -1)
    if rows.ndim == 1:
        return np.searchsorted(rows, x, side)
    flat = zip(rows.reshape(-1, rows.shape[-1]), x.reshape(-1, x.shape[-1]), strict=True)
    return np.stack([np.searchsorted(r, v, side) for r, v in flat]).reshape(x.shape)


def refused(error: Any, word: str, *args: Any, **more: Any) -> Reject:
    return Reject(error, ("searchsorted", word), lambda: libdl.searchsorted(*args, **more))


ONE, TWO = libdl.ones(3), libdl.ones(2, 3)

CASES = [
    Case(
        "searchsorted",
        lambda rows, x, right: libdl.searchsorted(rows.sort(-1).values, x, right=right),
        search,
        searched,
        exact=True,
        differentiable=False,
        result="own",
        dtypes="fiu",
        rejects=[
            refused(ValueError, "side", ONE, ONE, side="middle"),
            refused(ValueError, "side", ONE, ONE, side="left", right=True),
            refused(ValueError, "sorted_sequence", libdl.ones(()), ONE),
            refused(ValueError, "sorted_sequence", TWO, ONE),
            refused(ValueError, "sorted_sequence", TWO, libdl.ones(3, 3)),
            refused(ValueError, "sorter", ONE, ONE, sorter=libdl.tensor([0])),
            refused(IndexError, "sorter", ONE, ONE, sorter=libdl.tensor([0, 1, 3])),
            refused(NotImplementedError, "sorted_sequence", ONE + 1j, ONE),
            refused(NotImplementedError, "input", ONE, ONE + 1j),
        ],
    ),
    Case(
        "bucketize",
        lambda rows, x, right: libdl.bucketize(x, rows.sort().values, right=right),
        search,
        lambda: [s for s in searched() if s.args[0].ndim == 1],
        exact=True,
        differentiable=False,
        result="own",
        dtypes="fiu",
        rejects="""
            libdl.bucketize(ONE, TWO)
                # ValueError: bucketize: argument 2 (boundaries)
            libdl.bucketize(ONE + 1j, ONE)
                # NotImplementedError: bucketize: argument 1 (input)
        """,
    ),
    Case(
        "index_put",
        lambda x, i, v: libdl.index_put(x, (i,), v),
        place,
        places,
        exact=True,
        dtypes="fiuc",
        rejects="""
            libdl.index_put(libdl.ones(2), (libdl.tensor([2]),), libdl.ones(1))
                # IndexError: index_put ... ind
        """,
    ),
    Case(
        "put",
        libdl.put,
        put_flat,
        put_samples,
        scale=8,
        roundings=5,
        terms=4.0,
        inplace=True,
        out=True,
        dtypes="fiuc",
        rejects="""
            libdl.put(libdl.ones(2), libdl.tensor([2]), libdl.ones(1))
                # IndexError: put: argument 2 (index) holds 2
            libdl.put(libdl.ones(2), libdl.tensor([0]), libdl.ones(2))
                # ValueError: put: argument 3 (source) has shape [2], wanted [1]
            libdl.put(libdl.ones(2), libdl.ones(1), libdl.ones(1))
                # TypeError | RuntimeError: put: argument 2 (index) is float32
        """,
    ),
    indexed("gather", lambda x, d, i: np.take_along_axis(x, i, d), along(), out=True),
    indexed("index_select", lambda x, d, i: np.take(x, i, d), along(4), out=True),
    indexed("scatter", put, permuted, inplace=True),
    # Up to nine additions, each rounded to the dtype.
    indexed(
        "scatter_add",
        added,
        along(source=True),
        exact=False,
        scale=8,
        inplace=True,
        roundings=9,
        terms=4.0,
    ),
    indexed(
        "index_add",
        index_add,
        along(4, source=True),
        exact=False,
        scale=8,
        inplace=True,
        roundings=5,
        terms=4.0,
    ),
    indexed("index_copy", index_copy, slots, inplace=True),
    Case(
        "index_fill",
        libdl.index_fill,
        index_fill,
        filled,
        exact=True,
        inplace=True,
        dtypes="fiuc",
        rejects="""
            libdl.index_fill(libdl.ones(2), 0, libdl.tensor([2]), 1.0)
                # IndexError: index_fill ... index
            libdl.index_fill(libdl.ones(2), 0, libdl.tensor([0]), libdl.ones(2))
                # ValueError: index_fill: argument 4 (value)
        """,
    ),
    Case(
        "take_along_dim",
        lambda x, d, i: libdl.take_along_dim(x, i, d),
        lambda x, d, i: np.take_along_axis(x, i, d),
        along(),
        exact=True,
        dtypes="fiuc",
        rejects="""
            libdl.take_along_dim(libdl.ones(2), libdl.tensor([2]), 0)
                # IndexError: take_along_dim: argument 2 (indices)
            libdl.take_along_dim(libdl.ones(2), libdl.tensor([0]), 1)
                # IndexError: take_along_dim: argument 3 (dim)
        """,
    ),
    Case(
        "index",
        lambda x, i: x[i],
        lambda x, i: x[i],
        lambda: [Sample(s.args[:2]) for s in places()],
        exact=True,
        dtypes="fiuc",
        rejects=[
            Reject(IndexError, ("index", "holds 2"), lambda: libdl.ones(2)[libdl.tensor([2])])
        ],
    ),
    Case(
        "masked_fill",
        libdl.masked_fill,
        lambda x, m, v: np.where(m, v, x),
        masked("value"),
        exact=True,
        inplace=True,
        dtypes="fc",
        rejects="""
            libdl.masked_fill(libdl.ones(2), libdl.ones(2), 1.0)
                # TypeError | RuntimeError | ValueError: masked_fill ... mask
        """,
    ),
    Case(
        "masked_select",
        libdl.masked_select,
        lambda x, m: x[m],
        masked(),
        exact=True,
        dtypes="fiuc",
        rejects="""
            libdl.masked_select(libdl.ones(2), libdl.ones(2))
                # TypeError | RuntimeError | ValueError: masked_select ... mask
        """,
    ),
    Case(
        "masked_scatter",
        libdl.masked_scatter,
        masked_scatter,
        masked("source"),
        exact=True,
        inplace=True,
        dtypes="fiuc",
        rejects="""
            libdl.masked_scatter(libdl.ones(2), libdl.ones(2), libdl.ones(2))
                # TypeError | RuntimeError | ValueError: masked_scatter ... mask
        """,
    ),
    Case(
        "nonzero",
        lambda x, m: libdl.nonzero(m),
        lambda x, m: np.argwhere(m),
        masked(),
        differentiable=False,
        exact=True,
        result="own",
        dtypes="fiuc",
        rejects=[Reject(TypeError, ("nonzero", "input"), lambda: libdl.nonzero("a"))],
    ),
    Case(
        "sort",
        libdl.sort,
        sort,
        sorting(),
        exact=True,
        dtypes="fiu",
        rejects=[Reject(IndexError, ("sort", "dim"), lambda: libdl.sort(libdl.ones(2), 1))],
    ),
    Case(
        "sort_descending",
        lambda x, d: libdl.sort(x, d, True, stable=True),
        lambda x, d: sort(x, d, True),
        sorting(),
        exact=True,
        dtypes="fiu",
        operators=("sort",),
        rejects="""
            libdl.sort(libdl.ones(2, dtype=libdl.complex64), 0, True)
                # TypeError: sort ... input ... complex64
        """,
    ),
    Case(
        "argsort",
        libdl.argsort,
        lambda x, d: sort(x, d)[1],
        sorting(),
        exact=True,
        differentiable=False,
        result="own",
        dtypes="fiu",
        rejects=[Reject(IndexError, ("argsort", "dim"), lambda: libdl.argsort(libdl.ones(2), 1))],
    ),
    Case(
        "kthvalue",
        libdl.kthvalue,
        kthvalue,
        sorting(1),
        exact=True,
        dtypes="fiu",
        rejects="""
            libdl.kthvalue(libdl.ones(2), 3)
                # ValueError: kthvalue: argument 2 (k) is 3, wanted 1 to 2
            libdl.kthvalue(libdl.ones(2), 1, 1)
                # IndexError: kthvalue: argument 3 (dim)
        """,
    ),
    Case(
        "topk",
        libdl.topk,
        topk,
        sorting(1),
        exact=True,
        dtypes="fiu",
        rejects="""
            libdl.topk(libdl.ones(2), 3)
                # IndexError | ValueError | RuntimeError: topk ... k
        """,
    ),
]

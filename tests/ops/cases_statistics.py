# SPDX-License-Identifier: Apache-2.0
"""Moments without NaN, medians, quantiles, counts, and which elements there are."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import libdl
from cases_reduction import bad_dim, by_numpy
from samples import Case, Fixed, Reject, Sample, integers, numbers, reduction

ODD = np.array([[1, 1, np.nan, 3, np.nan, 0], [-np.inf, 0.0, 2.0, np.inf, np.inf, 1]])
OF_NAN = np.array(list(itertools.product([np.nan, 1.0, 2.0], repeat=3)))


def out_of(call: Any, *words: str, error: Any = (ValueError, RuntimeError)) -> Reject:
    return Reject(error, words, call)


def complexes() -> Any:
    return libdl.ones(3, dtype=libdl.complex64)


# -- moments ---------------------------------------------------------------------------------------


def with_gaps(**how: Any) -> Any:
    def make() -> list[Sample]:
        made = reduction(**how)()
        for d, keep in itertools.product((0, 1, None), (False, True)):
            made.append(Sample((OF_NAN,), {"dim": d, "keepdim": keep}, smooth=False))
        return made

    return make


def spread_and_mean(spread: Any) -> Any:
    def reference(x: Any, dim: Any = None, keepdim: bool = False, correction: Any = 1) -> Any:
        axis = dim if x.ndim else None
        return (
            np.asarray(spread(x, axis=axis, ddof=correction, keepdims=keepdim)),
            np.asarray(np.mean(x, axis=axis, keepdims=keepdim)),
        )

    return reference


def spreads() -> list[Sample]:
    made = [
        s
        for s in reduction(empty=False)()
        if s.args[0].size > 1
        and all(s.args[0].shape[d] > 1 for d in np.atleast_1d(s.kwargs.get("dim", 0)))
    ]
    return made + [
        Sample((numbers((4, 3), 8),), {"dim": d, "correction": c}) for d in (0, 1) for c in (0, 2)
    ]


def pair(name: str, spread: Any) -> Case:
    function = getattr(libdl, name)
    return Case(
        name,
        function,
        spread_and_mean(spread),
        spreads,
        scale=30,
        dtypes="fc",
        rejects=[
            *bad_dim(name, function),
            out_of(lambda: function(libdl.arange(3)), name, "input", "int64", error=TypeError),
        ],
    )


# -- what the order tells --------------------------------------------------------------------------


def chosen(position: Any) -> Any:
    """By a function of a row's order that gives the place of the chosen one in it."""

    def along(x: Any, dim: int, keepdim: bool = False) -> Any:
        if x.ndim == 0:
            return x, np.asarray(0)
        rows = np.moveaxis(x, dim, -1)
        at = np.zeros(rows.shape[:-1], np.int64)
        for where in np.ndindex(*at.shape):
            at[where] = position(rows[where])
        values = np.take_along_axis(rows, at[..., None], -1)[..., 0]
        if keepdim:
            return np.expand_dims(values, dim), np.expand_dims(at, dim)
        return values, at

    return along


def median_at(row: Any) -> int:
    order = np.argsort(row, kind="stable")
    gaps = int(np.isnan(row).sum())
    return int(order[len(row) - gaps if gaps else (len(row) - 1) // 2])


def nanmedian_at(row: Any) -> int:
    order = np.argsort(row, kind="stable")
    return int(order[max(len(row) - int(np.isnan(row).sum()) - 1, 0) // 2])


def mode_at(row: Any) -> int:
    order = np.argsort(row, kind="stable")
    best, length, at = 0, 0, 0
    for i, place in enumerate(order):
        length = length + 1 if i and row[place] == row[order[i - 1]] else 1
        if length > best:
            best, at = length, int(place)
    return at


def of_all(position: Any) -> Any:
    def reference(x: Any) -> Any:
        flat = x.reshape(-1)
        return np.asarray(flat[position(flat)] if flat.size else np.nan)

    return reference


def repeated() -> list[Sample]:
    made = []
    for i, shape in enumerate([(7,), (2, 3), (4, 5), (3, 1, 2), (2, 9, 2)]):
        x = np.round(numbers(shape, 70 + i, -2, 2))
        for d in range(-1, len(shape)):
            made.append(Sample((x,), {"dim": d, "keepdim": d % 2 == 0}, smooth=False))
    return [*made, *(Sample((x,), {"dim": d}, smooth=False) for x in (ODD, OF_NAN) for d in (0, 1))]


def rows() -> list[Sample]:
    """Along a dimension with an odd and an even number of elements, with and without equal ones."""
    return reduction(dims=False, whole=False, empty=False)() + repeated()


def wholes() -> list[Sample]:
    made = [
        Sample((numbers(s, 40 + i),))
        for i, s in enumerate(2 * [(), (1,), (2,), (5,), (6,), (65,), (2, 3), (3, 1, 2), (4, 33)])
    ]
    made += [Sample((np.round(numbers((5, 4), s)),), smooth=False) for s in (1, 2, 3)]
    return [
        *made,
        Sample((ODD,), smooth=False),
        Sample((OF_NAN,), smooth=False),
        Sample((np.full(3, np.nan),), smooth=False),
        Sample((np.full(3, -np.inf),), smooth=False),
    ]


def of_nothing(name: str, function: Any) -> list[Reject]:
    return [
        *bad_dim(name, function),
        out_of(
            lambda: function(libdl.ones(2, 0), dim=1), name, "dim", "no element", error=IndexError
        ),
        out_of(lambda: function(complexes(), dim=0), name, "complex64", error=TypeError),
    ]


def along(name: str, operator: str, position: Any) -> Case:
    function = getattr(libdl, name)
    return Case(
        operator,
        function,
        chosen(position),
        rows,
        exact=True,
        dtypes="fiu",
        rejects=of_nothing(name, function),
    )


def whole(name: str, position: Any) -> Case:
    function = getattr(libdl, name)
    return Case(
        name,
        lambda x, **k: function(x, **k),
        of_all(position),
        wholes,
        exact=True,
        dtypes="fiu",
        out=True,
        rejects=[out_of(lambda: function(complexes()), name, "complex64", error=TypeError)],
    )


def ends(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    axis = dim if x.ndim else None
    return tuple(np.asarray(f(x, axis=axis, keepdims=keepdim)) for f in (np.min, np.max))


# -- quantiles -------------------------------------------------------------------------------------


def quantile_of(function: Any) -> Any:
    def reference(
        x: Any, q: Any, dim: Any = None, keepdim: bool = False, interpolation: str = "linear"
    ) -> Any:
        axis = dim if x.ndim else None
        return np.asarray(function(x, q, axis=axis, keepdims=keepdim, method=interpolation))

    return reference


def shares(gaps: bool) -> Any:
    def make() -> list[Sample]:
        made = []
        for i, shape in enumerate([(), (1,), (6,), (2, 3), (3, 1, 4), (65,)]):
            x = numbers(shape, 90 + i)
            for n, d in enumerate((None, *range(-1, len(shape)))):
                made.append(Sample((x, 0.3), {"dim": d, "keepdim": n % 2 == 0}))
                made.append(
                    Sample(
                        (x, np.array([0.0, 0.55, 1.0])),
                        {"dim": d, "keepdim": n % 2 == 1},
                        smooth=False,
                    )
                )
        x = numbers((3, 6), 99)
        made += [
            Sample((x, np.array(0.37)), {"dim": 1, "interpolation": way}, smooth=way != "linear")
            for way in ("linear", "lower", "higher", "midpoint", "nearest")
        ]
        if gaps:
            made += [Sample((OF_NAN[:-1], 0.7), {"dim": d}, smooth=False) for d in (0, 1, None)]
        else:
            made += [Sample((OF_NAN, 0.7), {"dim": d}, smooth=False) for d in (0, 1, None)]
        return made

    return make


def refused_shares(name: str, function: Any) -> list[Reject]:
    x = libdl.ones(2, 3)
    return [
        *(Reject(IndexError, (name, "dim"), lambda d=d: function(x, 0.5, d)) for d in (2, -3)),
        out_of(lambda: function(x, 1.5), f"{name}: argument 2 (q)"),
        out_of(lambda: function(x, libdl.ones(1, 1)), f"{name}: argument 2 (q)"),
        out_of(
            lambda: function(x, libdl.ones(1).double()),
            f"{name}: argument 2 (q)",
            "float64",
            error=TypeError,
        ),
        out_of(lambda: function(libdl.arange(3), 0.5), name, "input", "int64", error=TypeError),
        out_of(lambda: function(x[:0], 0.5), name, "input", "no elements"),
        out_of(lambda: function(x, 0.5, interpolation="most"), name, "interpolation", "most"),
    ]


def quantiles(name: str, function: Any) -> Case:
    ours = getattr(libdl, name)
    return Case(
        name,
        ours,
        quantile_of(function),
        shares(name != "quantile"),
        dtypes="f",
        scale=16,
        out=True,
        rejects=refused_shares(name, ours),
    )


# -- counts ----------------------------------------------------------------------------------------


def bins() -> list[Sample]:
    made = []
    for i, n in enumerate((0, 1, 5, 65, 300)):
        x = integers((n,), i, 0, 9)
        made += [
            Sample((x,)),
            Sample((x,), {"minlength": 12}),
            Sample((x.astype(np.uint8),)),
            Sample((x, numbers((n,), i))),
        ]
    return made


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    return np.bincount(x, weights, minlength)


def histc_samples() -> list[Sample]:
    made = []
    for i, shape in enumerate([(1,), (5,), (2, 3), (4, 33), (300,)]):
        x = numbers(shape, 20 + i)
        for bins, low, high in ((4, 0, 0), (1, -1, 1), (7, -2, 1.5), (3, 5, 6)):
            made.append(Sample((x,), {"bins": bins, "min": low, "max": high}))
    return [*made, Sample((np.ones(4),), {"bins": 3}), Sample((np.ones(0),), {"bins": 3})]


def histc(x: Any, bins: int, min: float = 0, max: float = 0) -> Any:
    if min == max == 0 and x.size:
        min, max = x.min(), x.max()
    if min == max:
        min, max = min - 1, max + 1
    return np.histogram(x, bins, (min, max))[0].astype(np.float64)


def histograms() -> list[Sample]:
    made = []
    for i, shape in enumerate([(1,), (5,), (2, 3), (4, 33)]):
        x = numbers(shape, 50 + i)
        made += [
            Sample(([x], 4)),
            Sample(([x], 3), {"range": (-1.0, 1.5)}),
            Sample(([x], 4), {"density": True}),
            Sample(([x], 2), {"weight": 2.5}),
            Sample(([x], 5), {"range": (-2.0, 2.0), "density": True}),
        ]
    return [
        *made,
        Sample(([np.ones(4)], 2)),
        Sample(([np.array([np.nan, 0.5])], 2), {"range": (0, 1)}),
    ]


def counted(xs: Any, bins: Any, weight: Any = None, **more: Any) -> Any:
    """The input comes in a list, since 16 bits are refused; weight is one number for all
    elements."""
    if weight is not None:
        more["weight"] = libdl.full_like(xs[0], weight)
    return tuple(libdl.histogram(xs[0], bins, **more))


def histogram(
    xs: Any, bins: Any, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    x = xs[0]
    weights = None if weight is None else np.full(x.shape, weight)
    keep = ~np.isnan(x)
    hist, edges = np.histogram(
        x[keep], bins, range, weights=None if weights is None else weights[keep], density=density
    )
    return hist.astype(np.float64), edges


def between_edges() -> list[Sample]:
    made = []
    for i, shape in enumerate([(1,), (5,), (2, 3), (4, 33), (300,)]):
        x = numbers(shape, 60 + i)
        for edges in ([-2.0, 0.0, 0.5, 2.0], [-2.0, 2.0]):
            made += [
                Sample(([x], np.array(edges))),
                Sample(([x], np.array(edges)), {"density": True}),
                Sample(([x], np.array(edges)), {"weight": 0.5}),
            ]
    return made


def of_points() -> list[Sample]:
    made = []
    for i, shape in enumerate([(1, 1), (5, 2), (30, 3), (2, 4, 2)]):
        x = numbers(shape, 80 + i)
        edges = [np.linspace(-2, 2, 3 + d) for d in range(shape[-1])]
        for density in (False, True):
            made += [
                Sample((x, edges), {"density": density}),
                Sample((x, edges), {"density": density, "weight": 1.5}),
                Sample((x / 2, edges), {"density": density}),
            ]
    return made


def histogramdd(x: Any, edges: Any, weight: Any = None, density: bool = False) -> Any:
    points = x.reshape(-1, x.shape[-1])
    weights = None if weight is None else np.full(len(points), weight)
    return np.histogramdd(points, edges, weights=weights, density=density)[0]


def points_in_cells(x: Any, edges: Any, weight: Any = None, density: bool = False) -> Any:
    weights = None if weight is None else libdl.full_like(x[..., 0], weight)
    return libdl.histogramdd(x, edges, weight=weights, density=density)[0]


# -- which there are -------------------------------------------------------------------------------


def whole_numbers() -> list[Any]:
    made = [integers(s, i, -3, 4) for i, s in enumerate([(), (1,), (7,), (4, 5), (0,), (3, 2, 2)])]
    made += [x * 10**9 for x in made[2:4]] + [
        made[3].astype(np.int32),
        made[3] % 2 == 0,
        made[3] > 9,
    ]
    return [
        *made,
        made[3].astype(np.uint8),
        np.round(numbers((3, 4), 5)),
        np.array([1e300, -0.0, 0.0]),
    ]


def uniques() -> list[Sample]:
    return [
        Sample((x,), {"return_inverse": a, "return_counts": b})
        for x in whole_numbers()
        for a, b in ((False, False), (True, False), (True, True))
    ]


def unique(x: Any, return_inverse: bool, return_counts: bool) -> Any:
    made = np.unique(x, return_inverse=True, return_counts=True)
    told = [
        made[0],
        *([made[1].reshape(x.shape)] if return_inverse else []),
        *([made[2]] if return_counts else []),
    ]
    return told if len(told) > 1 else told[0]


def slices() -> list[Sample]:
    made = [
        Sample((x,), {"dim": d})
        for x in whole_numbers()
        if x.ndim and x.size
        for d in range(-1, x.ndim)
    ]
    return made


def unique_slices(x: Any, dim: int) -> Any:
    values, inverse, counts = np.unique(x, axis=dim, return_inverse=True, return_counts=True)
    return values, inverse.reshape(-1), counts


def runs(x: Any, return_inverse: bool, return_counts: bool) -> Any:
    flat = x.reshape(-1)
    begins = np.ones(flat.shape, bool)
    begins[1:] = flat[1:] != flat[:-1]
    starts = np.flatnonzero(begins)
    told = [flat[starts]]
    if return_inverse:
        told.append((np.cumsum(begins) - 1).reshape(x.shape))
    if return_counts:
        told.append(np.diff(np.append(starts, flat.size)))
    return told if len(told) > 1 else told[0]


def tests() -> list[Sample]:
    made = []
    for x in whole_numbers():
        made += [Sample((x, integers((n,), 5, -2, 3))) for n in (0, 2, 20) if x.dtype != bool]
        made += [Sample((x, np.array([1.0, np.nan])), {"invert": True}), Sample((x, 1))]
    floats = np.array([0.5, np.nan, 1.0, -0.0])
    return [
        *made,
        Sample((0.5, floats)),
        Sample((floats, np.append(numbers((9,), 3), [np.nan, 1.0]))),
    ]


def isin(x: Any, tests: Any, invert: bool = False) -> Any:
    return np.asarray((np.asarray(x)[..., None] == np.asarray(tests).reshape(-1)).any(-1) ^ invert)


# -- places ----------------------------------------------------------------------------------------


def takes() -> list[Sample]:
    made = []
    for i, shape in enumerate([(), (1,), (7,), (2, 3), (3, 1, 2)]):
        n = int(np.prod(shape))
        made += [
            Sample((numbers(shape, i), integers(at, i + k, -n, n)))
            for k, at in enumerate([(), (1,), (4,), (2, 2), (0,)])
        ]
    return made


def places() -> list[Sample]:
    shapes = [(5,), (2, 3), (2, 3, 4), (1, 1), (7, 1, 2)]
    return [
        Sample((integers(at, 3, 0, int(np.prod(s))), s))
        for s in shapes
        for at in [(), (1,), (4,), (2, 3)]
    ]


# -- covariances -----------------------------------------------------------------------------------


def observations() -> list[Sample]:
    shapes = [(1, 4), (5,), (2, 5), (3, 7), (4, 65)]
    return [
        Sample((numbers(s, 10 * i + c + 1),), {"correction": c})
        for i, s in enumerate(shapes)
        for c in (-1, 0, 1, 2)
    ]


def weighed_observations() -> list[Sample]:
    made = []
    for i, s in enumerate([(5,), (2, 5), (3, 7), (4, 65)]):
        often, much = integers((s[-1],), i, 1, 4), numbers(s[-1:], i, 0.5, 2).view(Fixed)
        for c in (0, 1):
            made += [
                Sample((numbers(s, i), often, None), {"correction": c}),
                Sample((numbers(s, i), None, much), {"correction": c}),
                Sample((numbers(s, i), often, much), {"correction": c}),
            ]
    return made


def weighed_cov(x: Any, fweights: Any = None, aweights: Any = None, correction: int = 1) -> Any:
    return libdl.cov(x, correction=correction, fweights=fweights, aweights=aweights)


def cov(x: Any, fweights: Any = None, aweights: Any = None, correction: int = 1) -> Any:
    made = np.cov(
        x,
        ddof=correction,
        fweights=fweights,
        aweights=None if aweights is None else np.asarray(aweights),
    )
    return np.asarray(made)


def correlated() -> list[Sample]:
    return [
        Sample((numbers(s, i),))
        for i, s in enumerate([(2, 3), (3, 7), (4, 65), (2, 30), (5, 6)])
        for i in range(4 * i, 4 * i + 4)
    ]


def distances() -> list[Sample]:
    pairs = [((), ()), ((5,), (5,)), ((2, 3), (3,)), ((65,), (65,)), ((3, 1), (1, 2))]
    return [
        Sample((numbers(a, i, 1, 3), numbers(b, 9 + i, -3, -1)), {"p": p})
        for i, (a, b) in enumerate(pairs)
        for p in (1, 2, 3, 0.5)
    ]


X = libdl.arange(6.0).view(2, 3)
I = libdl.arange(6).view(2, 3)
POINTS = libdl.zeros(4, 2)
none = {"differentiable": False, "exact": True}
CASES = [
    Case(
        "nansum",
        libdl.nansum,
        by_numpy(np.nansum),
        with_gaps(),
        result="sum",
        dtypes="fiu",
        scale=8,
        terms=2.0,
        out=True,
        rejects=[
            *bad_dim("nansum", libdl.nansum),
            out_of(
                lambda: libdl.nansum(complexes()),
                "nansum: argument 1 (input) is complex64",
                error=NotImplementedError,
            ),
        ],
    ),
    Case(
        "nanmean",
        libdl.nanmean,
        by_numpy(np.nanmean),
        with_gaps(empty=False),
        dtypes="f",
        scale=8,
        terms=2.0,
        out=True,
        rejects=[
            *bad_dim("nanmean", libdl.nanmean),
            out_of(
                lambda: libdl.nanmean(I),
                "nanmean: argument 1 (input) is int64",
                error=NotImplementedError,
            ),
        ],
    ),
    pair("var_mean", np.var),
    pair("std_mean", np.std),
    Case(
        "aminmax",
        libdl.aminmax,
        ends,
        reduction(dims=False, empty=False),
        exact=True,
        dtypes="fiub",
        rejects=[
            *of_nothing("amin", libdl.aminmax),
            out_of(lambda: libdl.aminmax(X, dim=2), "aminmax: argument 2 (dim)", error=IndexError),
        ],
    ),
    whole("median", median_at),
    whole("nanmedian", nanmedian_at),
    along("median", "median_dim", median_at),
    along("nanmedian", "nanmedian_dim", nanmedian_at),
    along("mode", "mode", mode_at),
    quantiles("quantile", np.quantile),
    quantiles("nanquantile", np.nanquantile),
    Case(
        "bincount",
        libdl.bincount,
        bincount,
        bins,
        result="own",
        scale=8,
        differentiable=False,
        rejects=[
            out_of(lambda: libdl.bincount(X[0]), "bincount: argument 1 (input) is float32"),
            out_of(lambda: libdl.bincount(I), "bincount: argument 1 (input)", "[2, 3]"),
            out_of(lambda: libdl.bincount(I[0] - 1), "bincount", "negative"),
            out_of(lambda: libdl.bincount(I[0], X), "bincount: argument 2 (weights)"),
            out_of(
                lambda: libdl.bincount(I[0] + (2**63 - 3)),
                "bincount: argument 1 (input)",
                "2^63 - 1",
                error=OverflowError,
            ),
            out_of(
                lambda: libdl.bincount(I[0].to("meta")),
                "bincount",
                "meta",
                error=NotImplementedError,
            ),
            out_of(lambda: libdl.bincount(I[0], minlength=-1), "bincount: argument 3 (minlength)"),
        ],
    ),
    Case(
        "histc",
        libdl.histc,
        histc,
        histc_samples,
        dtypes="f",
        out=True,
        **none,
        rejects=[
            out_of(lambda: libdl.histc(X, 0), "histc: argument 2 (bins) is 0"),
            out_of(lambda: libdl.histc(X, 2**62), "histc: argument 2 (bins)", error=RuntimeError),
            out_of(
                lambda: libdl.histc(complexes()),
                "histc: argument 1 (input) is complex64",
                error=NotImplementedError,
            ),
            out_of(lambda: libdl.histc(X, 2, 1, 0), "histc", "1 to 0"),
            out_of(lambda: libdl.histc(X, 2, 0, np.inf), "histc", "inf"),
        ],
    ),
    Case(
        "histogram",
        counted,
        histogram,
        histograms,
        differentiable=False,
        scale=4,
        dtypes="",
        rejects=[
            out_of(
                lambda: libdl.histogram(I, 2),
                "histogram: argument 1 (input)",
                error=NotImplementedError,
            ),
            out_of(lambda: libdl.histogram(X, 0), "histogram: argument 2 (bins) is 0"),
            out_of(
                lambda: libdl.histogram(X, 2**62),
                "histogram: argument 2 (bins)",
                error=RuntimeError,
            ),
            out_of(
                lambda: libdl.histogram(X / 0, 2), "histogram: argument 1 (input) gives the range"
            ),
            out_of(
                lambda: libdl.histogram(X, 2, range=(np.nan, 1)), "histogram: argument 3 (range)"
            ),
            out_of(
                lambda: libdl.histogram(X, 2, range=(1, 0)),
                "histogram: argument 3 (range)",
                "1 to 0",
            ),
            out_of(lambda: libdl.histogram(X, 2, weight=X[0]), "histogram: argument 4 (weight)"),
        ],
    ),
    Case(
        "histogram_with_edges",
        counted,
        histogram,
        between_edges,
        scale=4,
        differentiable=False,
        dtypes="",
        rejects=[
            out_of(
                lambda: libdl.histogram(I, X[0]),
                "histogram: argument 1 (input)",
                error=NotImplementedError,
            ),
            out_of(lambda: libdl.histogram(X, X), "histogram: argument 2 (bins)", "[2, 3]"),
            out_of(lambda: libdl.histogram(X, X[0, :1]), "histogram: argument 2 (bins)", "[1]"),
            out_of(
                lambda: libdl.histogram(X, X[0].double()), "histogram: argument 2 (bins)", "float64"
            ),
            out_of(lambda: libdl.histogram(X, X[0], weight=X[0]), "histogram: argument 4 (weight)"),
        ],
    ),
    Case(
        "histogramdd",
        points_in_cells,
        histogramdd,
        of_points,
        differentiable=False,
        scale=4,
        dtypes="",
        rejects=[
            out_of(
                lambda: libdl.histogramdd(POINTS.long(), 2),
                "histogramdd: argument 1 (input)",
                error=NotImplementedError,
            ),
            out_of(lambda: libdl.histogramdd(X[0], 2), "histogramdd: argument 1 (input)", "[3]"),
            out_of(lambda: libdl._C.histogramdd(X[0], [X[0]], None, False), "histogramdd", "[3]"),
            out_of(
                lambda: libdl._C.histogramdd(X[:, :0], [], None, False), "histogramdd", "[2, 0]"
            ),
            out_of(lambda: libdl._C.histogramdd(I, [X[0]], None, False), "histogramdd", "int64"),
            out_of(
                lambda: libdl._C.histogramdd(POINTS, [X[0]], None, False), "histogramdd", "bins"
            ),
            out_of(
                lambda: libdl._C.histogramdd(POINTS, [X[0], X], None, False), "histogramdd", "bins"
            ),
            out_of(lambda: libdl.histogramdd(POINTS, [2]), "histogramdd", "dimensions"),
            out_of(lambda: libdl.histogramdd(POINTS, 2, weight=X[0]), "histogramdd", "weight"),
        ],
    ),
    Case(
        "unique",
        libdl.unique,
        unique,
        uniques,
        result="own",
        dtypes="",
        **none,
        rejects=[
            out_of(
                lambda: libdl.unique(complexes()),
                "unique: argument 1 (input) is complex64",
                error=TypeError,
            ),
            out_of(lambda: libdl.unique(X[:, :0], dim=0), "unique: argument 1 (input)", "[2, 0]"),
            out_of(lambda: libdl.unique(X.to("meta")), "unique", "meta", error=NotImplementedError),
            *bad_dim("unique", libdl.unique),
        ],
    ),
    Case(
        "unique_slices",
        lambda x, dim: libdl.unique(x, True, True, True, dim),
        unique_slices,
        slices,
        operators=("unique",),
        result="own",
        dtypes="",
        **none,
        rejects=[
            out_of(
                lambda: libdl.unique(X[0, 0], dim=0),
                "unique: argument 5 (dim)",
                "0-d",
                error=IndexError,
            )
        ],
    ),
    Case(
        "unique_consecutive",
        libdl.unique_consecutive,
        runs,
        uniques,
        result="own",
        dtypes="",
        **none,
        rejects=bad_dim("unique_consecutive", libdl.unique_consecutive),
    ),
    Case(
        "isin",
        libdl.isin,
        isin,
        tests,
        result="bool",
        out=True,
        **none,
        rejects=[
            out_of(lambda: libdl.isin(1, 1), "isin: argument 2 (test_elements)", error=TypeError),
            out_of(lambda: libdl.isin(X, libdl.ones(9, device="meta")), "isin"),
        ],
    ),
    Case(
        "take",
        libdl.take,
        lambda x, at: np.take(x, at),
        takes,
        exact=True,
        dtypes="fiubc",
        out=True,
        rejects=[
            out_of(
                lambda: libdl.take(X, libdl.tensor([6])),
                "take: argument 2 (index)",
                error=IndexError,
            ),
            out_of(lambda: libdl.take(X, X), "take: argument 2 (index)", error=TypeError),
        ],
    ),
    Case(
        "unravel_index",
        libdl.unravel_index,
        np.unravel_index,
        places,
        result="own",
        **none,
        rejects=[
            out_of(
                lambda: libdl.unravel_index(X, (2, 3)),
                "unravel_index: argument 1 (indices)",
                error=TypeError,
            ),
            out_of(
                lambda: libdl.unravel_index(I, (2, 0)),
                "unravel_index: argument 2 (shape)",
                "[2, 0]",
            ),
            out_of(lambda: libdl.unravel_index(I, (2, -3)), "unravel_index: argument 2 (shape)"),
        ],
    ),
    Case(
        "cov",
        weighed_cov,
        cov,
        observations,
        dtypes="fc",
        scale=64,
        rejects=[
            out_of(
                lambda: libdl.cov(I > 2),
                "cov: argument 1 (input) is bool",
                error=NotImplementedError,
            ),
            out_of(lambda: libdl.cov(X.view(1, 2, 3)), "cov: argument 1 (input) has shape"),
            out_of(
                lambda: libdl.cov(X, fweights=X[0]), "cov: argument 3 (fweights)", error=TypeError
            ),
            out_of(
                lambda: libdl.cov(X, aweights=I[0]), "cov: argument 4 (aweights)", error=TypeError
            ),
            out_of(lambda: libdl.cov(X, aweights=X[0, :2]), "cov: argument 4 (aweights)", "[2]"),
            out_of(
                lambda: libdl.cov(X, fweights=I[0] - 1), "cov: argument 3 (fweights)", "negative"
            ),
        ],
    ),
    Case(
        "cov_of_weighed",
        weighed_cov,
        cov,
        weighed_observations,
        operators=("cov",),
        dtypes="f",
        scale=64,
        rejects=[
            out_of(
                lambda: libdl.cov(X, aweights=-X[0] - 1), "cov: argument 4 (aweights)", "negative"
            ),
            out_of(lambda: libdl.cov(X, fweights=I[0] * 0), "cov: the weights are 0 in sum"),
        ],
    ),
    Case(
        "corrcoef",
        libdl.corrcoef,
        np.corrcoef,
        correlated,
        dtypes="f",
        scale=64,
        rejects=[
            out_of(
                lambda: libdl.corrcoef(I > 2),
                "corrcoef: argument 1 (input) is bool",
                error=NotImplementedError,
            ),
            out_of(
                lambda: libdl.corrcoef(X.view(1, 2, 3)), "corrcoef: argument 1 (input) has shape"
            ),
        ],
    ),
    Case(
        "dist",
        libdl.dist,
        lambda a, b, p: np.asarray(np.sum(np.abs(a - b) ** p) ** (1 / p)),
        distances,
        scale=16,
        dtypes="f",
        roundings=2,
        rejects=[
            out_of(lambda: libdl.dist(X, X[:, :2]), "dist: argument"),
            out_of(lambda: libdl.dist(I, I), "dist", "int64", error=TypeError),
        ],
    ),
]

# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans. Their sums' tolerance grows with log2 of the elements: scale 8."""

from __future__ import annotations

from typing import Any

import numpy as np

import libdl
from refusals import refusals
from samples import Case, Reject, Sample, numbers, reduction, unary


def by_numpy(function: Any, **fixed: Any) -> Any:
    def reference(x: Any, dim: Any = None, keepdim: bool = False, **more: Any) -> Any:
        more = {("ddof" if k == "correction" else k): v for k, v in more.items()}
        return np.asarray(
            function(x, axis=dim if x.ndim else None, keepdims=keepdim, **fixed, **more)
        )

    return reference


def bad_dim(name: str, function: Any) -> list[Reject]:
    return [
        Reject(IndexError, (name, "dim"), lambda d=d: function(libdl.ones(2, 3), dim=d))
        for d in (2, -3, 2**31 - 1)
    ]


def lse(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    if x.ndim == 0:
        return x
    top = np.max(np.real(x), axis=dim, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    y = np.log(np.sum(np.exp(x - top), axis=dim, keepdims=True)) + top
    return y if keepdim else np.squeeze(y, axis=dim)


def norm(x: Any, dim: Any = None, keepdim: bool = False, p: float = 2) -> Any:
    y = np.sum(np.abs(x) ** p, axis=dim if x.ndim else None, keepdims=keepdim) ** (1 / p)
    return np.asarray(y)


def picks(best: Any, where: Any) -> Any:
    def reference(x: Any, dim: int, keepdim: bool = False) -> Any:
        if x.ndim == 0:
            return x, np.asarray(0)
        return best(x, axis=dim, keepdims=keepdim), where(x, axis=dim, keepdims=keepdim)

    return reference


def one(name: str, reference: Any, made: Any, **how: Any) -> Case:
    function = getattr(libdl, name)
    return Case(
        name,
        function,
        reference,
        made,
        rejects=bad_dim(name, function),
        **{"scale": 8, "dtypes": "f", "out": True, **how},
    )


def scan(low: float = -2.0, high: float = 2.0) -> Any:
    return lambda: [
        Sample((numbers(s, 10 * i + n, low, high),), {"dim": d})
        for i, s in enumerate([(1,), (5,), (65,), (2, 3), (3, 1, 2), (2, 0, 3)])
        for n in (1, 2)
        for d in (0, -1)
    ]


def running(best: Any) -> Any:
    def reference(x: Any, dim: int) -> Any:
        values = best.accumulate(x, dim)
        places = np.arange(x.shape[dim]).reshape(
            [-1 if d == dim % x.ndim else 1 for d in range(x.ndim)]
        )
        reached = (x == values) | np.isnan(x)  # a NaN stays until the next one
        return values, np.maximum.accumulate(np.where(reached, places, 0), dim)

    return reference


def extrema(name: str, best: Any) -> Case:
    function, whole = getattr(libdl, name), libdl.arange(3)
    plain = scan()

    def made() -> list[Sample]:
        odd = np.array([[1, 1, np.nan, 3, np.nan, 0], [-np.inf, 0.0, -0.0, np.inf, np.inf, 1]])
        long = np.round(numbers((3, 300), 5, -20, 20))
        return [
            *plain(),
            *(Sample((x,), {"dim": d}, smooth=False) for x in (odd, long) for d in (0, 1)),
        ]

    return Case(
        name,
        function,
        running(best),
        made,
        exact=True,
        dtypes="fiu",
        rejects=[
            *bad_dim(name, function),
            *refusals(
                f"""
                    function(whole + 0, 0, out=(whole, whole))
                        # ValueError | RuntimeError: {name} ... shares memory
                    function(libdl.ones(2, dtype=libdl.complex64), 0)
                        # NotImplementedError: {name} ... input ... complex64
                """,
                globals() | locals(),
            ),
        ],
    )


def everything() -> list[Sample]:
    return [s for s in unary()() if s.args[0].size]


def of_nothing(name: str, function: Any) -> list[Reject]:
    return [
        Reject(ValueError, (name, "input", "no element"), lambda: function(libdl.ones(0))),
        Reject(
            TypeError, (name, "complex64"), lambda: function(libdl.ones(2, dtype=libdl.complex64))
        ),
    ]


single = {"dims": False, "whole": False, "empty": False}
CASES = [
    one("sum", by_numpy(np.sum), reduction(), result="sum", dtypes="fiuc", terms=2.0),
    one("mean", by_numpy(np.mean), reduction(empty=False), dtypes="fc", terms=2.0),
    one("prod", by_numpy(np.prod), reduction(0.5, 1.5, dims=False), result="sum", dtypes="fiuc"),
    one("amax", by_numpy(np.max), reduction(empty=False), exact=True, dtypes="fiub"),
    one("amin", by_numpy(np.min), reduction(empty=False), exact=True, dtypes="fiub"),
    one(
        "argmax",
        by_numpy(np.argmax),
        reduction(dims=False, empty=False),
        result="own",
        exact=True,
        differentiable=False,
        dtypes="fiu",
    ),
    one(
        "argmin",
        by_numpy(np.argmin),
        reduction(dims=False, empty=False),
        result="own",
        exact=True,
        differentiable=False,
        dtypes="fiu",
    ),
    one("all", by_numpy(np.all), reduction(), result="bool", differentiable=False, dtypes="fiubc"),
    one("any", by_numpy(np.any), reduction(), result="bool", differentiable=False, dtypes="fiubc"),
    one(
        "count_nonzero",
        by_numpy(np.count_nonzero),
        reduction(keep=False),
        result="int64",
        exact=True,
        differentiable=False,
        dtypes="fiubc",
        out=False,
    ),
    one(
        "var",
        by_numpy(np.var, ddof=1),
        lambda: [
            s
            for s in reduction(empty=False)()
            if s.args[0].size > 1
            and all(s.args[0].shape[d] > 1 for d in np.atleast_1d(s.kwargs.get("dim", 0)))
        ],
        scale=30,
        dtypes="fc",
    ),
    one(
        "std",
        by_numpy(np.std, ddof=1),
        lambda: [
            s
            for s in reduction(empty=False)()
            if s.args[0].size > 1
            and all(s.args[0].shape[d] > 1 for d in np.atleast_1d(s.kwargs.get("dim", 0)))
        ],
        scale=30,
        dtypes="fc",
    ),
    one("norm", norm, reduction(0.2, 2.0, special=False), scale=16, dtypes="fc"),
    one("logsumexp", lse, reduction(whole=False, empty=False), scale=16, dtypes="fc"),
    Case(
        "max",
        libdl.max,
        picks(np.max, np.argmax),
        reduction(**single),
        exact=True,
        operators=("max_dim",),
        dtypes="fiu",
        rejects=bad_dim("max", libdl.max),
    ),
    Case(
        "min",
        libdl.min,
        picks(np.min, np.argmin),
        reduction(**single),
        exact=True,
        operators=("min_dim",),
        dtypes="fiu",
        rejects=bad_dim("min", libdl.min),
    ),
    Case(
        "max_of_all",
        libdl.max,
        lambda x: np.asarray(np.max(x)),
        everything,
        exact=True,
        operators=("max",),
        dtypes="fiub",
        out=True,
        rejects=of_nothing("max", libdl.max),
    ),
    Case(
        "min_of_all",
        libdl.min,
        lambda x: np.asarray(np.min(x)),
        everything,
        exact=True,
        operators=("min",),
        dtypes="fiub",
        out=True,
        rejects=of_nothing("min", libdl.min),
    ),
    one(
        "cumsum",
        lambda x, dim: np.cumsum(x, dim),
        scan(),
        inplace=True,
        result="sum",
        dtypes="fiuc",
        terms=2.0,
    ),
    one(
        "cumprod",
        lambda x, dim: np.cumprod(x, dim),
        scan(0.5, 1.3),
        inplace=True,
        result="sum",
        dtypes="fiuc",
    ),
    extrema("cummax", np.maximum),
    extrema("cummin", np.minimum),
]

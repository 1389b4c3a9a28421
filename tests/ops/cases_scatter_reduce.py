# SPDX-License-Identifier: Apache-2.0
"""Elements that meet in one place, reduced to one."""

from __future__ import annotations

from typing import Any

import numpy as np

import libdl
from samples import Case, Sample, integers, numbers

# Of input, of index, of src, and dim.
PLACES = [
    ((4,), (6,), (6,), 0),
    ((2, 3), (2, 4), (2, 4), 1),
    ((3, 2), (5, 2), (5, 3), 0),
    ((2, 2), (1, 3), (2, 3), -1),
    ((3,), (0,), (2,), 0),
    ((2, 2, 2), (2, 3, 1), (2, 3, 2), 1),
]
SLICES = [
    ((4,), 6, 0),
    ((2, 3), 4, 1),
    ((3, 2), 5, 0),
    ((2, 2), 3, -1),
    ((3,), 0, 0),
    ((2, 3, 2), 4, 1),
]
WORDS = ("sum", "prod", "mean", "amax", "amin")
STEPS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def scattered() -> list[Sample]:
    return [
        Sample(
            (
                numbers(x, i, 0.5, 2.0),
                dim,
                integers(at, i + 5, 0, x[dim]),
                numbers(src, i + 1, -2.0, 2.0, 0.05),
                word,
            ),
            {"include_self": own},
        )
        for i, (x, at, src, dim) in enumerate(PLACES)
        for word in WORDS
        for own in (True, False)
    ]


def reference(x: Any, dim: int, index: Any, src: Any, word: str, include_self: bool = True) -> Any:
    made, met = x.copy(), np.full(x.shape, int(include_self))
    for place in np.ndindex(index.shape):
        to = list(place)
        to[dim] = int(index[place])
        at = tuple(to)
        made[at] = src[place] if met[at] == 0 else STEPS[word](made[at], src[place])
        met[at] += 1
    if word != "mean":
        return made
    return made / np.maximum(met, 1)


def sliced() -> list[Sample]:
    made = []
    for i, (x, n, dim) in enumerate(SLICES):
        shape = list(x)
        shape[dim] = n
        made += [
            Sample(
                (
                    numbers(x, i, 0.5, 2.0),
                    dim,
                    integers((n,), i + 5, 0, x[dim]),
                    numbers(tuple(shape), i + 1, -2.0, 2.0, 0.05),
                    word,
                ),
                {"include_self": own},
            )
            for word in WORDS[1:]
            for own in (True, False)
        ]
    return made


def slices(x: Any, dim: int, index: Any, source: Any, word: str, include_self: bool = True) -> Any:
    shape = [1] * x.ndim
    shape[dim] = -1
    index = np.broadcast_to(index.reshape(shape), source.shape)
    return reference(x, dim, index, source, word, include_self)


ones = libdl.ones
X = ones(2, 3)
INDEX = libdl.zeros(1, 3, dtype=libdl.int64)
CASES = [
    Case(
        "scatter_reduce",
        libdl.scatter_reduce,
        reference,
        scattered,
        dtypes="f",
        out=True,
        inplace=True,
        scale=16,
        terms=4.0,
        rejects="""
            libdl.scatter_reduce(X, 0, INDEX, ones(1, 3), "max")
                # ValueError: scatter_reduce: argument 5 (reduce) is 'max' ... 'amax'
            libdl.scatter_reduce(X, 0, INDEX, ones(1, 3).double(), "sum")
                # TypeError: scatter_reduce: argument 4 (src) is float64 ... float32
            libdl.scatter_reduce(X, 2, INDEX, ones(1, 3), "sum")
                # IndexError: scatter_reduce: argument 2 (dim) is 2 ... -2 to 1
            libdl.scatter_reduce(X, 0, INDEX, ones(1, 2), "amax")
                # ValueError: scatter_reduce: argument 3 (index) has shape [1, 3] ... src's [1, 2]
            libdl.scatter_reduce(X[0], 0, INDEX[0], ones(1, 3), "amax")
                # ValueError: scatter_reduce: argument 3 (index) ... no larger sizes than src's
            libdl.scatter_reduce(X, 0, INDEX.float(), ones(1, 3), "prod")
                # TypeError: scatter_reduce: argument 3 (index) is float32
            libdl.scatter_reduce(X.bool(), 0, INDEX, ones(1, 3).bool(), "mean")
                # TypeError: scatter_reduce: argument ... is bool, wanted
            libdl.scatter_reduce(X + 0j, 0, INDEX, ones(1, 3) + 0j, "amax")
                # TypeError: scatter_reduce: argument ... complex64, wanted another
            libdl.scatter_reduce(X, 0, INDEX + 7, ones(1, 3), "sum")
                # IndexError: scatter_reduce: argument 3 (index) holds 7
            libdl.scatter_reduce(X, 0, INDEX + 7, ones(1, 3), "prod")
                # IndexError: scatter_reduce: argument 3 (index) holds 7
            libdl.scatter_reduce(X, 0, INDEX + 7, ones(1, 3), "mean")
                # IndexError: scatter_reduce: argument 3 (index) holds 7
            libdl.scatter_reduce(X, 0, INDEX + 7, ones(1, 3), "amax")
                # IndexError: scatter_reduce: argument 3 (index) holds 7
            libdl.scatter_reduce(X, 0, INDEX + 7, ones(1, 3), "amin")
                # IndexError: scatter_reduce: argument 3 (index) holds 7
        """,
    ),
    Case(
        "index_reduce",
        libdl.index_reduce,
        slices,
        sliced,
        dtypes="f",
        out=True,
        inplace=True,
        scale=16,
        terms=4.0,
        rejects="""
            libdl.index_reduce(X, 0, INDEX[0], ones(3, 3), "sum")
                # ValueError: index_reduce: argument 5 (reduce) is 'sum' ... 'prod'
            libdl.index_reduce(X, 0, INDEX[0], ones(2, 3), "prod")
                # ValueError: index_reduce: argument 4 (source) has shape [2, 3] ...
                #    3 in dimension 0
            libdl.index_reduce(X, 0, INDEX, ones(3, 3), "prod")
                # ValueError: index_reduce: argument 3 (index) has shape [1, 3] ... 1-d
            libdl.index_reduce(X, 0, INDEX[0], ones(3, 3).double(), "prod")
                # TypeError: index_reduce: argument 4 (source) is float64
            libdl.index_reduce(X, 0, INDEX[0], ones(3, 3).long(), "mean")
                # TypeError: index_reduce: argument 4 (source) is int64
            libdl.index_reduce(X, 0, INDEX[0] + 2, ones(3, 3), "amin")
                # IndexError: index_reduce: argument 3 (index) holds 2
            libdl.index_reduce(X.bool(), 0, INDEX[0], ones(3, 3).bool(), "mean")
                # TypeError: index_reduce: argument ... is bool, wanted
        """,
    ),
]

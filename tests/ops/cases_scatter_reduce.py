# SPDX-License-Identifier: Apache-2.0
"""Elements that meet in one place, reduced to one."""

from __future__ import annotations

from typing import Any

import numpy as np

import libdl
from samples import Case, Reject, Sample, integers, numbers

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


def call(name: str, *args: Any) -> Any:
    return lambda: getattr(libdl, name)(libdl.ones(2, 3), *args)


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
        rejects=[
            Reject(
                ValueError,
                ("scatter_reduce: argument 5 (reduce) is 'max'", "'amax'"),
                call("scatter_reduce", 0, INDEX, libdl.ones(1, 3), "max"),
            ),
            Reject(
                TypeError,
                ("scatter_reduce: argument 4 (src) is float64", "float32"),
                call("scatter_reduce", 0, INDEX, libdl.ones(1, 3, dtype=libdl.float64), "sum"),
            ),
            Reject(
                IndexError,
                ("scatter_reduce: argument 2 (dim) is 2", "-2 to 1"),
                call("scatter_reduce", 2, INDEX, libdl.ones(1, 3), "sum"),
            ),
            Reject(
                ValueError,
                ("scatter_reduce: argument 3 (index) has shape [1, 3]", "src's [1, 2]"),
                call("scatter_reduce", 0, INDEX, libdl.ones(1, 2), "amax"),
            ),
            *(
                Reject(
                    IndexError,
                    ("scatter_reduce: argument 3 (index)", "7"),
                    call("scatter_reduce", 0, INDEX + 7, libdl.ones(1, 3), word),
                )
                for word in WORDS
            ),
        ],
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
        rejects=[
            Reject(
                ValueError,
                ("index_reduce: argument 5 (reduce) is 'sum'", "'prod'"),
                call("index_reduce", 0, INDEX[0], libdl.ones(3, 3), "sum"),
            ),
            Reject(
                ValueError,
                ("index_reduce: argument 4 (source) has shape [2, 3]", "3 in dimension 0"),
                call("index_reduce", 0, INDEX[0], libdl.ones(2, 3), "prod"),
            ),
            Reject(
                ValueError,
                ("index_reduce: argument 3 (index) has shape [1, 3]", "1-d"),
                call("index_reduce", 0, INDEX, libdl.ones(3, 3), "prod"),
            ),
            Reject(
                TypeError,
                ("index_reduce: argument 4 (source) is float64",),
                call("index_reduce", 0, INDEX[0], libdl.ones(3, 3, dtype=libdl.float64), "prod"),
            ),
        ],
    ),
]

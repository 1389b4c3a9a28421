# SPDX-License-Identifier: Apache-2.0
"""embedding_bag, and sparse matrices: their rows, and what is made of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

import libdl
from libdl import _C
from libdl.nn import functional as F
from samples import Case, Reject, Sample, integers, numbers

REFUSED = (ValueError, RuntimeError, TypeError, IndexError)


def bags_of(input: Any, offsets: Any, include_last_offset: bool) -> list[range]:
    if input.ndim == 2:
        return [range(b * input.shape[1], (b + 1) * input.shape[1]) for b in range(len(input))]
    ends = [int(x) for x in offsets] + ([] if include_last_offset else [input.size])
    return [range(a, b) for a, b in zip(ends, ends[1:])]


def reference(
    input: Any,
    weight: Any,
    offsets: Any = None,
    per_sample_weights: Any = None,
    mode: str = "mean",
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    rows, made = weight.shape[0], []
    flat = input.reshape(-1)
    padding = None if padding_idx is None else padding_idx % rows
    factors = np.ones(flat.shape) if per_sample_weights is None else per_sample_weights.reshape(-1)
    for places in bags_of(input, offsets, include_last_offset):
        kept = [p for p in places if flat[p] % rows != padding]
        read = np.stack([weight[flat[p]] * factors[p] for p in kept]) if kept else None
        if read is None:
            made.append(np.zeros(weight.shape[1]))
        else:
            made.append({"sum": read.sum, "mean": read.mean, "max": read.max}[mode](0))
    return np.stack(made) if made else np.zeros((0, weight.shape[1]))


def bag(
    input: Any, weight: Any, offsets: Any = None, per_sample_weights: Any = None, **named: Any
) -> Any:
    return F.embedding_bag(input, weight, offsets, per_sample_weights=per_sample_weights, **named)


# The last two: bags of one reading each, and as many bags as readings without that.
OFFSETS = [
    ((7,), [0, 2, 2, 5]),
    ((4,), [0]),
    ((5,), [0, 5]),
    ((0,), [0, 0]),
    ((6,), [0, 1, 3]),
    ((3,), [0, 1, 2]),
    ((3,), [0, 0, 2]),
]


def samples() -> list[Sample]:
    made = []
    for i, (shape, offsets) in enumerate(OFFSETS):
        at = np.array(offsets, dtype=np.int64)
        last = np.append(at, shape[0]).astype(np.int64)
        for k, mode in enumerate(("sum", "mean", "max")):
            input, weight = integers(shape, 10 * i + k, 0, 4), numbers((4, 3), 10 * i + k)
            made += [
                Sample((input, weight, at), {"mode": mode}),
                Sample((input, weight, at), {"mode": mode, "padding_idx": k - 1}),
                Sample((input, weight, last), {"mode": mode, "include_last_offset": True}),
            ]
        factors = numbers(shape, i)
        some = last[:-1] if len(at) > 1 else last  # what follows the last offset is in no bag
        made += [
            Sample((input, weight, at, factors), {"mode": "sum"}),
            Sample(
                (input - 4, weight, some, factors),
                {"mode": "sum", "padding_idx": 1, "include_last_offset": True},
            ),
        ]
    for i, shape in enumerate([(2, 3), (1, 1), (3, 0), (0, 2), (5, 2)]):
        for k, mode in enumerate(("sum", "mean", "max")):
            input, weight = integers(shape, i + k, 0, 5), numbers((5, 2), i + k)
            made.append(Sample((input, weight), {"mode": mode}))
    # More columns than are read at once, more rows than a chunk.
    made += [
        Sample((integers((9,), 1, 0, 4), numbers((4, 300), 1), np.array([0, 4, 5])), {"mode": mode})
        for mode in ("sum", "mean", "max")
    ]
    return made


X, I, O = libdl.ones(4, 2), libdl.tensor([0, 1, 2]), libdl.tensor([0, 1])


def refused(words: tuple[str, ...], *args: Any, **options: Any) -> Reject:
    return Reject(
        REFUSED, ("embedding_bag: argument", *words), lambda: F.embedding_bag(*args, **options)
    )


REJECTS = [
    refused(("1 (input) holds 4 at position [1]", "-4 to 3"), libdl.tensor([0, 4]), X, O),
    refused(("1 (input) is float32", "int64 or int32"), libdl.ones(3), X, O),
    refused(("1 (input) has shape []", "[n] with offsets, or [bags, n]"), libdl.tensor(1), X),
    refused(("2 (weight) has shape [4]", "two dimensions"), I, libdl.ones(4), O),
    refused(("2 (weight) is int64", "a floating dtype"), I, X.long(), O),
    refused(("3 (offsets) is absent", "where each bag begins"), I, X),
    refused(("3 (offsets) is given", "NULL"), I[None], X, O),
    refused(("3 (offsets) has shape [1, 2]", "one dimension"), I, X, O[None]),
    refused(("3 (offsets) is float32", "int64 or int32"), I, X, O.float()),
    refused(("3 (offsets) is empty", "include_last_offset"), I, X, O[:0], include_last_offset=True),
    refused(("3 (offsets) holds 1 at position [0]", "0, where the first"), I, X, O + 1),
    refused(("3 (offsets) holds 4 at position [1]", "ascending ones, 0 to 3"), I, X, O * 4),
    refused(("3 (offsets) holds 1 at position [2]", "2 to 3"), I, X, libdl.tensor([0, 2, 1])),
    refused(
        ("4 (scale_grad_by_freq) is true", "max"), I, X, O, scale_grad_by_freq=True, mode="max"
    ),
    refused(('5 (mode) is "min"', '"sum", "mean" or "max"'), I, X, O, mode="min"),
    refused(("6 (sparse) is true", "max"), I, X, O, sparse=True, mode="max"),
    refused(
        ("7 (per_sample_weights) is given", "unless mode"),
        I,
        X,
        O,
        per_sample_weights=libdl.ones(3),
    ),
    refused(
        ("7 (per_sample_weights) has shape [2], wanted [3]",),
        I,
        X,
        O,
        mode="sum",
        per_sample_weights=libdl.ones(2),
    ),
    refused(
        ("7 (per_sample_weights) is float64, wanted float32",),
        I,
        X,
        O,
        mode="sum",
        per_sample_weights=libdl.ones(3).double(),
    ),
    refused(("9 (padding_idx) is 4, wanted -4 to 3",), I, X, O, padding_idx=4),
]


# -- sparse matrices -------------------------------------------------------------------------------


def row_samples() -> list[Sample]:
    made = [
        Sample((integers((n,), n + d, 0, 5), numbers((n, d), n), 5))
        for n in (0, 1, 3, 7, 9, 20)
        for d in (1, 2, 3)
    ]
    return [
        *made,
        Sample((np.array([3, -1, 3]), numbers((3, 2), 5), 5)),
        Sample((np.zeros(0, np.int64), numbers((0, 2), 5), 0)),
        Sample((np.array([1]), numbers((1, 0), 5), 2)),
    ]


def from_rows(indices: Any, values: Any, rows: int) -> Any:
    made = np.zeros((rows, values.shape[1]), values.dtype)
    np.add.at(made, indices, values)
    return made


def rows_again(indices: Any, values: Any, rows: int) -> Any:
    """What a matrix of these rows holds."""
    held, values = _C.sparse_rows(_C.sparse_from_rows(indices, values, rows))
    assert held.tolist() == sorted({i % rows for i in indices.tolist()})
    return values


def held_rows(indices: Any, values: Any, rows: int) -> Any:
    return from_rows(indices, values, rows)[np.unique(indices % rows) if rows else indices]


LEAF = libdl.ones(2, 1).requires_grad_()
CASES = [
    Case("embedding_bag", bag, reference, samples, dtypes="f", terms=4.0, rejects=REJECTS),
    Case(
        "sparse_from_rows",
        _C.sparse_from_rows,
        from_rows,
        row_samples,
        differentiable=False,
        dtypes="fc",
        terms=8.0,
        rejects="""
            _C.sparse_from_rows(libdl.tensor([0]), libdl.ones(2, 1), 3)
                # REFUSED: sparse_from_rows: argument 1 (indices) has shape [1], wanted [2]
            _C.sparse_from_rows(libdl.tensor([0, 3]), libdl.ones(2, 1), 3)
                # REFUSED: sparse_from_rows: argument 1 (indices) holds 3 at position [1] ... -3 to
            _C.sparse_from_rows(libdl.tensor([0, 3]), libdl.ones(2), 3)
                # REFUSED: sparse_from_rows: argument 2 (values) has shape [2]
            _C.sparse_from_rows(libdl.tensor([0, 2]), libdl.ones(2, 1).long(), 3)
                # REFUSED: sparse_from_rows: argument 2 (values) is int64 ... floating or complex
            _C.sparse_from_rows(libdl.tensor([0, 2]), LEAF, 3)
                # REFUSED: sparse_from_rows: argument 2 (values) requires grad
            _C.sparse_from_rows(libdl.tensor([0, 2]), libdl.ones(2, 1), -1)
                # REFUSED: sparse_from_rows: argument 3 (rows) is -1, wanted 0 or more
        """,
    ),
    Case(
        "sparse_rows",
        rows_again,
        held_rows,
        row_samples,
        differentiable=False,
        dtypes="fc",
        terms=8.0,
        rejects="""
            _C.sparse_rows(libdl.ones(2, 2))
                # REFUSED: sparse_rows: argument 1 (input) is dense ... a sparse matrix
        """,
    ),
]

# SPDX-License-Identifier: Apache-2.0
"""Einstein's summation, beside NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

import libdl
from samples import Case, Reject, Sample, numbers

EQUATIONS = {
    "ij,jk->ik": [(2, 3), (3, 4)],
    "bij,bjk->bik": [(2, 3, 4), (2, 4, 2)],
    "ij,jk": [(2, 0), (0, 3)],
    "i,j->ij": [(2,), (3,)],
    "ij,ij->": [(2, 3), (2, 3)],
    "ij->ji": [(2, 3)],
    "ij->": [(2, 3)],
    "ii->i": [(3, 3)],
    "ii": [(3, 3)],
    "a,ab,b->": [(2,), (2, 3), (3,)],
    "ijk,jil,kl->il": [(2, 3, 4), (3, 2, 5), (4, 5)],
    "...ij,...jk->...ik": [(2, 1, 3, 4), (5, 4, 2)],
    "i...->...": [(2, 3, 4)],
    "bhqd,bhkd->bhqk": [(1, 2, 3, 4), (1, 2, 5, 4)],
    "ij,k->ijk": [(2, 3), (4,)],
    " i j , j k -> k i": [(2, 3), (3, 4)],
    "bij,bj->b": [(2, 3, 4), (2, 4)],
    "ijij->ij": [(2, 3, 2, 3)],
    "ba,cb": [(2, 3), (4, 2)],
    "ij,ij->i": [(4, 3), (4, 3)],
}


def samples() -> list[Sample]:
    return [
        Sample((*(numbers(s, 10 * i + n) for n, s in enumerate(shapes)),), {"equation": text})
        for i, (text, shapes) in enumerate(EQUATIONS.items())
    ]


def einsum(*x: Any, equation: str) -> Any:
    return libdl.einsum(equation, *x)


def reference(*x: Any, equation: str) -> Any:
    return np.einsum(equation, *x)


def refused(words: tuple[str, ...], equation: str, *shapes: tuple[int, ...]) -> Reject:
    return Reject(
        (ValueError, RuntimeError),
        ("einsum", *words),
        lambda: libdl.einsum(equation, *(libdl.ones(s) for s in shapes)),
    )


# Sums of up to 40 products of up to three numbers of at most 2. What is multiplied or summed first
# is rounded to 16 bits, too.
CASES = [
    Case(
        "einsum",
        einsum,
        reference,
        samples,
        dtypes="f",
        scale=64,
        terms=8.0,
        roundings=2,
        rejects=[
            refused(("equation", "a term for each of 1"), "ij,jk->ik", (2, 2)),
            refused(("equation", "letters"), "i1->i", (2, 2)),
            refused(("equation", "at most once in the result"), "ij->ii", (2, 2)),
            refused(("equation", "that tensors have"), "ij->ik", (2, 2)),
            refused(("tensors", "shape [2, 2, 2]"), "ij->i", (2, 2, 2)),
            refused(("tensors", "has size 3"), "ij,jk->ik", (2, 2), (3, 2)),
            refused(("tensors", "repeats"), "ii->i", (2, 3)),
            """
            libdl.einsum("i,i->", libdl.ones(2), libdl.ones(2, dtype=libdl.float64))
                # RuntimeError | ValueError: einsum ... holds float64
            """,
        ],
    )
]

# SPDX-License-Identifier: Apache-2.0
"""scaled_dot_product_attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import libdl
from libdl.nn import functional as F
from samples import Case, Fixed, Reject, Sample, numbers

REFUSED = (ValueError, RuntimeError, TypeError)
ones = libdl.ones


def attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    if enable_gqa:
        heads = query.shape[-3]
        key = np.repeat(key, heads // key.shape[-3], -3)
        value = np.repeat(value, heads // value.shape[-3], -3)
    width = query.shape[-1]
    factor = 1 / math.sqrt(max(width, 1)) if scale is None else scale
    scores = query @ np.swapaxes(key, -1, -2) * factor
    if attn_mask is not None:
        scores = scores + (
            np.where(attn_mask, 0.0, -np.inf) if attn_mask.dtype == bool else attn_mask
        )
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    if scores.size == 0:
        return np.zeros(
            (
                *np.broadcast_shapes(scores.shape[:-2], value.shape[:-2]),
                scores.shape[-2],
                value.shape[-1],
            )
        )
    top = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(top == -np.inf, 0.0, top))
    total = weights.sum(-1, keepdims=True)
    return weights / np.where(total == 0, 1.0, total) @ value


def chosen(shape: tuple[int, ...], seed: int) -> Any:
    """Keys that take part; the first row has none."""
    mask = np.random.default_rng(seed).random(shape) < 0.7
    mask[..., 0, :] = False
    return mask


def three(lead: tuple[tuple[int, ...], ...], sizes: tuple[int, int, int, int], seed: int) -> Any:
    """query, key and value of these leading dimensions, for l, s, e, v."""
    rows, keys, width, out = sizes
    inner = ((rows, width), (keys, width), (keys, out))
    return tuple(numbers((*a, *b), 3 * seed + i) for i, (a, b) in enumerate(zip(lead, inner)))


SAME = [((), (), ()), ((2,), (2,), (2,)), ((1, 2), (1, 2), (1, 2))]
BROADCAST = [((2,), (), ()), ((), (2,), (1,)), ((2, 1), (1, 2), ()), ((2, 2), (2, 1), (2, 1))]
SMALL_SIZES = [(2, 3, 2, 1), (3, 2, 1, 2), (1, 1, 1, 1)]
# More than a tile of queries and a block of keys; a row of more than is transposed at once.
LARGE = [
    (((), (), ()), (50, 100, 3, 5)),
    (((2,), (2,), (1,)), (97, 193, 5, 3)),
    (((1, 2), (1, 1), (1, 1)), (9, 7, 131, 2)),
    (((2,), (), ()), (96, 96, 8, 8)),
]


def samples() -> list[Sample]:
    made = []
    for i, lead in enumerate(SAME + BROADCAST):
        full = np.broadcast_shapes(*lead)
        for k, sizes in enumerate(SMALL_SIZES):
            rows, keys = sizes[:2]
            x = three(lead, sizes, 10 * i + k)
            made += [
                Sample(x),
                Sample(x, {"is_causal": True}),
                Sample(x, {"scale": -0.7}),
                Sample((*x, chosen((rows, keys), i))),
                Sample((*x, chosen((*full, rows, keys), k))),
                Sample((*x, numbers((rows, keys), i + k))),
                Sample((*x, numbers((keys,), i + k).view(Fixed))),
            ]
    return (
        made
        + large()
        + groups()
        + [
            Sample(three(SAME[1], sizes, 7))
            for sizes in [(0, 3, 2, 1), (2, 0, 2, 3), (2, 3, 0, 2), (2, 3, 2, 0)]
        ]
    )


def large() -> list[Sample]:
    made = []
    for i, (lead, sizes) in enumerate(LARGE):
        rows, keys = sizes[:2]
        x = three(lead, sizes, i)
        hidden = np.where(chosen((rows, keys), i), 0.5, -np.inf).view(Fixed)
        made += [
            Sample(x),
            Sample(x, {"is_causal": True}),
            Sample((*x, chosen((rows, keys), i))),
            Sample((*x, chosen((rows, keys), i)[-1:])),
            Sample((*x, hidden), smooth=False),
        ]
    return made


def groups() -> list[Sample]:
    made = []
    for i, (heads, keys, values) in enumerate([(4, 2, 2), (2, 1, 1), (4, 2, 1), (2, 2, 2)]):
        x = three(((heads,), (keys,), (values,)), (2, 2, 1, 1), i)
        made += [Sample(x, {"enable_gqa": True, "is_causal": causal}) for causal in (False, True)]
        made += [
            Sample((*x, chosen(shape, i)), {"enable_gqa": True})
            for shape in [(2, 2), (1, 2, 2), (heads, 2, 2)]
        ]
    return made


def refused(words: tuple[str, ...], *args: Any, **options: Any) -> Reject:
    return Reject(
        REFUSED,
        ("scaled_dot_product_attention: argument", *words),
        lambda: F.scaled_dot_product_attention(*args, **options),
    )


X = ones(2, 4, 3)
REJECTS = [
    refused(("1 (query) is int64", "a floating dtype"), X.long(), X.long(), X.long()),
    refused(("2 (key) is float64, wanted float32",), X, X.double(), X),
    refused(("3 (value) is float16, wanted float32",), X, X, X.half()),
    refused(("4 (attn_mask) is int64, wanted bool or float32",), X, X, X, X.long()),
    refused(("4 (attn_mask) is float64, wanted bool or float32",), X, X, X, X.double()),
    refused(("1 (query) has shape [3], wanted [..., l, e]",), ones(3), X, X),
    refused(("3 (value) has shape [3], wanted [..., s, v]",), X, X, ones(3)),
    refused(("2 (key) has shape [4, 3], wanted [..., heads, s, e]",), X, X[0], X, enable_gqa=True),
    refused(("2 (key) has shape [2, 4, 2], wanted [..., s, 3], as query has",), X, X[..., :2], X),
    refused(("3 (value) has shape [2, 3, 3], wanted [..., 4, v], as key has",), X, X, X[:, :3]),
    refused(("2 (key) has shape [3, 4, 3]", "broadcast"), X, ones(3, 4, 3), X),
    refused(("3 (value) has shape [3, 4, 3]", "broadcast"), X, X, ones(3, 4, 3)),
    refused(
        ("4 (attn_mask) has shape [3, 4, 4]", "broadcasts to [2, 4, 4]"), X, X, X, ones(3, 4, 4)
    ),
    refused(("4 (attn_mask) has shape [1, 2, 4, 4]",), X, X, X, ones(1, 2, 4, 4)),
    refused(("5 (dropout_p) is 1.5", "0 to 1"), X, X, X, dropout_p=1.5),
    refused(("6 (is_causal) is true", "attn_mask"), X, X, X, ones(4, 4), is_causal=True),
    refused(
        ("2 (key) has shape [3, 4, 3]", "a divisor of query's 2 heads"),
        X,
        ones(3, 4, 3),
        X,
        enable_gqa=True,
    ),
    refused(
        ("3 (value) has shape [0, 4, 3]", "a divisor of query's 2 heads"),
        X,
        X,
        ones(0, 4, 3),
        enable_gqa=True,
    ),
]

CASES = [
    Case(
        "scaled_dot_product_attention",
        F.scaled_dot_product_attention,
        attention,
        samples,
        dtypes="f",
        scale=64,
        terms=4.0,
        rejects=REJECTS,
    ),
]

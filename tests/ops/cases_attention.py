# SPDX-License-Identifier: Apache-2.0
"""scaled_dot_product_attention, and attention of several heads between projections."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import libdl
from libdl import _functional
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

# -- of several heads, between projections ---------------------------------------------------------

NAMES = """query key value num_heads in_proj_weight in_proj_bias q_proj_weight k_proj_weight
    v_proj_weight bias_k bias_v static_k static_v add_zero_attn out_proj_weight out_proj_bias
    key_padding_mask attn_mask dropout_p""".split()
DEFAULTS = {"add_zero_attn": False, "dropout_p": 0.0}


def listed(given: dict[str, Any]) -> list[Any]:
    return [given.get(name, DEFAULTS.get(name)) for name in NAMES]


def by_heads(x: Any, heads: int) -> Any:
    """[steps, n, e] as [n, heads, steps, d]."""
    return np.moveaxis(x.reshape(*x.shape[:2], heads, -1), 0, 2)


def added(mask: Any) -> Any:
    return np.where(mask, -np.inf, 0.0) if mask.dtype == bool else mask


def several_heads(*args: Any) -> tuple[Any, Any]:
    """The result and the weights, [n, h, l, s]."""
    x = dict(zip(NAMES, args))
    batched, heads = x["query"].ndim == 3, x["num_heads"]
    operands = [x[name] if batched else x[name][:, None] for name in NAMES[:3]]
    rows, n, e = operands[0].shape
    separate = [x[f"{name}_proj_weight"] for name in "qkv"]
    weights = np.split(x["in_proj_weight"], 3) if separate[0] is None else separate
    biases = [0.0] * 3 if x["in_proj_bias"] is None else np.split(x["in_proj_bias"], 3)
    q, k, v = (a @ w.T + b for a, w, b in zip(operands, weights, biases))
    mask = np.zeros((n, heads, rows, len(k)))
    if x["attn_mask"] is not None:
        seen = added(x["attn_mask"])
        mask = mask + (seen.reshape(mask.shape) if seen.ndim == 3 else seen)
    if x["key_padding_mask"] is not None:
        mask = mask + added(x["key_padding_mask"]).reshape(n, 1, 1, -1)
    if x["bias_k"] is not None:
        k = np.concatenate([k, x["bias_k"].repeat(n, 1)])
        v = np.concatenate([v, x["bias_v"].repeat(n, 1)])
    q, k, v = (by_heads(a, heads) for a in (q, k, v))
    if x["static_k"] is not None:
        k, v = (x[f"static_{name}"].reshape(n, heads, -1, e // heads) for name in "kv")
    if x["add_zero_attn"]:
        k, v = (np.concatenate([a, np.zeros_like(a[:, :, :1])], 2) for a in (k, v))
    mask = np.pad(mask, ((0, 0),) * 3 + ((0, k.shape[2] - mask.shape[3]),))
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(e // heads) + mask
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares = shares / shares.sum(-1, keepdims=True)
    y = np.moveaxis(shares @ v, 2, 0).reshape(rows, n, e) @ x["out_proj_weight"].T
    y = y if x["out_proj_bias"] is None else y + x["out_proj_bias"]
    return (y, shares) if batched else (y[:, 0], shares[0])


def layers() -> list[Sample]:
    made = []
    for i, (rows, keys, n, heads, d) in enumerate([(2, 3, 1, 2, 1), (1, 2, 2, 1, 2)]):
        e = heads * d

        def drawn(*shape: int, seed: int = i) -> Any:
            return numbers(shape, 31 * seed + len(shape) + shape[0])

        whole = {"in_proj_weight": drawn(3 * e, e), "in_proj_bias": drawn(3 * e)}
        last = {"out_proj_weight": drawn(e, e) + 0.5, "num_heads": heads}
        three = {"query": drawn(rows, n, e), "key": drawn(keys, n, e), "value": drawn(keys, n, e)}
        one = {name: x[:, 0] for name, x in three.items()}
        apart = {
            f"{name}_proj_weight": numbers((e, width), 7 + width)
            for name, width in zip("qkv", (e, 1, 3))
        }
        other = {"key": numbers((keys, n, 1), 5), "value": numbers((keys, n, 3), 6)}
        hidden = np.zeros((n, keys), bool)
        hidden[:, -1] = True
        for given in (
            three | whole,
            one | whole,
            three | other | apart,
            three | other | apart | {"in_proj_bias": drawn(3 * e)},
            three | whole | {"out_proj_bias": drawn(e)},
            three | whole | {"bias_k": drawn(1, 1, e), "bias_v": numbers((1, 1, e), 3)},
            three | whole | {"add_zero_attn": True},
            three
            | whole
            | {
                "static_k": numbers((n * heads, keys, d), 8),
                "static_v": numbers((n * heads, keys, d), 9),
            },
            three | whole | {"key_padding_mask": hidden},
            one | whole | {"key_padding_mask": numbers((keys,), 4)},
            three | whole | {"attn_mask": numbers((rows, keys), 4)},
            three
            | whole
            | {
                "attn_mask": numbers((n * heads, rows, keys), 4) > 1,
                "key_padding_mask": numbers((n, keys), 5),
                "add_zero_attn": True,
            },
        ):
            made.append(Sample(tuple(listed(given | last))))
    return made


E = ones(2, 1, 4)
GIVEN = {
    **{"query": E, "key": E, "value": E, "num_heads": 2},
    **{"in_proj_weight": ones(12, 4), "out_proj_weight": ones(4, 4)},
}


def refusals(name: str, *last: Any) -> list[Reject]:
    function = getattr(_functional, name)

    def refused(words: str, **given: Any) -> Reject:
        return Reject(
            REFUSED, (f"{name}: argument", words), lambda: function(*listed(GIVEN | given), *last)
        )

    return [
        refused("1 (query) has shape [4], wanted [l, n, e] or [l, e]", query=ones(4)),
        refused("1 (query) is int64, wanted a floating dtype", query=E.long()),
        refused("2 (key) has shape [2, 4], wanted [s, n, e]", key=ones(2, 4)),
        refused("3 (value) has shape [2, 4], wanted [s, n, e]", value=ones(2, 4)),
        refused("4 (num_heads) is 3, wanted a divisor of 4", num_heads=3),
        refused("4 (num_heads) is 0", num_heads=0),
        refused("2 (key) has shape [2, 3, 4]", key=ones(2, 3, 4), value=ones(2, 3, 4)),
        refused("3 (value) has shape [3, 1, 4]", value=ones(3, 1, 4)),
        refused("3 (value) has shape [2, 1, 5], wanted 4 features", value=ones(2, 1, 5)),
        refused("5 (in_proj_weight) has shape [4, 4], wanted [12, 4]", in_proj_weight=ones(4, 4)),
        refused("6 (in_proj_bias) has shape [4], wanted [12]", in_proj_bias=ones(4)),
        refused("7 (q_proj_weight) is a tensor, wanted None", q_proj_weight=ones(4, 4)),
        refused("7 (q_proj_weight) is None", in_proj_weight=None),
        refused("11 (bias_v) is None", bias_k=ones(1, 1, 4)),
        refused("10 (bias_k) has shape [4]", bias_k=ones(4), bias_v=ones(1, 1, 4)),
        refused("12 (static_k) has shape [2, 2, 4], wanted [2, s, 2]", static_k=ones(2, 2, 4)),
        refused("13 (static_v) has other steps", static_v=ones(2, 3, 2)),
        refused("15 (out_proj_weight) has shape [4, 3], wanted [4, 4]", out_proj_weight=ones(4, 3)),
        refused("16 (out_proj_bias) has shape [3]", out_proj_bias=ones(3)),
        refused("17 (key_padding_mask) has shape [2], wanted [n, s]", key_padding_mask=ones(2)),
        refused("17 (key_padding_mask) has shape [1, 3]", key_padding_mask=ones(1, 3)),
        refused("18 (attn_mask) has shape [2, 3], wanted [2, 2]", attn_mask=ones(2, 3)),
        refused("18 (attn_mask) is int64, wanted bool or", attn_mask=ones(2, 2).long()),
        refused("19 (dropout_p) is 1.5", dropout_p=1.5),
    ]


CASES = [
    Case(
        "multi_head_attention",
        lambda *args: _functional.multi_head_attention(*args, False),
        lambda *args: several_heads(*args)[0],
        layers,
        dtypes="f",
        scale=256,
        roundings=24,
        terms=64.0,
        rejects=[
            *refusals("multi_head_attention", False),
            """
            _functional.multi_head_attention(*listed(GIVEN | {"attn_mask": ones(2, 2)}), True)
                # REFUSED: multi_head_attention: argument 20 (is_causal) is true
            """,
        ],
    ),
    Case(
        "multi_head_attention_with_weights",
        lambda *args: _functional.multi_head_attention_with_weights(*args, False),
        several_heads,
        layers,
        dtypes="f",
        scale=256,
        roundings=24,
        terms=64.0,
        rejects=refusals("multi_head_attention_with_weights", False),
    ),
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

# SPDX-License-Identifier: Apache-2.0
"""scaled_dot_product_attention, composed of other operators. To be deleted when the core has it."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math

from .. import _functional, _functions
from .._C import Tensor
from .._errors import ArgumentValueError, DtypeError, ShapeError
from .._types import bfloat16, bool_, float16, float32

_NAME = "scaled_dot_product_attention"


def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor,
                                 attn_mask: Tensor | None = None, dropout_p: float = 0.0,
                                 is_causal: bool = False, scale: float | None = None,
                                 enable_gqa: bool = False) -> Tensor:  # fmt: skip
    """softmax(scale query key^T + mask) value (Vaswani et al. 2017, equation 1).

    Arguments:
        query: [..., l, e], floating
        key, value: [..., s, e] and [..., s, v], of query's dtype
        attn_mask: broadcasts to [..., l, s]; bool: True where a key takes part; floating (float32
            or query's dtype): added to the scores
        dropout_p: a weight becomes 0 with this probability, the others are divided by 1 - p
        is_causal: whether query i reads keys 0 to i only; not with attn_mask
        scale: 1 / sqrt(e) if None
        enable_gqa: whether key and value may have fewer heads (third dimension from the end), each
            of them read by several heads of query in a row

    Result: [..., l, v]. A query without any key gets 0. In 16 bits the sums are those of float32.
    Errors: DTYPE, SHAPE, VALUE (attn_mask with is_causal, dropout_p not from 0 to 1).
    """
    _check(query, key, value, attn_mask, dropout_p, is_causal)
    if enable_gqa:
        key, value = (_repeated(query, x, n) for x, n in ((key, "key"), (value, "value")))
    dtype = query.dtype
    if dtype in (float16, bfloat16):
        query, key, value = query.float(), key.float(), value.float()
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1]) if query.shape[-1] else 1.0
    scores = _functions.matmul(query * scale, key.transpose(-2, -1))
    if is_causal:
        later = _functions.ones(scores.shape[-2:], dtype=bool_, device=query.device).triu(1)
        scores = scores.masked_fill(later, -math.inf)
    weights = scores.softmax(-1) if attn_mask is None else _masked(scores, attn_mask)
    if dropout_p > 0:
        weights = _functional.dropout(weights, dropout_p, True)
    return _functions.matmul(weights, value).to(dtype)


def _masked(scores: Tensor, mask: Tensor) -> Tensor:
    """The weights where a mask may leave a row without keys, which softmax would make NaN."""
    if mask.dtype == bool_:
        scores = scores.masked_fill(~mask, -math.inf)
    else:
        scores = scores + mask.to(scores.dtype)
    if not scores.shape[-1]:
        return scores
    empty = (scores.detach() == -math.inf).all(-1, keepdim=True)
    if not empty.any():
        return scores.softmax(-1)
    # Before and after: the gradient of softmax would be NaN, too.
    return scores.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)


def _repeated(query: Tensor, x: Tensor, name: str) -> Tensor:
    if query.ndim < 3 or x.ndim < 3 or not x.shape[-3] or query.shape[-3] % x.shape[-3]:
        raise ShapeError(f"{_NAME}: argument {'key value'.index(name) // 4 + 2} ({name}) has shape "
                         f"{list(x.shape)}, wanted heads that divide those of query, "
                         f"{list(query.shape)}")  # fmt: skip
    return x.repeat_interleave(query.shape[-3] // x.shape[-3], -3)


def _check(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float,
           is_causal: bool) -> None:  # fmt: skip
    if not query.dtype.is_floating_point:
        raise DtypeError(f"{_NAME}: argument 1 (query) is {query.dtype}, wanted a floating dtype")
    for number, name, x in ((1, "query", query), (2, "key", key), (3, "value", value)):
        if x.ndim < 2:
            raise ShapeError(f"{_NAME}: argument {number} ({name}) has shape {list(x.shape)}, "
                             "wanted two dimensions or more")  # fmt: skip
        if x.dtype != query.dtype:
            raise DtypeError(f"{_NAME}: argument {number} ({name}) is {x.dtype}, wanted query's "
                             f"{query.dtype}")  # fmt: skip
    if key.shape[-2] != value.shape[-2]:
        raise ShapeError(f"{_NAME}: argument 3 (value) has {value.shape[-2]} rows, wanted key's "
                         f"{key.shape[-2]}")  # fmt: skip
    if not 0 <= dropout_p <= 1:
        raise ArgumentValueError(f"{_NAME}: argument 5 (dropout_p) is {dropout_p}, wanted 0 to 1")
    if mask is None:
        return
    if is_causal:
        raise ArgumentValueError(f"{_NAME}: argument 6 (is_causal) is True, wanted False, for "
                                 "attn_mask is given")  # fmt: skip
    if mask.dtype not in (bool_, float32, query.dtype):
        raise DtypeError(f"{_NAME}: argument 4 (attn_mask) is {mask.dtype}, wanted bool, float32 "
                         f"or query's {query.dtype}")  # fmt: skip
    scores = [*query.shape[:-1], key.shape[-2]]
    short = [1] * (len(scores) - mask.ndim) + list(mask.shape)
    batch = max(query.ndim, key.ndim) - 2
    if len(short) > batch + 2 or any(a not in (1, b) for a, b in zip(short[-2:], scores[-2:])):
        raise ShapeError(f"{_NAME}: argument 4 (attn_mask) has shape {list(mask.shape)}, which "
                         f"does not broadcast to [..., {scores[-2]}, {scores[-1]}]")  # fmt: skip

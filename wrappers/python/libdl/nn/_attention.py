# SPDX-License-Identifier: Apache-2.0
"""Attention of several heads as a function, with PyTorch's signature."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any, NoReturn

from .._C import Tensor, overridable
from .._errors import ShapeError
from .._functions import cat, matmul, zeros
from ._attention_masks import canonical_mask

__all__ = ["multi_head_attention_forward"]

_PLACES = {"key": 2, "value": 3, "attn_mask": 17, "key_padding_mask": 15, "bias_k": 8, "bias_v": 9,
           "q_proj_weight": 19, "k_proj_weight": 20, "v_proj_weight": 21, "static_k": 22,
           "static_v": 23, "in_proj_weight": 6, "query": 1, "num_heads": 5}  # fmt: skip


@overridable
def multi_head_attention_forward(
        query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
        in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None,
        bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor,
        out_proj_bias: Tensor | None, training: bool = True,
        key_padding_mask: Tensor | None = None, need_weights: bool = True,
        attn_mask: Tensor | None = None, use_separate_proj_weight: bool = False,
        q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None,
        v_proj_weight: Tensor | None = None, static_k: Tensor | None = None,
        static_v: Tensor | None = None, average_attn_weights: bool = True,
        is_causal: bool = False) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Attention of h heads, each of d = e / h features, between projections (Vaswani et al. 2017,
    section 3.2.2): concat(softmax(q_i k_i^T / sqrt(d) + mask) v_i) W^T + b, with q, k and v
    projected from query, key and value.

    Arguments:
        query: [l, n, e], or [l, e] without a batch; floating
        key, value: [s, n, ek] and [s, n, ev], or [s, ek] and [s, ev]
        embed_dim_to_check: e
        num_heads: h
        in_proj_weight, in_proj_bias: [3 e, e] and [3 e] (or None): projections of q, k and v
        bias_k, bias_v: [1, 1, e] or None: one more key and value, appended to all sequences
        add_zero_attn: whether a key and a value of zeros are appended
        dropout_p: a weight becomes 0 with this probability if training is True
        out_proj_weight, out_proj_bias: W [e, e] and b [e] (or None)
        key_padding_mask: [n, s], or [s] without a batch; bool: True where a key is left out;
            floating: added to the scores
        need_weights: whether the weights are returned, which costs time and memory; without them,
            scaled_dot_product_attention computes, which gives 0 where all keys are left out (with
            them it is NaN)
        attn_mask: [l, s] or [n h, l, s], like key_padding_mask
        use_separate_proj_weight: whether q_proj_weight [e, e], k_proj_weight [e, ek] and
            v_proj_weight [e, ev] are read instead of in_proj_weight
        static_k, static_v: [n h, s, d]: read instead of the projected key and value
        average_attn_weights: whether the weights are the mean over the heads
        is_causal: promises that attn_mask is the causal one, which is then not read if there is no
            key_padding_mask and no weights are needed

    Result: [l, n, e] or [l, e], and the weights after dropout: [n, l, s], or [n, h, l, s] without
    the mean, without n if there is no batch; or None.

    Errors: as in PyTorch, AssertionError (dimensions, embed_dim_to_check, num_heads, weights or
    masks that do not fit) and RuntimeError (attn_mask of a wrong shape, is_causal without it).
    """
    batched = _batched(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    if is_causal and attn_mask is None:
        raise RuntimeError("multi_head_attention_forward: argument 17 (attn_mask) is None, wanted "
                           "the causal mask that is_causal promises: "
                           "Transformer.generate_square_subsequent_mask makes it")  # fmt: skip
    # Where the promise is believed, the mask is not read: scaled_dot_product_attention has its own.
    is_causal = is_causal and key_padding_mask is None and not need_weights
    if is_causal:
        attn_mask = None
    _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)

    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias, separate)
    mask = _by_head(attn_mask, query, key, num_heads)
    padding = canonical_mask(key_padding_mask, "key_padding_mask", target_type=query.dtype)
    _check_biases(bias_k, bias_v, static_k, static_v)
    appended = int(bias_k is not None) + int(add_zero_attn)
    if bias_k is not None and bias_v is not None:
        k, v = (cat([x, b.expand(1, x.shape[1], -1)]) for x, b in ((k, bias_k), (v, bias_v)))

    if static_k is None and key.shape[1] != query.shape[1]:
        _refuse(ShapeError, "key", f"has a batch of {key.shape[1]}, wanted {query.shape[1]}")
    q = _in_heads(q, num_heads)
    k = _in_heads(k, num_heads) if static_k is None else _static(static_k, "static_k", q)
    v = _in_heads(v, num_heads) if static_v is None else _static(static_v, "static_v", q)
    if add_zero_attn:
        k, v = (cat([x, zeros(*x.shape[:2], 1, x.shape[3], dtype=x.dtype, device=x.device)], 2)
                for x in (k, v))  # fmt: skip
    mask = _merged(mask, padding, appended, k)

    weights = None
    p = dropout_p if training else 0.0
    if need_weights:
        y, weights = _with_weights(q, k, v, mask, p, average_attn_weights)
    else:
        y = _functions_of_networks().scaled_dot_product_attention(q, k, v, mask, p, is_causal)
    y = _functions_of_networks().linear(y.permute(2, 0, 1, 3).flatten(2), out_proj_weight, out_proj_bias)
    if not batched:
        y, weights = y.squeeze(1), None if weights is None else weights.squeeze(0)
    return y, weights


def _functions_of_networks() -> Any:
    """nn.functional, whose functions a program may have replaced."""
    from . import functional

    return functional


def _refuse(kind: type[Exception], name: str, text: str) -> NoReturn:
    raise kind(f"multi_head_attention_forward: argument {_PLACES[name]} ({name}) {text}")


def _batched(query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None,
             attn_mask: Tensor | None, num_heads: int) -> bool:  # fmt: skip
    """Whether there is a batch, if all numbers of dimensions fit."""
    if query.ndim not in (2, 3):
        _refuse(AssertionError, "query", f"is {query.ndim}D, wanted 2D (without a batch) or 3D")
    dims = query.ndim
    for name, x, wanted in (
        ("key", key, (dims,)), ("value", value, (dims,)), ("attn_mask", attn_mask, (2, 3)),
        ("key_padding_mask", key_padding_mask, (dims - 1,)),
    ):  # fmt: skip
        if x is not None and x.ndim not in wanted:
            shown = " or ".join(f"{n}D" for n in wanted)
            _refuse(AssertionError, name, f"is {x.ndim}D, wanted {shown} for a {dims}D query")
    if dims == 2 and attn_mask is not None and attn_mask.ndim == 3:
        shape = (num_heads, query.shape[0], key.shape[0])
        if tuple(attn_mask.shape) != shape:
            _refuse(AssertionError, "attn_mask", f"has shape {list(attn_mask.shape)}, wanted "
                    f"{list(shape)}")  # fmt: skip
    return dims == 3


def _check_sizes(query: Tensor, key: Tensor, value: Tensor, embed_dim: int, num_heads: int,
                 separate: bool) -> None:  # fmt: skip
    if query.shape[2] != embed_dim:
        _refuse(AssertionError, "query", f"has {query.shape[2]} features, wanted {embed_dim}")
    if embed_dim % num_heads:
        _refuse(AssertionError, "num_heads", f"is {num_heads}, wanted a divisor of {embed_dim}")
    same = 2 if separate else 3
    if key.shape[:same] != value.shape[:same]:
        _refuse(AssertionError, "value", f"has shape {list(value.shape)}, wanted "
                f"{'the first two sizes' if separate else 'the shape'} of key, "
                f"{list(key.shape)}")  # fmt: skip


def _projected(query: Tensor, key: Tensor, value: Tensor, weight: Tensor | None,
               bias: Tensor | None, separate: Any) -> Any:  # fmt: skip
    """q, k and v, each [steps, n, e]."""
    if separate is not None:
        biases = (None,) * 3 if bias is None else bias.chunk(3)
        for name, x, w in zip(("q", "k", "v"), (query, key, value), separate):
            shape = (query.shape[2], x.shape[2])
            if w is None or tuple(w.shape) != shape:
                found = "is None" if w is None else f"has shape {list(w.shape)}"
                _refuse(AssertionError, f"{name}_proj_weight", f"{found}, wanted {list(shape)}")
        return tuple(map(_functions_of_networks().linear, (query, key, value), separate, biases))
    if weight is None:
        _refuse(AssertionError, "in_proj_weight", "is None, wanted the projections' weights")
    e = query.shape[2]
    if key is value and query is key:  # one product instead of three
        return _functions_of_networks().linear(query, weight, bias).unflatten(-1, (3, e)).unbind(-2)
    if key is value:
        w, ws = weight.split([e, 2 * e])
        b, bs = (None, None) if bias is None else bias.split([e, 2 * e])
        k, v = _functions_of_networks().linear(key, ws, bs).unflatten(-1, (2, e)).unbind(-2)
        return _functions_of_networks().linear(query, w, b), k, v
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    return tuple(map(_functions_of_networks().linear, (query, key, value), weight.chunk(3), biases))


def _by_head(mask: Tensor | None, query: Tensor, key: Tensor, num_heads: int) -> Tensor | None:
    """attn_mask as numbers, [1, 1, l, s] or [n, h, l, s]."""
    mask = canonical_mask(mask, "attn_mask", target_type=query.dtype)
    if mask is None:
        return None
    shape = [query.shape[0], key.shape[0]]
    if mask.ndim == 3:
        shape = [query.shape[1] * num_heads, *shape]
    if list(mask.shape) != shape:
        _refuse(RuntimeError, "attn_mask", f"has shape {list(mask.shape)}, wanted {shape}")
    if mask.ndim == 2:
        return mask.view(1, 1, *shape)
    return mask.unflatten(0, (query.shape[1], num_heads))


def _check_biases(bias_k: Tensor | None, bias_v: Tensor | None, static_k: Tensor | None,
                  static_v: Tensor | None) -> None:  # fmt: skip
    if (bias_k is None) != (bias_v is None):
        absent, given = ("bias_k", "bias_v") if bias_k is None else ("bias_v", "bias_k")
        _refuse(AssertionError, absent, f"is None, wanted a tensor, for {given} is given")
    for name, static in (("static_k", static_k), ("static_v", static_v)):
        if bias_k is not None and static is not None:
            _refuse(AssertionError, name, "is a tensor, wanted None, for bias_k is given")


def _in_heads(x: Tensor, num_heads: int) -> Tensor:
    """[steps, n, e] as [n, h, steps, d]."""
    return x.unflatten(2, (num_heads, -1)).permute(1, 2, 0, 3)


def _static(given: Tensor, name: str, q: Tensor) -> Tensor:
    """[n h, s, d] as [n, h, s, d]."""
    n, h, _, d = q.shape
    if given.shape[0] != n * h or given.shape[2] != d:
        _refuse(AssertionError, name, f"has shape {list(given.shape)}, wanted [{n * h}, s, {d}]")
    return given.unflatten(0, (n, h))


def _merged(mask: Tensor | None, padding: Tensor | None, appended: int,
            k: Tensor) -> Tensor | None:  # fmt: skip
    """The sum of both masks, in the dtype of k, with a column of zeros for each appended key."""
    if mask is not None and appended:
        mask = _functions_of_networks().pad(mask, (0, appended))
    if padding is not None:
        if appended:
            padding = _functions_of_networks().pad(padding, (0, appended))
        n, s = k.shape[0], k.shape[2]
        if tuple(padding.shape) != (n, s):
            _refuse(AssertionError, "key_padding_mask", f"has shape "
                    f"{[padding.shape[0], padding.shape[1] - appended]}, wanted "
                    f"{[n, s - appended]}")  # fmt: skip
        padding = padding.view(n, 1, 1, s)
        mask = padding if mask is None else mask + padding
    return None if mask is None else mask.to(k.dtype)


def _with_weights(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, p: float,
                  average: bool) -> tuple[Tensor, Tensor]:  # fmt: skip
    scores = matmul(q * math.sqrt(1 / q.shape[3]), k.transpose(2, 3))
    weights = (scores if mask is None else scores + mask).softmax(-1)
    if p > 0:
        weights = _functions_of_networks().dropout(weights, p, True)
    return matmul(weights, v), weights.mean(1) if average else weights

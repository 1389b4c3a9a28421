# SPDX-License-Identifier: Apache-2.0
"""Attention of several heads as a module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._C import Tensor
from .._functions import empty
from . import functional as F, init
from .layer import Linear
from .module import Module
from .parameter import Parameter


class NonDynamicallyQuantizableLinear(Linear):
    """Linear; PyTorch's name for the last projection of attention."""


class MultiheadAttention(Module):
    """Attention of num_heads heads between projections; the formula is that of
    functional.multi_head_attention_forward.

    Arguments:
        embed_dim: features of query and result; a multiple of num_heads
        num_heads: heads, each of embed_dim / num_heads features
        dropout: in training, a weight becomes 0 with this probability
        bias: whether the projections add biases
        add_bias_kv: whether parameters bias_k and bias_v are appended to key and value
        add_zero_attn: whether zeros are appended to key and value
        kdim, vdim: features of key and value; None: embed_dim
        batch_first: whether the batch comes before the steps

    Parameters: in_proj_weight [3 embed_dim, embed_dim], or q_proj_weight, k_proj_weight and
    v_proj_weight if kdim or vdim differ from embed_dim; in_proj_bias; bias_k, bias_v; out_proj.

    Errors: ValueError (embed_dim or num_heads not positive), AssertionError (embed_dim no multiple
    of num_heads).

    Shape: query [l, n, embed_dim], key [s, n, kdim] and value [s, n, vdim] to output [l, n,
    embed_dim] and weights [n, l, s], or [n, num_heads, l, s] without their average; with
    batch_first n comes first; all without n for one sequence.

    Initialisation: input projections from U(-a, a), a = sqrt(6 / (fan_in + fan_out)) of each weight
    (init.xavier_uniform_), so sqrt(6 / (4 embed_dim)) for in_proj_weight; out_proj.weight from
    U(-k, k), k = 1 / sqrt(embed_dim); in_proj_bias = 0, out_proj.bias = 0; bias_k and bias_v from
    N(0, 1 / embed_dim).
    """

    in_proj_weight: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
                 add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: int | None = None,
                 vdim: int | None = None, batch_first: bool = False, device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
        for name, given in (("embed_dim", embed_dim), ("num_heads", num_heads)):
            if given <= 0:
                raise ValueError(f"MultiheadAttention: {name} is {given}, wanted more than 0")
        if embed_dim % num_heads:
            raise AssertionError(f"MultiheadAttention: embed_dim is {embed_dim}, wanted a multiple "
                                 f"of num_heads, {num_heads}")  # fmt: skip
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn

        same = self._qkv_same_embed_dim
        for name, wanted, shape in (
            ("q_proj_weight", not same, (embed_dim, embed_dim)),
            ("k_proj_weight", not same, (embed_dim, self.kdim)),
            ("v_proj_weight", not same, (embed_dim, self.vdim)),
            ("in_proj_weight", same, (3 * embed_dim, embed_dim)),
            ("in_proj_bias", bias, (3 * embed_dim,)),
        ):  # fmt: skip
            made = Parameter(empty(*shape, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, made)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            self.bias_k = Parameter(empty(1, 1, embed_dim, device=device, dtype=dtype))
            self.bias_v = Parameter(empty(1, 1, embed_dim, device=device, dtype=dtype))
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if (weight := getattr(self, name)) is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None and self.out_proj.bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    if TYPE_CHECKING:

        def __call__(self, query: Tensor, key: Tensor, value: Tensor,
                     key_padding_mask: Tensor | None = None, need_weights: bool = True,
                     attn_mask: Tensor | None = None, average_attn_weights: bool = True,
                     is_causal: bool = False) -> tuple[Tensor, Tensor | None]: ...  # fmt: skip

    def forward(self, query: Tensor, key: Tensor, value: Tensor,
                key_padding_mask: Tensor | None = None, need_weights: bool = True,
                attn_mask: Tensor | None = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """query [l, n, e], key [s, n, kdim] and value [s, n, vdim] (batch_first: [n, l, e], ...;
        without a batch: [l, e], ...); the masks, the weights and is_causal are those of
        functional.multi_head_attention_forward."""
        turned = self.batch_first and query.ndim == key.ndim == value.ndim == 3
        if turned:  # what is one tensor stays one: it is projected by one product
            k = key.transpose(0, 1)
            v = k if value is key else value.transpose(0, 1)
            query, key, value = k if query is key else query.transpose(0, 1), k, v
        y, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight,
            self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn, self.dropout,
            self.out_proj.weight, self.out_proj.bias, self.training, key_padding_mask, need_weights,
            attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight, self.k_proj_weight,
            self.v_proj_weight, None, None, average_attn_weights, is_causal)  # fmt: skip
        return y.transpose(0, 1) if turned else y, weights

    def merge_masks(self, attn_mask: Tensor | None, key_padding_mask: Tensor | None,
                    query: Tensor) -> tuple[Tensor | None, int | None]:  # fmt: skip
        """Both masks, of numbers, as one, and its kind, for a query [n, l, e] that is also the
        key: None; 1: key_padding_mask [n, l] as it is; 2: [n, num_heads, l, l], the sum."""
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        n, steps, _ = query.shape
        if attn_mask.ndim == 3:
            merged = attn_mask.view(n, -1, steps, steps)
        else:
            merged = attn_mask.view(1, 1, steps, steps).expand(n, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(n, 1, 1, steps)
        return merged, 2

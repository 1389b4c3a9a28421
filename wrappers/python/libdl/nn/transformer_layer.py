# SPDX-License-Identifier: Apache-2.0
"""The layers of which transformers are stacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._C import Tensor
from . import functional as F
from .activation import GELU, ReLU
from .layer import Dropout, LayerNorm, Linear
from .module import Module
from .multihead import MultiheadAttention

Activation = str | Callable[[Tensor], Tensor]


def activation_of(given: Activation) -> Callable[[Tensor], Tensor]:
    """The function that "relu" or "gelu" names, or what was given instead of a name."""
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation is {given!r}, wanted 'relu', 'gelu' or a function")
    return F.relu if given == "relu" else F.gelu


def _number_of(activation: Any) -> int:
    """1 for relu, 2 for gelu, 0 for others; what PyTorch's exporters read."""
    if activation is F.relu or isinstance(activation, ReLU):
        return 1
    return 2 if activation is F.gelu or isinstance(activation, GELU) else 0


class TransformerEncoderLayer(Module):
    """Self-attention, then two linear layers, each with a residual connection and normalised.

    y = norm1(x + dropout1(self_attn(x))), then norm2(y + dropout2(linear2(dropout(activation(
    linear1(y)))))) (Vaswani et al. 2017, section 3.1); with norm_first the normalisation comes
    before the attention and the layers (Xiong et al. 2020, figure 1).

    Arguments:
        d_model: features of input and result
        nhead: heads of the attention
        dim_feedforward: features between the two linear layers
        dropout: probability of all dropouts
        activation: "relu", "gelu" or a function (a module becomes a submodule)
        layer_norm_eps: what the normalisations add to the variance
        batch_first: whether the batch comes before the steps
        norm_first: whether the normalisations come first
        bias: whether linear layers, projections and normalisations add biases

    Errors: RuntimeError (another name of an activation), and those of MultiheadAttention.

    Shape: [l, n, d_model], or [n, l, d_model] with batch_first, or [l, d_model]; the result has the
    same.

    Initialisation: that of MultiheadAttention and of Linear (U(-k, k), k = 1 / sqrt(in_features));
    normalisations: weight = 1, bias = 0.
    """

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: Activation = F.relu, layer_norm_eps: float = 1e-5,
                 batch_first: bool = False, norm_first: bool = False, bias: bool = True,
                 device: Any = None, dtype: Any = None) -> None:  # fmt: skip
        how = {"device": device, "dtype": dtype}
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first,
                                            **how)  # fmt: skip
        self.linear1 = Linear(d_model, dim_feedforward, bias, **how)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **how)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **how)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **how)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.activation = activation_of(activation)
        self.activation_relu_or_gelu = _number_of(self.activation)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = F.relu

    if TYPE_CHECKING:

        def __call__(self, src: Tensor, src_mask: Tensor | None = None,
                     src_key_padding_mask: Tensor | None = None,
                     is_causal: bool = False) -> Tensor: ...  # fmt: skip

    def forward(self, src: Tensor, src_mask: Tensor | None = None,
                src_key_padding_mask: Tensor | None = None,
                is_causal: bool = False) -> Tensor:  # fmt: skip
        """src [s, n, d_model] ([n, s, d_model], [s, d_model]) to the same shape; the masks and
        is_causal are those of functional.multi_head_attention_forward."""
        x = src
        masks = (src_mask, src_key_padding_mask, is_causal)
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *masks)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, *masks))
        return self.norm2(x + self._ff_block(x))

    def _sa_block(self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None,
                  is_causal: bool = False) -> Tensor:  # fmt: skip
        y, _ = self.self_attn(x, x, x, key_padding_mask, False, attn_mask, is_causal=is_causal)
        return self.dropout1(y)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerDecoderLayer(Module):
    """Self-attention, attention to an encoder's result, then two linear layers, each with a
    residual connection and normalised. Arguments and sources as of TransformerEncoderLayer.

    Shape: tgt [l, n, d_model] and memory [s, n, d_model] to [l, n, d_model]; with batch_first n
    comes first; all without n for one sequence.

    Initialisation: that of TransformerEncoderLayer.
    """

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: Activation = F.relu, layer_norm_eps: float = 1e-5,
                 batch_first: bool = False, norm_first: bool = False, bias: bool = True,
                 device: Any = None, dtype: Any = None) -> None:  # fmt: skip
        how = {"device": device, "dtype": dtype}
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first,
                                            **how)  # fmt: skip
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias,
                                                 batch_first=batch_first, **how)  # fmt: skip
        self.linear1 = Linear(d_model, dim_feedforward, bias, **how)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **how)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **how)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **how)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, bias=bias, **how)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = activation_of(activation)

    if TYPE_CHECKING:

        def __call__(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None,
                     memory_mask: Tensor | None = None, tgt_key_padding_mask: Tensor | None = None,
                     memory_key_padding_mask: Tensor | None = None, tgt_is_causal: bool = False,
                     memory_is_causal: bool = False) -> Tensor: ...  # fmt: skip

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None,
                memory_mask: Tensor | None = None, tgt_key_padding_mask: Tensor | None = None,
                memory_key_padding_mask: Tensor | None = None, tgt_is_causal: bool = False,
                memory_is_causal: bool = False) -> Tensor:  # fmt: skip
        """tgt [t, n, d_model] and memory [s, n, d_model] ([n, t, d_model], [t, d_model]) to tgt's
        shape; masks and promises of tgt concern the self-attention, those of memory the other."""
        x = tgt
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, *other))
        return self.norm3(x + self._ff_block(x))

    def _sa_block(self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None,
                  is_causal: bool = False) -> Tensor:  # fmt: skip
        y, _ = self.self_attn(x, x, x, key_padding_mask, False, attn_mask, is_causal=is_causal)
        return self.dropout1(y)

    def _mha_block(self, x: Tensor, mem: Tensor, attn_mask: Tensor | None,
                   key_padding_mask: Tensor | None, is_causal: bool = False) -> Tensor:  # fmt: skip
        y, _ = self.multihead_attn(x, mem, mem, key_padding_mask, False, attn_mask,
                                   is_causal=is_causal)  # fmt: skip
        return self.dropout2(y)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))

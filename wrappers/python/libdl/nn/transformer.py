# SPDX-License-Identifier: Apache-2.0
"""Transformers: stacks of the layers in transformer_layer.py."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from .._C import Tensor
from . import functional as F, init
from ._attention_masks import (
    canonical_mask, is_causal_mask, sequence_length, square_subsequent_mask,
)  # fmt: skip
from .container import ModuleList
from .layer import LayerNorm
from .module import Module
from .transformer_layer import Activation, TransformerDecoderLayer, TransformerEncoderLayer


def clones(module: Module, N: int) -> ModuleList[Any]:
    """N copies of a module, with parameters of their own."""
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


class TransformerEncoder(Module):
    """num_layers copies of a layer, one after the other, then norm. The copies begin with the same
    parameters.

    Arguments:
        encoder_layer: a TransformerEncoderLayer, or a module that is called like one and has an
            attribute self_attn.batch_first
        num_layers: how many copies
        norm: a module, or None
        enable_nested_tensor, mask_check: accepted and change nothing: there are no nested tensors,
            and use_nested_tensor is always False

    Shape: that of its layers; the result has the same.

    Initialisation: the copied layer's parameters, in every copy.
    """

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None,
                 enable_nested_tensor: bool = True, mask_check: bool = True) -> None:  # fmt: skip
        super().__init__()
        self.layers = clones(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        self.use_nested_tensor = False

    if TYPE_CHECKING:

        def __call__(self, src: Tensor, mask: Tensor | None = None,
                     src_key_padding_mask: Tensor | None = None,
                     is_causal: bool | None = None) -> Tensor: ...  # fmt: skip

    def forward(self, src: Tensor, mask: Tensor | None = None,
                src_key_padding_mask: Tensor | None = None,
                is_causal: bool | None = None) -> Tensor:  # fmt: skip
        """The result of the last layer, normalised. is_causal: whether mask is the causal one;
        None: it is compared with it."""
        padding = canonical_mask(src_key_padding_mask, "src_key_padding_mask",
                                 target_type=src.dtype)  # fmt: skip
        mask = canonical_mask(mask, "mask", target_type=src.dtype)
        steps = sequence_length(src, self.layers[0].self_attn.batch_first)
        is_causal = is_causal_mask(mask, is_causal, steps)
        y = src
        for layer in self.layers:
            y = layer(y, src_mask=mask, is_causal=is_causal, src_key_padding_mask=padding)
        return y if self.norm is None else self.norm(y)


class TransformerDecoder(Module):
    """num_layers copies of a layer, one after the other, then norm. The copies begin with the same
    parameters.

    Arguments:
        decoder_layer: a TransformerDecoderLayer, or a module that is called like one and has an
            attribute self_attn.batch_first
        num_layers: how many copies
        norm: a module, or None

    Shape: tgt and memory as of its layers; the result has tgt's.

    Initialisation: the copied layer's parameters, in every copy.
    """

    def __init__(self, decoder_layer: Module, num_layers: int,
                 norm: Module | None = None) -> None:  # fmt: skip
        super().__init__()
        self.layers = clones(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    if TYPE_CHECKING:

        def __call__(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None,
                     memory_mask: Tensor | None = None, tgt_key_padding_mask: Tensor | None = None,
                     memory_key_padding_mask: Tensor | None = None,
                     tgt_is_causal: bool | None = None,
                     memory_is_causal: bool = False) -> Tensor: ...  # fmt: skip

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None,
                memory_mask: Tensor | None = None, tgt_key_padding_mask: Tensor | None = None,
                memory_key_padding_mask: Tensor | None = None, tgt_is_causal: bool | None = None,
                memory_is_causal: bool = False) -> Tensor:  # fmt: skip
        """The result of the last layer, normalised. tgt_is_causal: whether tgt_mask is the causal
        one; None: it is compared with it."""
        steps = sequence_length(tgt, self.layers[0].self_attn.batch_first)
        causal = is_causal_mask(tgt_mask, tgt_is_causal, steps)
        y = tgt
        for layer in self.layers:
            y = layer(
                y, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=causal,
                memory_is_causal=memory_is_causal)  # fmt: skip
        return y if self.norm is None else self.norm(y)


class Transformer(Module):
    """An encoder, and a decoder that reads its result (Vaswani et al. 2017).

    Arguments:
        d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias: those of TransformerEncoderLayer
        num_encoder_layers, num_decoder_layers: how many layers each of them has
        custom_encoder, custom_decoder: modules that are called like TransformerEncoder and
            TransformerDecoder, instead of them

    All parameters of two or more dimensions, also those of custom modules, are drawn anew by
    init.xavier_uniform_.

    Shape: src [s, n, d_model] and tgt [l, n, d_model] to [l, n, d_model]; with batch_first n comes
    first; all without n for one sequence.

    Initialisation: parameters of two or more dimensions from U(-a, a), a = sqrt(6 / (fan_in +
    fan_out)); the others as in their layers.
    """

    def __init__(self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6,
                 num_decoder_layers: int = 6, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: Activation = F.relu, custom_encoder: Any = None,
                 custom_decoder: Any = None, layer_norm_eps: float = 1e-5,
                 batch_first: bool = False, norm_first: bool = False, bias: bool = True,
                 device: Any = None, dtype: Any = None) -> None:  # fmt: skip
        super().__init__()
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
                   batch_first, norm_first, bias, device, dtype)  # fmt: skip
        norm = (d_model, layer_norm_eps, True, bias, device, dtype)
        if custom_encoder is None:
            custom_encoder = TransformerEncoder(
                TransformerEncoderLayer(*options), num_encoder_layers, LayerNorm(*norm))
        self.encoder = custom_encoder
        if custom_decoder is None:
            custom_decoder = TransformerDecoder(
                TransformerDecoderLayer(*options), num_decoder_layers, LayerNorm(*norm))
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    if TYPE_CHECKING:

        def __call__(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None,
                     tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
                     src_key_padding_mask: Tensor | None = None,
                     tgt_key_padding_mask: Tensor | None = None,
                     memory_key_padding_mask: Tensor | None = None,
                     src_is_causal: bool | None = None, tgt_is_causal: bool | None = None,
                     memory_is_causal: bool = False) -> Tensor: ...  # fmt: skip

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None,
                tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
                src_key_padding_mask: Tensor | None = None,
                tgt_key_padding_mask: Tensor | None = None,
                memory_key_padding_mask: Tensor | None = None, src_is_causal: bool | None = None,
                tgt_is_causal: bool | None = None,
                memory_is_causal: bool = False) -> Any:  # fmt: skip
        """src [s, n, d_model] and tgt [t, n, d_model] (batch_first: [n, s, d_model], ...; without
        a batch: [s, d_model], ...) to tgt's shape. Masks: src_mask [s, s], tgt_mask [t, t] and
        memory_mask [t, s], or each with [n nhead, ...]; paddings [n, s], [n, t] and [n, s].

        Errors: RuntimeError (batches or features that do not fit).
        """
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError(f"Transformer: argument 2 (tgt) has a batch of {tgt.shape[batch]}, "
                               f"wanted that of src, {src.shape[batch]}")  # fmt: skip
        for number, name, x in ((1, "src", src), (2, "tgt", tgt)):
            if x.shape[-1] != self.d_model:
                raise RuntimeError(f"Transformer: argument {number} ({name}) has {x.shape[-1]} "
                                   f"features, wanted d_model, {self.d_model}")  # fmt: skip
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask,
                              is_causal=src_is_causal)  # fmt: skip
        return self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal)  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None,
                                        dtype: Any = None) -> Tensor:  # fmt: skip
        """The causal mask [sz, sz]: -inf above the diagonal, 0 elsewhere."""
        return square_subsequent_mask(sz, device, dtype)

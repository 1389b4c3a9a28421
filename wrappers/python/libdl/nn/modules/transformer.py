# SPDX-License-Identifier: Apache-2.0
"""Transformers: stacks of layers with attention."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..._C import Tensor
from ..._functions import full
from ..._types import DeviceLike, DtypeLike, FactoryOptions, bool_
from .. import functional as F, init
from .activation import GELU, MultiheadAttention, ReLU
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

__all__ = [
    "Transformer",
    "TransformerEncoder",
    "TransformerDecoder",
    "TransformerEncoderLayer",
    "TransformerDecoderLayer",
]

Activation = str | Callable[[Tensor], Tensor]


def _generate_square_subsequent_mask(
    sz: int, device: DeviceLike | None = None, dtype: DtypeLike | None = None
) -> Tensor:
    """[sz, sz]: -inf above the diagonal, 0 elsewhere; True and False in bool."""
    fill: Any = True if dtype == bool_ else -math.inf
    return full((sz, sz), fill, dtype=dtype, device=device).triu(1)


def _detect_is_causal_mask(
    mask: Tensor | None, is_causal: bool | None = None, size: int | None = None
) -> bool:
    """The hint is_causal, or without one whether the mask is the causal one of size steps."""
    if is_causal is not None or mask is None:
        return is_causal is True
    if mask.is_meta:
        return False
    expected = _generate_square_subsequent_mask(mask.shape[-2] if size is None else size)
    if mask.shape != expected.shape:
        return False
    if mask.dtype == bool_:
        expected = expected != 0
    return bool((mask == expected.to(mask.device)).all())


def _get_seq_len(src: Tensor, batch_first: bool) -> int:
    """The number of steps of [s, e], [s, n, e] or, with batch_first, [n, s, e]."""
    return int(src.shape[1 if src.ndim != 2 and batch_first else 0])


def _get_clones(module: Module, N: int) -> ModuleList[Any]:
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

    __constants__ = ["norm"]

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        self.use_nested_tensor = False

    if TYPE_CHECKING:

        def __call__(
            self,
            src: Tensor,
            mask: Tensor | None = None,
            src_key_padding_mask: Tensor | None = None,
            is_causal: bool | None = None,
        ) -> Tensor: ...

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """The result of the last layer, normalised. is_causal: whether mask is the causal one;
        None: it is compared with it."""
        padding = F._canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", target_type=src.dtype
        )
        mask = F._canonical_mask(mask, "mask", target_type=src.dtype)
        steps = _get_seq_len(src, self.layers[0].self_attn.batch_first)
        is_causal = _detect_is_causal_mask(mask, is_causal, steps)
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

    __constants__ = ["norm"]

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    if TYPE_CHECKING:

        def __call__(
            self,
            tgt: Tensor,
            memory: Tensor,
            tgt_mask: Tensor | None = None,
            memory_mask: Tensor | None = None,
            tgt_key_padding_mask: Tensor | None = None,
            memory_key_padding_mask: Tensor | None = None,
            tgt_is_causal: bool | None = None,
            memory_is_causal: bool = False,
        ) -> Tensor: ...

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The result of the last layer, normalised. tgt_is_causal: whether tgt_mask is the causal
        one; None: it is compared with it."""
        steps = _get_seq_len(tgt, self.layers[0].self_attn.batch_first)
        causal = _detect_is_causal_mask(tgt_mask, tgt_is_causal, steps)
        y = tgt
        for layer in self.layers:
            y = layer(
                y,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
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

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        super().__init__()
        options = (
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
            device,
            dtype,
        )
        norm = (d_model, layer_norm_eps, True, bias, device, dtype)
        if custom_encoder is None:
            custom_encoder = TransformerEncoder(
                TransformerEncoderLayer(*options), num_encoder_layers, LayerNorm(*norm)
            )
        self.encoder = custom_encoder
        if custom_decoder is None:
            custom_decoder = TransformerDecoder(
                TransformerDecoderLayer(*options), num_decoder_layers, LayerNorm(*norm)
            )
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    if TYPE_CHECKING:

        def __call__(
            self,
            src: Tensor,
            tgt: Tensor,
            src_mask: Tensor | None = None,
            tgt_mask: Tensor | None = None,
            memory_mask: Tensor | None = None,
            src_key_padding_mask: Tensor | None = None,
            tgt_key_padding_mask: Tensor | None = None,
            memory_key_padding_mask: Tensor | None = None,
            src_is_causal: bool | None = None,
            tgt_is_causal: bool | None = None,
            memory_is_causal: bool = False,
        ) -> Tensor: ...

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """src [s, n, d_model] and tgt [t, n, d_model] (batch_first: [n, s, d_model], ...; without
        a batch: [s, d_model], ...) to tgt's shape. Masks: src_mask [s, s], tgt_mask [t, t] and
        memory_mask [t, s], or each with [n nhead, ...]; paddings [n, s], [n, t] and [n, s].

        Errors: RuntimeError (batches or features that do not fit).
        """
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError(
                f"Transformer: argument 2 (tgt) has a batch of {tgt.shape[batch]}, "
                f"wanted that of src, {src.shape[batch]}"
            )
        for number, name, x in ((1, "src", src), (2, "tgt", tgt)):
            if x.shape[-1] != self.d_model:
                raise RuntimeError(
                    f"Transformer: argument {number} ({name}) has {x.shape[-1]} "
                    f"features, wanted d_model, {self.d_model}"
                )
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        output: Tensor = self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )
        return output

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: DeviceLike | None = None, dtype: DtypeLike | None = None
    ) -> Tensor:
        """The causal mask [sz, sz]: -inf above the diagonal, 0 elsewhere."""
        return _generate_square_subsequent_mask(sz, device, dtype)


def _get_activation_fn(value: Activation) -> Callable[[Tensor], Tensor]:
    """The function that "relu" or "gelu" names, or what was given instead of a name."""
    if not isinstance(value, str):
        return value
    if value not in ("relu", "gelu"):
        raise RuntimeError(f"activation is {value!r}, wanted 'relu', 'gelu' or a function")
    return F.relu if value == "relu" else F.gelu


def _number_of(activation: object) -> int:
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

    __constants__ = ["norm_first"]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        how: FactoryOptions = {"device": device, "dtype": dtype}
        super().__init__()
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, **how
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias, **how)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **how)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **how)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **how)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.activation = _get_activation_fn(activation)
        self.activation_relu_or_gelu = _number_of(self.activation)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = F.relu

    if TYPE_CHECKING:

        def __call__(
            self,
            src: Tensor,
            src_mask: Tensor | None = None,
            src_key_padding_mask: Tensor | None = None,
            is_causal: bool = False,
        ) -> Tensor: ...

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """src [s, n, d_model] ([n, s, d_model], [s, d_model]) to the same shape; the masks and
        is_causal are those of functional.multi_head_attention_forward."""
        x = src
        masks = (src_mask, src_key_padding_mask, is_causal)
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *masks)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, *masks))
        return self.norm2(x + self._ff_block(x))

    def _sa_block(
        self,
        x: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
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

    __constants__ = ["norm_first"]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        how: FactoryOptions = {"device": device, "dtype": dtype}
        super().__init__()
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, **how
        )
        self.multihead_attn = MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, **how
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias, **how)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **how)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **how)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **how)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, bias=bias, **how)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = _get_activation_fn(activation)

    if TYPE_CHECKING:

        def __call__(
            self,
            tgt: Tensor,
            memory: Tensor,
            tgt_mask: Tensor | None = None,
            memory_mask: Tensor | None = None,
            tgt_key_padding_mask: Tensor | None = None,
            memory_key_padding_mask: Tensor | None = None,
            tgt_is_causal: bool = False,
            memory_is_causal: bool = False,
        ) -> Tensor: ...

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
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

    def _sa_block(
        self,
        x: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        y, _ = self.self_attn(x, x, x, key_padding_mask, False, attn_mask, is_causal=is_causal)
        return self.dropout1(y)

    def _mha_block(
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        y, _ = self.multihead_attn(
            x, mem, mem, key_padding_mask, False, attn_mask, is_causal=is_causal
        )
        return self.dropout2(y)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))

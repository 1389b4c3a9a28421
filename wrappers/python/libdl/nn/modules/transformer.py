# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's classes, and of what programs import from there."""

from ..._C import Tensor as Tensor
from .. import functional as F
from .._attention_masks import (
    is_causal_mask as _detect_is_causal_mask, sequence_length as _get_seq_len,
    square_subsequent_mask as _generate_square_subsequent_mask,
)  # fmt: skip
from ..container import ModuleList as ModuleList
from ..layer import Dropout as Dropout, LayerNorm as LayerNorm, Linear as Linear
from ..module import Module as Module
from ..multihead import MultiheadAttention as MultiheadAttention
from ..transformer import (
    Transformer as Transformer, TransformerDecoder as TransformerDecoder,
    TransformerEncoder as TransformerEncoder, clones as _get_clones,
)  # fmt: skip
from ..transformer_layer import (
    TransformerDecoderLayer as TransformerDecoderLayer,
    TransformerEncoderLayer as TransformerEncoderLayer, activation_of as _get_activation_fn,
)  # fmt: skip

__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer", "_detect_is_causal_mask", "_generate_square_subsequent_mask",
    "_get_activation_fn", "_get_clones", "_get_seq_len",
]  # fmt: skip

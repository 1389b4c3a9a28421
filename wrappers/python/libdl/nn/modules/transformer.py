# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's names, and of private ones that programs use."""

from .._attention_masks import (
    is_causal_mask as _detect_is_causal_mask, sequence_length as _get_seq_len,
    square_subsequent_mask as _generate_square_subsequent_mask,
)  # fmt: skip
from ..transformer import clones as _get_clones
from ..transformer_layer import activation_of as _get_activation_fn
from . import names_of_nn

__all__ = [
    "_detect_is_causal_mask", "_generate_square_subsequent_mask", "_get_activation_fn",
    "_get_clones", "_get_seq_len",
]  # fmt: skip

__getattr__ = names_of_nn(__name__)

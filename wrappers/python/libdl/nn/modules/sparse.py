# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's classes, and of what programs import from there."""

from ..._C import Tensor as Tensor
from .. import functional as F, init as init
from ..embedding import Embedding as Embedding, EmbeddingBag as EmbeddingBag
from ..module import Module as Module
from ..parameter import Parameter as Parameter

__all__ = ["Embedding", "EmbeddingBag"]

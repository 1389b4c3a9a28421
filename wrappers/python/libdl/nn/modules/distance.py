# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's classes, and of what programs import from there."""

from ..._C import Tensor as Tensor
from .. import functional as F
from ..distance import CosineSimilarity as CosineSimilarity, PairwiseDistance as PairwiseDistance
from ..module import Module as Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]

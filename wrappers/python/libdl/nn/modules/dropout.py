# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's classes, and of what programs import from there."""

from ..._C import Tensor as Tensor
from .. import functional as F
from ..dropout import (
    AlphaDropout as AlphaDropout, Dropout1d as Dropout1d, Dropout2d as Dropout2d,
    Dropout3d as Dropout3d, FeatureAlphaDropout as FeatureAlphaDropout,
)  # fmt: skip
from ..layer import Dropout as Dropout, _DropoutNd as _DropoutNd
from ..module import Module as Module

__all__ = [
    "AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout",
    "_DropoutNd",
]  # fmt: skip

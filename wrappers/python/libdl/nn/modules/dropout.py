# SPDX-License-Identifier: Apache-2.0
"""Layers that set elements or channels to zero in training."""

from __future__ import annotations

from ..._C import Tensor
from .. import functional as F
from .module import Layer, Module as Module

__all__ = ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"]


class _DropoutNd(Layer):
    """What kinds of dropout have in common."""

    __constants__ = ["p", "inplace"]

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"Dropout: p is {p}, wanted 0 to 1")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """In training, elements become zero with probability p, the others are divided by 1 - p.

    Shape: any; the result has the same.

    Example:
        >>> layer = nn.Dropout(0.5)
        >>> layer.eval()(torch.ones(3))
        tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """In training, channels of [n, c, l] become zero with probability p, the others are divided by
    1 - p.

    Shape: [n, c, l] or [c, l]; the result has the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """In training, channels of [n, c, h, w] become zero with probability p, the others are divided
    by 1 - p.

    Shape: [n, c, h, w] or [n, c, l]; the result has the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """In training, channels of [n, c, d, h, w] become zero with probability p, the others are
    divided by 1 - p.

    Shape: [n, c, d, h, w] or [c, d, h, w]; the result has the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """In training, elements become SELU's limit with probability p; mean 0 and variance 1 stay what
    they are.

    Shape: any; the result has the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels.

    Shape: [n, c, ...]; the result has the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training)

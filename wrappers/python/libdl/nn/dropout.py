# SPDX-License-Identifier: Apache-2.0
"""Variants of Dropout as modules."""

from __future__ import annotations

from .._C import Tensor
from . import functional as F
from .layer import _DropoutNd


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

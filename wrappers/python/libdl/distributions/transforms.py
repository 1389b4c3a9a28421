# SPDX-License-Identifier: Apache-2.0
"""Functions of random values, with the logarithm of their derivative."""

from ._transform import (
    ComposeTransform as ComposeTransform,
    Transform as Transform,
    _InverseTransform as _InverseTransform,
)
from ._transform_elements import (
    AbsTransform as AbsTransform,
    AffineTransform as AffineTransform,
    ExpTransform as ExpTransform,
    PowerTransform as PowerTransform,
    SigmoidTransform as SigmoidTransform,
    SoftplusTransform as SoftplusTransform,
    TanhTransform as TanhTransform,
)
from ._transform_events import (
    CorrCholeskyTransform as CorrCholeskyTransform,
    LowerCholeskyTransform as LowerCholeskyTransform,
    PositiveDefiniteTransform as PositiveDefiniteTransform,
    SoftmaxTransform as SoftmaxTransform,
    StickBreakingTransform as StickBreakingTransform,
)
from ._transform_parts import (
    CatTransform as CatTransform,
    CumulativeDistributionTransform as CumulativeDistributionTransform,
    IndependentTransform as IndependentTransform,
    ReshapeTransform as ReshapeTransform,
    StackTransform as StackTransform,
)

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]

identity_transform = ComposeTransform([])

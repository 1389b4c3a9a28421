# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of LinearCrossEntropyOptions."""

from .._linear_cross_entropy import LinearCrossEntropyOptions as LinearCrossEntropyOptions

__all__ = ["LinearCrossEntropyOptions"]

# SPDX-License-Identifier: Apache-2.0
"""Activations that write their result into the input, under PyTorch's names with an underscore."""

from __future__ import annotations

from .._C import Tensor, overridable
from . import _units, functional

__all__ = ["celu_", "elu_", "hardtanh_", "leaky_relu_", "relu_", "rrelu_", "selu_", "threshold_"]


@overridable
def relu_(input: Tensor) -> Tensor:
    """relu in place."""
    return functional.relu(input, inplace=True)


@overridable
def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """elu in place."""
    return functional.elu(input, alpha, inplace=True)


@overridable
def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """leaky_relu in place."""
    return functional.leaky_relu(input, negative_slope, inplace=True)


@overridable
def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """celu in place."""
    return _units.celu(input, alpha, inplace=True)


@overridable
def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """hardtanh in place. Where min_val is above max_val it is max_val, as in PyTorch, which hardtanh
    refuses."""
    if min_val > max_val:
        return input.clamp_(min_val, max_val)
    return _units.hardtanh(input, min_val, max_val, inplace=True)


@overridable
def selu_(input: Tensor) -> Tensor:
    """selu in place."""
    return _units.selu(input, inplace=True)


@overridable
def rrelu_(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3,
           training: bool = False) -> Tensor:  # fmt: skip
    """rrelu in place."""
    return _units.rrelu(input, lower, upper, training, inplace=True)


@overridable
def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """threshold in place."""
    return functional.threshold(input, threshold, value, inplace=True)

# SPDX-License-Identifier: Apache-2.0
"""Activations with an inplace argument, and those that PyTorch composes of other functions."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import warnings
from typing import Any

from .. import _C, _functional as _generated, _functions
from .._C import Tensor, overridable

__all__ = [
    "celu", "gumbel_softmax", "hardsigmoid", "hardswish", "hardtanh", "mish", "relu6", "rrelu",
    "selu",
]  # fmt: skip


@overridable
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0,
             inplace: bool = False) -> Tensor:  # fmt: skip
    """The element, limited to min_val to max_val."""
    if inplace:
        return _C.hardtanh_into(input, min_val, max_val, input)
    return _generated.hardtanh(input, min_val, max_val)


@overridable
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """The element, limited to 0 to 6."""
    if inplace:
        return _C.relu6_into(input, input)
    return _generated.relu6(input)


@overridable
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """(x + 3) / 6, limited to 0 to 1."""
    if inplace:
        return _C.hardsigmoid_into(input, input)
    return _generated.hardsigmoid(input)


@overridable
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Each element times its hardsigmoid."""
    if inplace:
        return _C.hardswish_into(input, input)
    return _generated.hardswish(input)


@overridable
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """1.0507 times elu with alpha=1.6733."""
    if inplace:
        return _C.selu_into(input, input)
    return _generated.selu(input)


@overridable
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """The element where positive, alpha (exp(element / alpha) - 1) elsewhere."""
    if inplace:
        return _C.celu_into(input, alpha, input)
    return _generated.celu(input, alpha)


@overridable
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Each element times tanh(softplus(element))."""
    if inplace:
        return _C.mish_into(input, input)
    return _generated.mish(input)


@overridable
def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
          inplace: bool = False, *, generator: Any = None) -> Tensor:  # fmt: skip
    """The element where positive; elsewhere times a number drawn from lower to upper or, without
    training, their mean."""
    if inplace:
        return _C.rrelu_into(input, lower, upper, training, generator, input)
    return _generated.rrelu(input, lower, upper, training, generator=generator)


@overridable
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10,
                   dim: int = -1) -> Tensor:  # fmt: skip
    """A sample of the Gumbel-softmax distribution.

    Arguments:
        logits: logarithms of unnormalised probabilities
        tau: the temperature
        hard: whether the sample is one-hot, with the gradient of the soft one
        eps: has no effect
        dim: the dimension of the classes
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    uniform = _functions.rand_like(logits.detach())
    gumbels = -(-uniform.neg().log1p()).log()  # of 1 - uniform, which is never 0
    soft = _functions.softmax((logits + gumbels) / tau, dim)
    if not hard:
        return soft
    index = soft.detach().max(dim, keepdim=True)[1]
    one_hot = _functions.zeros_like(soft.detach()).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft

# SPDX-License-Identifier: Apache-2.0
"""The gradients of convolutions by their input and weight, as functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._C import Tensor
from .._modes import enable_grad, is_grad_enabled
from ..autograd import grad
from .functional import conv1d, conv2d, conv3d

__all__ = [
    "conv1d_input",
    "conv1d_weight",
    "conv2d_input",
    "conv2d_weight",
    "conv3d_input",
    "conv3d_weight",
]

Sizes = int | Sequence[int]


def _vjp(convolve: Callable[[Tensor], Tensor], at: Tensor, grad_output: Tensor) -> Tensor:
    recorded = is_grad_enabled()
    with enable_grad():
        (gradients,) = grad(convolve(at), at, grad_output, create_graph=recorded)
    return gradients


def _by_input(
    convolve: Callable[..., Tensor],
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    options: Any,
) -> Tensor:
    # The gradient does not depend on the input, of which only the shape is known.
    at = weight.new_zeros(tuple(input_size), requires_grad=True)
    return _vjp(lambda x: convolve(x, weight, None, *options), at, grad_output)


def _by_weight(
    convolve: Callable[..., Tensor],
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    options: Any,
) -> Tensor:
    at = input.new_zeros(tuple(weight_size), requires_grad=True)
    return _vjp(lambda w: convolve(input, w, None, *options), at, grad_output)


def conv1d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv1d by an input of this size."""
    options = (stride, padding, dilation, groups)
    return _by_input(conv1d, input_size, weight, grad_output, options)


def conv1d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv1d by a weight of this size."""
    options = (stride, padding, dilation, groups)
    return _by_weight(conv1d, input, weight_size, grad_output, options)


def conv2d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv2d by an input of this size."""
    options = (stride, padding, dilation, groups)
    return _by_input(conv2d, input_size, weight, grad_output, options)


def conv2d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv2d by a weight of this size."""
    options = (stride, padding, dilation, groups)
    return _by_weight(conv2d, input, weight_size, grad_output, options)


def conv3d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv3d by an input of this size."""
    options = (stride, padding, dilation, groups)
    return _by_input(conv3d, input_size, weight, grad_output, options)


def conv3d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv3d by a weight of this size."""
    options = (stride, padding, dilation, groups)
    return _by_weight(conv3d, input, weight_size, grad_output, options)

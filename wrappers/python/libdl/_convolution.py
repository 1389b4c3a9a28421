# SPDX-License-Identifier: Apache-2.0
"""Convolutions, whose padding may be given as a word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _functions
from ._C import Tensor, overridable
from ._errors import ArgumentValueError

__all__ = ["conv1d", "conv2d", "conv3d"]

Sizes = int | Sequence[int]


def _padding(
    op: str,
    dims: int,
    weight: Tensor,
    stride: int | Sequence[int],
    padding: str,
    dilation: int | Sequence[int],
) -> Any:
    """The numbers that a word means; of an odd sum the larger half comes after."""
    if padding == "valid":
        return 0
    if padding != "same":
        raise ArgumentValueError(
            f"{op}: argument 5 (padding) is {padding!r}, wanted numbers, 'valid' or 'same'"
        )
    steps = (stride,) if isinstance(stride, int) else tuple(stride)
    if any(step != 1 for step in steps):
        raise ArgumentValueError(
            f"{op}: argument 5 (padding) is 'same', wanted numbers where the stride is not 1"
        )
    spread = (dilation,) * dims if isinstance(dilation, int) else tuple(dilation)
    if len(spread) == 1:
        spread *= dims
    each = []
    for window, step in zip(weight.shape[2:], spread):
        both = step * (window - 1)
        each += [both // 2, both - both // 2]
    return each


@overridable
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: str | Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution over [n, c, l] or [c, l] with windows weight [k, c / groups, t]. padding:
    numbers, "valid" (0), or "same": as many zeros as keep the size."""
    if isinstance(padding, str):
        numbers = _padding("conv1d", 1, weight, stride, padding, dilation)
        return _functions.conv1d(input, weight, bias, stride, numbers, dilation, groups)
    return _functions.conv1d(input, weight, bias, stride, padding, dilation, groups)


@overridable
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: str | Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution over [n, c, h, w] or [c, h, w] with windows weight [k, c / groups, t, u].
    padding: numbers, "valid" (0), or "same": as many zeros as keep the sizes."""
    if isinstance(padding, str):
        numbers = _padding("conv2d", 2, weight, stride, padding, dilation)
        return _functions.conv2d(input, weight, bias, stride, numbers, dilation, groups)
    return _functions.conv2d(input, weight, bias, stride, padding, dilation, groups)


@overridable
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: str | Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution over [n, c, d, h, w] or [c, d, h, w] with windows weight [k, c / groups, t, u,
    v].
    padding: numbers, "valid" (0), or "same": as many zeros as keep the sizes."""
    if isinstance(padding, str):
        numbers = _padding("conv3d", 3, weight, stride, padding, dilation)
        return _functions.conv3d(input, weight, bias, stride, numbers, dilation, groups)
    return _functions.conv3d(input, weight, bias, stride, padding, dilation, groups)

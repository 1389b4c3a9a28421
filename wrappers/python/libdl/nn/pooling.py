# SPDX-License-Identifier: Apache-2.0
"""Pooling layers."""

from __future__ import annotations

from typing import Any

from .._C import Tensor
from . import functional as F
from .module import Module

Window = int | tuple[int, ...]


class MaxPool2d(Module):
    """The largest element of each window over the last two dimensions.

    Arguments:
        kernel_size: the window's height and width, or one number for both
        stride: the distance between windows; None: kernel_size
        padding: how far windows extend beyond each side
        dilation: the distance between elements of a window
        return_indices: whether to also return the positions of the elements
        ceil_mode: whether the last window may extend beyond the padding
    """

    def __init__(self, kernel_size: Window, stride: Window | None = None, padding: Window = 0,
                 dilation: Window = 1, return_indices: bool = False,
                 ceil_mode: bool = False) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        return F.max_pool2d(input, self.kernel_size, self.stride, self.padding, self.dilation,
                            ceil_mode=self.ceil_mode,
                            return_indices=self.return_indices)  # fmt: skip

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )

# SPDX-License-Identifier: Apache-2.0
"""Layers that make columns of windows, and sum windows from columns."""

from __future__ import annotations

from ..._C import Tensor
from .. import functional as F
from .module import Layer, Module as Module

__all__ = ["Fold", "Unfold"]

Sizes = int | tuple[int, ...]


class Fold(Layer):
    """The sums of columns over windows of images; arguments as of functional.fold.

    Shape: [n, c kh kw, windows] to [n, c, *output_size], or both without n.
    """

    __constants__ = ["output_size", "kernel_size", "dilation", "padding", "stride"]

    def __init__(
        self,
        output_size: Sizes,
        kernel_size: Sizes,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        stride: Sizes = 1,
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, "
            f"dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )


class Unfold(Layer):
    """The windows of images as columns; arguments as of functional.unfold.

    Shape: [n, c, h, w] to [n, c kh kw, windows], or both without n; along each dimension there are
    floor((size + 2 padding - dilation (kernel_size - 1) - 1) / stride) + 1 windows.
    """

    __constants__ = ["kernel_size", "dilation", "padding", "stride"]

    def __init__(
        self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
    ) -> None:
        super().__init__()
        self.kernel_size, self.dilation = kernel_size, dilation
        self.padding, self.stride = padding, stride

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )

# SPDX-License-Identifier: Apache-2.0
"""Layers that move pixels: other sizes, channels for space, windows as columns."""

from __future__ import annotations

from .._C import Tensor
from . import functional as F
from .module import Layer

Sizes = int | tuple[int, ...]
Factors = float | tuple[float, ...]


class Upsample(Layer):
    """Images of another size; arguments as of functional.interpolate.

    Shape: [n, c, l], [n, c, h, w] or [n, c, d, h, w] to the same with the last sizes times
    scale_factor, rounded down, or those of size.
    """

    def __init__(self, size: Sizes | None = None, scale_factor: Factors | None = None,
                 mode: str = "nearest", align_corners: bool | None = None,
                 recompute_scale_factor: bool | None = None) -> None:  # fmt: skip
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        self.scale_factor: Factors | None
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode, self.align_corners = mode, align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners,
                             recompute_scale_factor=self.recompute_scale_factor)  # fmt: skip

    def extra_repr(self) -> str:
        if self.scale_factor is not None:
            return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"
        return f"size={self.size!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Images of another size, each pixel the nearest one.

    Shape: [n, c, h, w] to [n, c, h', w'], sizes times scale_factor, rounded down, or those of size.
    """

    def __init__(self, size: Sizes | None = None,
                 scale_factor: Factors | None = None) -> None:  # fmt: skip
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Images of another size, bilinear, with the corners' pixels in the corners.

    Shape: [n, c, h, w] to [n, c, h', w'], sizes times scale_factor, rounded down, or those of size.
    """

    def __init__(self, size: Sizes | None = None,
                 scale_factor: Factors | None = None) -> None:  # fmt: skip
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class PixelShuffle(Layer):
    """[..., c r r, h, w] as [..., c, h r, w r], for r = upscale_factor.

    Shape: [..., c r^2, h, w] to [..., c, h r, w r], for r = upscale_factor.
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Layer):
    """The inverse of PixelShuffle.

    Shape: [..., c, h r, w r] to [..., c r^2, h, w], for r = downscale_factor.
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Layer):
    """Takes channels from each of the groups in turn.

    Shape: [n, c, ...]; the result has the same.
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"


class Unfold(Layer):
    """The windows of images as columns; arguments as of functional.unfold.

    Shape: [n, c, h, w] to [n, c kh kw, windows], or both without n; along each dimension there are
    floor((size + 2 padding - dilation (kernel_size - 1) - 1) / stride) + 1 windows.
    """

    def __init__(self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0,
                 stride: Sizes = 1) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size, self.dilation = kernel_size, dilation
        self.padding, self.stride = padding, stride

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (f"kernel_size={self.kernel_size}, dilation={self.dilation}, "
                f"padding={self.padding}, stride={self.stride}")  # fmt: skip


class Fold(Layer):
    """The sums of columns over windows of images; arguments as of functional.fold.

    Shape: [n, c kh kw, windows] to [n, c, *output_size], or both without n.
    """

    def __init__(self, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1,
                 padding: Sizes = 0, stride: Sizes = 1) -> None:  # fmt: skip
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding,
                      self.stride)  # fmt: skip

    def extra_repr(self) -> str:
        return (f"output_size={self.output_size}, kernel_size={self.kernel_size}, "
                f"dilation={self.dilation}, padding={self.padding}, "
                f"stride={self.stride}")  # fmt: skip

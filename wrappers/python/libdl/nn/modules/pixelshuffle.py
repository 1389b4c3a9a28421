# SPDX-License-Identifier: Apache-2.0
"""Layers that exchange channels for space."""

from __future__ import annotations

from ..._C import Tensor
from .. import functional as F
from .module import Layer, Module as Module

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Layer):
    """[..., c r r, h, w] as [..., c, h r, w r], for r = upscale_factor.

    Shape: [..., c r^2, h, w] to [..., c, h r, w r], for r = upscale_factor.
    """

    __constants__ = ["upscale_factor"]

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

    __constants__ = ["downscale_factor"]

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"

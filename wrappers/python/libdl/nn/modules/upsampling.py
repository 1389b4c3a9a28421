# SPDX-License-Identifier: Apache-2.0
"""Layers that give images another size."""

from __future__ import annotations

from ..._C import Tensor
from .. import functional as F
from .module import Layer, Module as Module

__all__ = ["Upsample", "UpsamplingNearest2d", "UpsamplingBilinear2d"]

Sizes = int | tuple[int, ...]
Factors = float | tuple[float, ...]


class Upsample(Layer):
    """Images of another size; arguments as of functional.interpolate.

    Shape: [n, c, l], [n, c, h, w] or [n, c, d, h, w] to the same with the last sizes times
    scale_factor, rounded down, or those of size.
    """

    __constants__ = [
        "size",
        "scale_factor",
        "mode",
        "align_corners",
        "name",
        "recompute_scale_factor",
    ]

    def __init__(
        self,
        size: Sizes | None = None,
        scale_factor: Factors | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
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
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        if self.scale_factor is not None:
            return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"
        return f"size={self.size!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Images of another size, each pixel the nearest one.

    Shape: [n, c, h, w] to [n, c, h', w'], sizes times scale_factor, rounded down, or those of size.
    """

    def __init__(self, size: Sizes | None = None, scale_factor: Factors | None = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Images of another size, bilinear, with the corners' pixels in the corners.

    Shape: [n, c, h, w] to [n, c, h', w'], sizes times scale_factor, rounded down, or those of size.
    """

    def __init__(self, size: Sizes | None = None, scale_factor: Factors | None = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)

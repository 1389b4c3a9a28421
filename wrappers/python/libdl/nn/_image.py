# SPDX-License-Identifier: Apache-2.0
"""Images of another size, as PyTorch's programs ask for them."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _functional as _generated
from .._C import Tensor, overridable
from .._cast_operands import in_lower
from .._errors import ArgumentTypeError, ArgumentValueError

__all__ = [
    "affine_grid", "grid_sample", "interpolate", "upsample", "upsample_bilinear",
    "upsample_nearest",
]  # fmt: skip


@overridable
def interpolate(input: Tensor, size: int | Sequence[int] | None = None,
                scale_factor: float | Sequence[float] | None = None, mode: str = "nearest",
                align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
                antialias: bool = False) -> Tensor:  # fmt: skip
    """input [n, c, ...], with one to three further dimensions, in another size, or scaled.

    Arguments:
        size, scale_factor: one of them: the new sizes, or what the old ones are multiplied by; one
            number, or one for each dimension
        mode: "nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear" or "area"
        align_corners: whether the centres of the corners' pixels coincide, or else their edges
        recompute_scale_factor: whether places follow from the sizes, or else from scale_factor
        antialias: whether what becomes smaller is smoothed ("bilinear" and "bicubic")

    Example:
        >>> F.interpolate(torch.tensor([[[1., 2.]]]), scale_factor=2)
        tensor([[[1., 1., 2., 2.]]])
        >>> F.interpolate(torch.zeros(1, 3, 8, 8), size=(16, 16), mode="bilinear").shape
        libdl.Size([1, 3, 16, 16])
    """
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        raise ArgumentValueError(f"interpolate: argument 5 (align_corners) is {align_corners}, "
                                 f"wanted None in mode {mode!r}")  # fmt: skip
    if scale_factor is None:
        if size is None:
            raise ArgumentValueError("interpolate: argument 2 (size) is None, wanted size or "
                                     "scale_factor")  # fmt: skip
        return _generated.interpolate(
            input, size, mode=mode, align_corners=bool(align_corners),
            recompute_scale_factor=bool(recompute_scale_factor), antialias=antialias)  # fmt: skip
    if size is not None:
        raise ArgumentValueError(f"interpolate: argument 3 (scale_factor) is {scale_factor}, "
                                 "wanted None, for size is given")  # fmt: skip
    dims = input.ndim - 2
    if isinstance(scale_factor, (list, tuple)):
        factors = [float(factor) for factor in scale_factor]
        if len(factors) != dims:
            raise ArgumentValueError(f"interpolate: argument 3 (scale_factor) has {len(factors)} "
                                     f"entries, wanted {dims}")  # fmt: skip
    else:
        factors = [_number(scale_factor)] * dims
    each: list[Any] = [None] * max(0, 3 - dims) + factors
    return _generated.interpolate(
        input, None, each[0], each[1], each[2], mode=mode, align_corners=bool(align_corners),
        recompute_scale_factor=bool(recompute_scale_factor), antialias=antialias)  # fmt: skip


def _number(given: Any) -> float:
    try:
        return float(given)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"interpolate: argument 3 (scale_factor) is {given!r}, wanted a "
                                "number, or one for each dimension") from None  # fmt: skip


@overridable
def upsample(input: Tensor, size: int | Sequence[int] | None = None,
             scale_factor: float | Sequence[float] | None = None, mode: str = "nearest",
             align_corners: bool | None = None) -> Tensor:  # fmt: skip
    """As interpolate."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: int | Sequence[int] | None = None,
                     scale_factor: float | Sequence[float] | None = None) -> Tensor:  # fmt: skip
    """As interpolate with mode "nearest"."""
    return interpolate(input, size, scale_factor)


def upsample_bilinear(input: Tensor, size: int | Sequence[int] | None = None,
                      scale_factor: float | Sequence[float] | None = None) -> Tensor:  # fmt: skip
    """As interpolate with mode "bilinear" and align_corners=True."""
    return interpolate(input, size, scale_factor, "bilinear", True)


@overridable
@in_lower
def affine_grid(theta: Tensor, size: Sequence[int],
                align_corners: bool | None = None) -> Tensor:  # fmt: skip
    """The grid for grid_sample that applies the maps theta, [n, 2, 3] or [n, 3, 4], to the places
    of a result of this size, [n, c, h, w] or [n, c, d, h, w]."""
    return _generated.affine_grid(theta, size, bool(align_corners))


@overridable
def grid_sample(input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros",
                align_corners: bool | None = None) -> Tensor:  # fmt: skip
    """Images [n, c, h, w] at the places grid [n, h', w', 2], or volumes with a grid of three
    coordinates.

    Arguments:
        mode: "bilinear", "nearest" or, for images, "bicubic"
        padding_mode: what lies outside: "zeros", "border" (the edge) or "reflection"
        align_corners: whether -1 and 1 are the centres of the outermost pixels, or else their edges
    """
    return _generated.grid_sample(input, grid, mode, padding_mode, bool(align_corners))

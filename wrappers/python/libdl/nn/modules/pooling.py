# SPDX-License-Identifier: Apache-2.0
"""Layers that reduce windows of signals, images and volumes, and one that puts maxima back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._C import Tensor
from .. import functional as F
from .module import Module
from .utils import _pair as _pair, _single as _single, _triple as _triple


__all__ = [
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
]

Window = int | Sequence[int]
Sizes = int | Sequence[int | None]


def _each(values: Any, dims: int) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, (tuple, list)) else (values,) * dims


class _Pool(Module):
    """A module of `_dims` dimensions that calls the function of that name."""

    _dims: int
    _name: str

    def _call(self, *args: Any, **named: Any) -> Any:
        return getattr(F, f"{self._name}{self._dims}d")(*args, **named)


# -- the largest element ---------------------------------------------------------------------------


class _MaxPoolNd(_Pool):
    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]
    _name = "max_pool"

    def __init__(
        self,
        kernel_size: Window,
        stride: Window | None = None,
        padding: Window = 0,
        dilation: Window = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        return self._call(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest element of each window over the last dimension.

    Arguments:
        kernel_size: the window's size
        stride: the distance between windows; None: kernel_size
        padding: how far windows extend beyond each side
        dilation: the distance between elements of a window
        return_indices: whether to also return the positions of the elements
        ceil_mode: whether the last window may extend beyond the padding

    Shape: [n, c, l] to [n, c, l'], or both without n; l' = floor((l + 2 padding - dilation
    (kernel_size - 1) - 1) / stride) + 1, rounded up with ceil_mode.
    """

    _dims = 1


class MaxPool2d(_MaxPoolNd):
    """The largest element of each window over the last two dimensions.

    Arguments:
        kernel_size: the window's height and width, or one number for both
        stride: the distance between windows; None: kernel_size
        padding: how far windows extend beyond each side
        dilation: the distance between elements of a window
        return_indices: whether to also return the positions of the elements
        ceil_mode: whether the last window may extend beyond the padding

    Shape: [n, c, h, w] to [n, c, h', w'], or both without n; h' = floor((h + 2 padding - dilation
    (kernel_size - 1) - 1) / stride) + 1, rounded up with ceil_mode, and w' likewise.
    """

    _dims = 2


class MaxPool3d(_MaxPoolNd):
    """The largest element of each window over the last three dimensions; arguments as of MaxPool2d,
    where a number stands for all three.

    Shape: [n, c, d, h, w] to [n, c, d', h', w'], or both without n; sizes as of MaxPool2d.
    """

    _dims = 3


class _AdaptivePool(_Pool):
    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"

    output_size: Sizes


class _AdaptiveMaxPoolNd(_AdaptivePool):
    __constants__ = ["output_size", "return_indices"]
    _name = "adaptive_max_pool"

    def __init__(self, output_size: Sizes, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input: Tensor) -> Any:
        return self._call(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest elements of windows that divide the last dimension into equal parts.

    Arguments:
        output_size: the number of parts
        return_indices: whether to also return the positions of the elements

    Shape: [n, c, l] to [n, c, output_size], or both without n.
    """

    _dims = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest elements of windows that divide the last two dimensions into equal parts.

    Arguments:
        output_size: the number of parts of each, or one number for all; None: as in the input
        return_indices: whether to also return the positions of the elements

    Shape: [n, c, h, w] to [n, c, *output_size], or both without n.
    """

    _dims = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest elements of windows that divide the last three dimensions into equal parts;
    arguments as of AdaptiveMaxPool2d.

    Shape: [n, c, d, h, w] to [n, c, *output_size], or both without n.
    """

    _dims = 3


class _FractionalMaxPool(_Pool):
    _name = "fractional_max_pool"

    def __init__(
        self,
        kernel_size: Window,
        output_size: Window | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if (output_size is None) == (output_ratio is None):
            both = "both" if output_size is not None else "neither"
            raise ValueError(f"{name}: found {both} of output_size and output_ratio, wanted one")
        self.kernel_size = _each(kernel_size, self._dims)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else _each(output_size, self._dims)
        self.output_ratio = None if output_ratio is None else _each(output_ratio, self._dims)
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(
                f"{name}: output_ratio is {output_ratio}, wanted numbers between 0 and 1"
            )

    def forward(self, input: Tensor) -> Any:
        return self._call(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest elements of windows at random distances over the last two dimensions.

    Arguments:
        kernel_size: the window's height and width, or one number for both
        output_size: the result's
        output_ratio: or its share of the input's, between 0 and 1
        return_indices: whether to also return the positions of the elements

    Shape: [n, c, h, w] to [n, c, *output_size], or both without n; sizes by output_ratio are
    rounded down.
    """

    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]

    _dims = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest elements of windows at random distances over the last three dimensions; arguments
    as of FractionalMaxPool2d.

    Shape: [n, c, d, h, w] to [n, c, *output_size], or both without n; sizes by output_ratio are
    rounded down.
    """

    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]

    _dims = 3


class _MaxUnpoolNd(_Pool):
    _name = "max_unpool"

    def __init__(
        self, kernel_size: Window, stride: Window | None = None, padding: Window = 0
    ) -> None:
        super().__init__()
        self.kernel_size = _each(kernel_size, self._dims)
        self.stride = self.kernel_size if stride is None else _each(stride, self._dims)
        self.padding = _each(padding, self._dims)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        result: Tensor = self._call(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )
        return result

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """The reverse of MaxPool1d: zeros, with each element in its place.

    Arguments:
        kernel_size: the window's size
        stride: the distance between windows; None: kernel_size
        padding: how far windows extended beyond each side

    Shape: [n, c, l] and indices of the same shape to [n, c, l'], or all without n; l' = (l - 1)
    stride - 2 padding + kernel_size unless output_size is given.
    """

    _dims = 1


class MaxUnpool2d(_MaxUnpoolNd):
    """The reverse of MaxPool2d: zeros, with each element in its place; arguments as of MaxUnpool1d,
    where a number stands for both dimensions.

    Shape: [n, c, h, w] and indices of the same shape to [n, c, h', w'], or all without n; h' = (h -
    1) stride - 2 padding + kernel_size, and w' likewise, unless output_size is given.
    """

    _dims = 2


class MaxUnpool3d(_MaxUnpoolNd):
    """The reverse of MaxPool3d: zeros, with each element in its place; arguments as of MaxUnpool1d,
    where a number stands for all three dimensions.

    Shape: [n, c, d, h, w] and indices of the same shape to [n, c, d', h', w'], or all without n;
    sizes as of MaxUnpool2d.
    """

    _dims = 3


# -- means -----------------------------------------------------------------------------------------


class _AvgPoolNd(_Pool):
    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]
    _name = "avg_pool"

    kernel_size: Window
    stride: Window
    padding: Window

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of each window over the last dimension.

    Arguments:
        kernel_size: the window's size
        stride: the distance between windows; None: kernel_size
        padding: zeros on both sides
        ceil_mode: whether the last window may extend beyond the padding
        count_include_pad: whether the zeros count

    Shape: [n, c, l] to [n, c, l'], or both without n; l' = floor((l + 2 padding - kernel_size) /
    stride) + 1, rounded up with ceil_mode.
    """

    _dims = 1

    def __init__(
        self,
        kernel_size: Window,
        stride: Window | None = None,
        padding: Window = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = _each(kernel_size, 1)
        self.stride = self.kernel_size if stride is None else _each(stride, 1)
        self.padding = _each(padding, 1)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        result: Tensor = self._call(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )
        return result


class _AvgPoolBy(_AvgPoolNd):
    def __init__(
        self,
        kernel_size: Window,
        stride: Window | None = None,
        padding: Window = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input: Tensor) -> Tensor:
        result: Tensor = self._call(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )
        return result


class AvgPool2d(_AvgPoolBy):
    """The mean of each window over the last two dimensions.

    Arguments:
        kernel_size: the window's height and width, or one number for both
        stride: the distance between windows; None: kernel_size
        padding: zeros on both sides
        ceil_mode: whether the last window may extend beyond the padding
        count_include_pad: whether the zeros count
        divisor_override: by what sums are divided instead of the number of elements

    Shape: [n, c, h, w] to [n, c, h', w'], or both without n; h' = floor((h + 2 padding -
    kernel_size) / stride) + 1, rounded up with ceil_mode, and w' likewise.
    """

    __constants__ = [
        "kernel_size",
        "stride",
        "padding",
        "ceil_mode",
        "count_include_pad",
        "divisor_override",
    ]

    _dims = 2


class AvgPool3d(_AvgPoolBy):
    """The mean of each window over the last three dimensions; arguments as of AvgPool2d, where a
    number stands for all three.

    Shape: [n, c, d, h, w] to [n, c, d', h', w'], or both without n; sizes as of AvgPool2d.
    """

    __constants__ = [
        "kernel_size",
        "stride",
        "padding",
        "ceil_mode",
        "count_include_pad",
        "divisor_override",
    ]

    _dims = 3


class _AdaptiveAvgPoolNd(_AdaptivePool):
    __constants__ = ["output_size"]
    _name = "adaptive_avg_pool"

    def __init__(self, output_size: Sizes) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        result: Tensor = self._call(input, self.output_size)
        return result


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The means of windows that divide the last dimension into equal parts.

    Arguments:
        output_size: the number of parts

    Shape: [n, c, l] to [n, c, output_size], or both without n.
    """

    _dims = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The means of windows that divide the last two dimensions into equal parts.

    Arguments:
        output_size: the number of parts of each, or one number for both; None: as in the input

    Shape: [n, c, h, w] to [n, c, *output_size], or both without n.
    """

    _dims = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The means of windows that divide the last three dimensions into equal parts; argument as of
    AdaptiveAvgPool2d.

    Shape: [n, c, d, h, w] to [n, c, *output_size], or both without n.
    """

    _dims = 3


class _LPPoolNd(_Pool):
    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]
    _name = "lp_pool"

    def __init__(
        self,
        norm_type: float,
        kernel_size: Window,
        stride: Window | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        result: Tensor = self._call(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )
        return result

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The power mean of each window over the last dimension, times its elements: the root of the
    sum of powers.

    Arguments:
        norm_type: the power
        kernel_size: the window's size
        stride: the distance between windows; None: kernel_size
        ceil_mode: whether the last window may extend beyond the input

    Shape: [n, c, l] to [n, c, l'], or both without n; l' = floor((l - kernel_size) / stride) + 1,
    rounded up with ceil_mode.
    """

    _dims = 1


class LPPool2d(_LPPoolNd):
    """The root of the sum of powers of each window over the last two dimensions; arguments as of
    LPPool1d, where a number stands for both.

    Shape: [n, c, h, w] to [n, c, h', w'], or both without n; h' = floor((h - kernel_size) / stride)
    + 1, rounded up with ceil_mode, and w' likewise.
    """

    _dims = 2


class LPPool3d(_LPPoolNd):
    """The root of the sum of powers of each window over the last three dimensions; arguments as of
    LPPool1d, where a number stands for all three.

    Shape: [n, c, d, h, w] to [n, c, d', h', w'], or both without n; sizes as of LPPool2d.
    """

    _dims = 3

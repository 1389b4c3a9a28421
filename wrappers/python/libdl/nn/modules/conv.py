# SPDX-License-Identifier: Apache-2.0
"""Layers of convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..._C import Tensor
from ..._functions import empty
from ..._modes import no_grad
from ..._types import DeviceLike, DtypeLike
from .. import functional as F, init
from ..parameter import Parameter, UninitializedParameter
from .lazy import LazyModuleMixin, materialize
from .module import Layer, Module as Module
from .utils import (
    _pair as _pair,
    _reverse_repeat_tuple,
    _single as _single,
    _triple as _triple,
)

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]

Sizes = int | tuple[int, ...]


def _each(values: Sizes, dims: int) -> tuple[int, ...]:
    return (values,) * dims if isinstance(values, int) else tuple(values)


class _ConvNd(Layer):
    """What all convolutions have in common. Sizes have one entry for each dimension."""

    __constants__ = [
        "stride",
        "padding",
        "dilation",
        "groups",
        "padding_mode",
        "output_padding",
        "in_channels",
        "out_channels",
        "kernel_size",
    ]

    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: str | tuple[int, ...]
    dilation: tuple[int, ...]
    transposed: bool
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: str
    _reversed_padding_repeated_twice: Sequence[int]  # what pad is to add

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if groups <= 0 or in_channels % groups or out_channels % groups:
            raise ValueError(
                f"{name}: groups is {groups}, wanted a divisor of in_channels, "
                f"{in_channels}, and of out_channels, {out_channels}"
            )
        known = ("zeros",) if transposed else ("zeros", "reflect", "replicate", "circular")
        if padding_mode not in known:
            raise ValueError(f"{name}: padding_mode is {padding_mode!r}, wanted one of {known}")
        if padding not in ("valid", "same") and isinstance(padding, str):
            raise ValueError(f"{name}: padding is {padding!r}, wanted numbers, 'valid' or 'same'")
        if padding == "same" and any(s != 1 for s in stride):
            raise ValueError(f"{name}: padding='same' wants a stride of 1, found {stride}")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding
        self.dilation, self.transposed, self.output_padding = dilation, transposed, output_padding
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = _around(padding, dilation, kernel_size)
        channels = (
            (in_channels, out_channels // groups)
            if transposed
            else (out_channels, in_channels // groups)
        )
        self.weight = Parameter(empty(*channels, *kernel_size, device=device, dtype=dtype))
        own = Parameter(empty(out_channels, device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", own)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new parameters."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = math.prod(self.weight.shape[1:])
            if fan_in:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no method _conv_forward")

    def extra_repr(self) -> str:
        none = (0,) * len(self.kernel_size)
        parts = [
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}",
            f"stride={self.stride}",
        ]
        if self.padding != none:
            parts.append(f"padding={self.padding}")
        if self.dilation != (1,) * len(self.dilation):
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != none:
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


def _around(
    padding: str | tuple[int, ...], dilation: tuple[int, ...], kernel_size: tuple[int, ...]
) -> Sequence[int]:
    """What pad is to add, the last dimension first; of an odd sum the larger half comes after."""
    if not isinstance(padding, str):
        return _reverse_repeat_tuple(padding, 2)
    around: list[int] = []
    for step, size in reversed(list(zip(dilation, kernel_size))):
        both = step * (size - 1) if padding == "same" else 0
        around += [both // 2, both - both // 2]
    return around


class _Forward(_ConvNd):
    _dims: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: str | Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        dims = self._dims
        super().__init__(
            in_channels,
            out_channels,
            _each(kernel_size, dims),
            _each(stride, dims),
            padding if isinstance(padding, str) else _each(padding, dims),
            _each(dilation, dims),
            False,
            (0,) * dims,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        convolve: Any = getattr(F, f"conv{self._dims}d")
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, self.padding_mode)
            padding = 0
        result: Tensor = convolve(
            input, weight, bias, self.stride, padding, self.dilation, self.groups
        )
        return result

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Forward):
    """Convolution over signals [n, in_channels, l].

    Arguments:
        in_channels, out_channels: channels before and after
        kernel_size: size of the window
        stride: step of the window
        padding: elements added on both sides; "same": as many as keep the size; "valid": none
        dilation: step between the window's elements
        groups: into how many independent parts the channels are cut
        bias: whether a number is added to each channel
        padding_mode: what is added on both sides: "zeros", "reflect", "replicate" or "circular"

    Shape: [n, in_channels, l] to [n, out_channels, l'], or both without n; l' = floor((l + 2
    padding - dilation (kernel_size - 1) - 1) / stride) + 1.

    Initialisation: weight and bias from U(-k, k), k = 1 / sqrt(in_channels kernel_size / groups).

    Example:
        >>> nn.Conv1d(16, 33, 3, stride=2)(torch.zeros(20, 16, 50)).shape
        libdl.Size([20, 33, 24])
    """

    _dims = 1


class Conv2d(_Forward):
    """Convolution over images [n, in_channels, h, w]; arguments as of Conv1d, where a number stands
    for both dimensions.

    Shape: [n, in_channels, h, w] to [n, out_channels, h', w'], or both without n; h' = floor((h + 2
    padding - dilation (kernel_size - 1) - 1) / stride) + 1, and w' likewise.

    Initialisation: weight and bias from U(-k, k), k = 1 / sqrt(in_channels kh kw / groups).

    Example:
        >>> nn.Conv2d(3, 8, 3, padding=1)(torch.zeros(1, 3, 32, 32)).shape
        libdl.Size([1, 8, 32, 32])
    """

    _dims = 2


class Conv3d(_Forward):
    """Convolution over volumes [n, in_channels, d, h, w]; arguments as of Conv1d, where a number
    stands for all three dimensions.

    Shape: [n, in_channels, d, h, w] to [n, out_channels, d', h', w'], or both without n; d' =
    floor((d + 2 padding - dilation (kernel_size - 1) - 1) / stride) + 1, and h' and w' likewise.

    Initialisation: weight and bias from U(-k, k), k = 1 / sqrt(in_channels kd kh kw / groups).
    """

    _dims = 3


class _ConvTransposeNd(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(
                f"{type(self).__name__}: padding_mode is {padding_mode!r}, wanted 'zeros'"
            )
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            transposed,
            output_padding,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _output_padding(
        self,
        input: Tensor,
        output_size: Sequence[int] | None,
        stride: Sequence[int],
        padding: Sequence[int],
        kernel_size: Sequence[int],
        num_spatial_dims: int,
        dilation: Sequence[int] | None = None,
    ) -> tuple[int, ...]:
        """Of the sizes that a stride leaves open, output_size chooses one."""
        if output_size is None:
            return self.output_padding
        dims = num_spatial_dims
        expected = tuple(output_size)[-dims:]
        if len(output_size) not in (dims, input.ndim):
            raise ValueError(
                f"{type(self).__name__}: output_size has {len(output_size)} entries, "
                f"wanted {dims} or {input.ndim}"
            )
        steps = (1,) * dims if dilation is None else dilation
        least = [
            (size - 1) * s - 2 * p + d * (k - 1) + 1
            for size, s, p, d, k in zip(input.shape[-dims:], stride, padding, steps, kernel_size)
        ]
        most = [size + s - 1 for size, s in zip(least, stride)]
        if any(not low <= size <= high for low, size, high in zip(least, expected, most)):
            raise ValueError(
                f"{type(self).__name__}: output_size is {expected}, wanted {least} to {most}"
            )
        return tuple(size - low for size, low in zip(expected, least))


_ConvTransposeMixin = _ConvTransposeNd  # its older name in PyTorch


class _Transposed(_ConvTransposeNd):
    _dims: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        dims = self._dims
        super().__init__(
            in_channels,
            out_channels,
            _each(kernel_size, dims),
            _each(stride, dims),
            _each(padding, dims),
            _each(dilation, dims),
            True,
            _each(output_padding, dims),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        convolve: Any = getattr(F, f"conv_transpose{self._dims}d")
        output_padding = self._output_padding(
            input,
            output_size,
            self.stride,
            self.padding,  # type: ignore[arg-type]  # a transposed one has no words
            self.kernel_size,
            self._dims,
            self.dilation,
        )
        result: Tensor = convolve(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            output_padding,
            self.groups,
            self.dilation,
        )
        return result


class ConvTranspose1d(_Transposed):
    """Transposed convolution over signals [n, in_channels, l]: the gradient of Conv1d by its input.

    Arguments:
        in_channels, out_channels: channels before and after
        kernel_size: size of the window
        stride: step of the window over the result
        padding: what is left out on both sides of the result
        output_padding: what is added to one side of it
        groups: into how many independent parts the channels are cut
        bias: whether a number is added to each channel
        dilation: step between the window's elements
        padding_mode: "zeros"

    Shape: [n, in_channels, l] to [n, out_channels, l'], or both without n; l' = (l - 1) stride - 2
    padding + dilation (kernel_size - 1) + output_padding + 1.

    Initialisation: weight and bias from U(-k, k), k = 1 / sqrt(out_channels kernel_size / groups).
    """

    _dims = 1


class ConvTranspose2d(_Transposed):
    """Transposed convolution over images [n, in_channels, h, w]; arguments as of ConvTranspose1d,
    where a number stands for both dimensions.

    Shape: [n, in_channels, h, w] to [n, out_channels, h', w'], or both without n; h' = (h - 1)
    stride - 2 padding + dilation (kernel_size - 1) + output_padding + 1, and w' likewise.

    Initialisation: weight and bias from U(-k, k), k = 1 / sqrt(out_channels kh kw / groups).
    """

    _dims = 2


class ConvTranspose3d(_Transposed):
    """Transposed convolution over volumes [n, in_channels, d, h, w]; arguments as of
    ConvTranspose1d, where a number stands for all three dimensions.

    Shape: [n, in_channels, d, h, w] to [n, out_channels, d', h', w'], or both without n; d' = (d -
    1) stride - 2 padding + dilation (kernel_size - 1) + output_padding + 1, and h' and w' likewise.

    Initialisation: weight and bias from U(-k, k), k = 1 / sqrt(out_channels kd kh kw / groups).
    """

    _dims = 3


class _LazyConvXdMixin(LazyModuleMixin):
    _dims: int
    transposed: bool
    in_channels: int
    out_channels: int
    groups: int
    kernel_size: tuple[int, ...]

    def _await(
        self, out_channels: int, bias: bool, device: DeviceLike | None, dtype: DtypeLike | None
    ) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draws new parameters, once they have shapes."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        if not self.has_uninitialized_params():
            if self.in_channels == 0:  # the parameters were loaded
                self.in_channels = self._get_in_channels(input)
            return
        name, channels = type(self).__name__, self._get_in_channels(input)
        if channels % self.groups or self.out_channels % self.groups:
            raise ValueError(
                f"{name}: groups is {self.groups}, wanted a divisor of the input's "
                f"{channels} channels and of out_channels, {self.out_channels}"
            )
        self.in_channels = channels
        pair = (channels, self.out_channels) if self.transposed else (self.out_channels, channels)
        with no_grad():
            materialize(self.weight, pair[0], pair[1] // self.groups, *self.kernel_size)
            materialize(self.bias, self.out_channels)
            self.reset_parameters()

    def _get_num_spatial_dims(self) -> int:
        return self._dims

    def _get_in_channels(self, input: Tensor) -> int:
        dims = self._get_num_spatial_dims()
        if input.ndim not in (dims + 1, dims + 2):
            raise RuntimeError(
                f"{type(self).__name__}: the input has {input.ndim} dimensions, "
                f"wanted {dims + 1} or {dims + 2}"
            )
        return int(input.shape[-1 - dims])


class _LazyForward(_LazyConvXdMixin):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: str | Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        super().__init__(
            0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype
        )
        self._await(out_channels, bias, device, dtype)


class LazyConv1d(_LazyForward, Conv1d):  # type: ignore[misc]
    """A Conv1d whose in_channels is that of the first input.

    Shape: [n, in_channels, l] to [n, out_channels, l'] as of Conv1d.

    Initialisation: at the first call, weight and bias from U(-k, k), k = 1 / sqrt(in_channels
    kernel_size / groups).
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyForward, Conv2d):  # type: ignore[misc]
    """A Conv2d whose in_channels is that of the first input.

    Shape: [n, in_channels, h, w] to [n, out_channels, h', w'] as of Conv2d.

    Initialisation: at the first call, weight and bias from U(-k, k), k = 1 / sqrt(in_channels kh kw
    / groups).
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyForward, Conv3d):  # type: ignore[misc]
    """A Conv3d whose in_channels is that of the first input.

    Shape: [n, in_channels, d, h, w] to [n, out_channels, d', h', w'] as of Conv3d.

    Initialisation: at the first call, weight and bias from U(-k, k), k = 1 / sqrt(in_channels kd kh
    kw / groups).
    """

    cls_to_become = Conv3d


class _LazyTransposed(_LazyConvXdMixin):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        super().__init__(
            0,
            0,
            kernel_size,
            stride,
            padding,
            output_padding,
            groups,
            False,
            dilation,
            padding_mode,
            device,
            dtype,
        )
        self._await(out_channels, bias, device, dtype)


class LazyConvTranspose1d(_LazyTransposed, ConvTranspose1d):  # type: ignore[misc]
    """A ConvTranspose1d whose in_channels is that of the first input.

    Shape: [n, in_channels, l] to [n, out_channels, l'] as of ConvTranspose1d.

    Initialisation: at the first call, weight and bias from U(-k, k), k = 1 / sqrt(out_channels
    kernel_size / groups).
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyTransposed, ConvTranspose2d):  # type: ignore[misc]
    """A ConvTranspose2d whose in_channels is that of the first input.

    Shape: [n, in_channels, h, w] to [n, out_channels, h', w'] as of ConvTranspose2d.

    Initialisation: at the first call, weight and bias from U(-k, k), k = 1 / sqrt(out_channels kh
    kw / groups).
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyTransposed, ConvTranspose3d):  # type: ignore[misc]
    """A ConvTranspose3d whose in_channels is that of the first input.

    Shape: [n, in_channels, d, h, w] to [n, out_channels, d', h', w'] as of ConvTranspose3d.

    Initialisation: at the first call, weight and bias from U(-k, k), k = 1 / sqrt(out_channels kd
    kh kw / groups).
    """

    cls_to_become = ConvTranspose3d

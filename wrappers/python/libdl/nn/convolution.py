# SPDX-License-Identifier: Apache-2.0
"""Layers of convolutions."""

from __future__ import annotations

import math
from typing import Any

from .._C import Tensor
from .._functions import empty
from . import functional as F, init
from .module import Layer
from .parameter import Parameter

Sizes = int | tuple[int, ...]


def _each(given: Sizes, dims: int) -> tuple[int, ...]:
    return (given,) * dims if isinstance(given, int) else tuple(given)


class _Conv(Layer):
    _dims: int
    _transposed = False

    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: str | tuple[int, ...]
    dilation: tuple[int, ...]
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: str

    def _set(self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes,
             padding: str | Sizes, dilation: Sizes, output_padding: Sizes, groups: int, bias: bool,
             padding_mode: str, device: Any, dtype: Any) -> None:  # fmt: skip
        name = type(self).__name__
        if groups <= 0 or in_channels % groups or out_channels % groups:
            raise ValueError(f"{name}: groups is {groups}, wanted a divisor of in_channels, "
                             f"{in_channels}, and of out_channels, {out_channels}")  # fmt: skip
        if padding_mode != "zeros":
            known = ("zeros",) if self._transposed else ("zeros", "reflect", "replicate", "circular")
            if padding_mode not in known:
                raise ValueError(f"{name}: padding_mode is {padding_mode!r}, wanted one of {known}")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = _each(kernel_size, self._dims), _each(stride, self._dims)
        self.dilation = _each(dilation, self._dims)
        self.output_padding = _each(output_padding, self._dims)
        self.padding = padding if isinstance(padding, str) else _each(padding, self._dims)
        if padding not in ("valid", "same") and isinstance(padding, str):
            raise ValueError(f"{name}: padding is {padding!r}, wanted numbers, 'valid' or 'same'")
        if padding == "same" and any(s != 1 for s in self.stride):
            raise ValueError(f"{name}: padding='same' wants a stride of 1, found {self.stride}")
        self.padding_mode = padding_mode
        channels = (in_channels, out_channels // groups) if self._transposed else (
            out_channels, in_channels // groups)  # fmt: skip
        self.weight = Parameter(empty(*channels, *self.kernel_size, device=device, dtype=dtype))
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

    def extra_repr(self) -> str:
        none = (0,) * self._dims
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}",
                 f"stride={self.stride}"]  # fmt: skip
        if self.padding != none:
            parts.append(f"padding={self.padding}")
        if self.dilation != (1,) * self._dims:
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


class _Forward(_Conv):
    def __init__(self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
                 padding: str | Sizes = 0, dilation: Sizes = 1, groups: int = 1, bias: bool = True,
                 padding_mode: str = "zeros", device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
        super().__init__()
        self._set(in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups,
                  bias, padding_mode, device, dtype)  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        convolve: Any = getattr(F, f"conv{self._dims}d")
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._around(), self.padding_mode), 0
        result: Tensor = convolve(input, self.weight, self.bias, self.stride, padding,
                                  self.dilation, self.groups)  # fmt: skip
        return result

    def _around(self) -> list[int]:
        """What pad is to add; of an odd sum the larger half comes after."""
        around: list[int] = []
        for d in reversed(range(self._dims)):
            if isinstance(self.padding, tuple):
                around += [self.padding[d]] * 2
            else:
                both = self.dilation[d] * (self.kernel_size[d] - 1) if self.padding == "same" else 0
                around += [both // 2, both - both // 2]
        return around


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
    """

    _dims = 1


class Conv2d(_Forward):
    """Convolution over images [n, in_channels, h, w]; arguments as of Conv1d, where a number stands
    for both dimensions."""

    _dims = 2


class Conv3d(_Forward):
    """Convolution over volumes [n, in_channels, d, h, w]; arguments as of Conv1d, where a number
    stands for all three dimensions."""

    _dims = 3


class _Transposed(_Conv):
    _transposed = True

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
                 padding: Sizes = 0, output_padding: Sizes = 0, groups: int = 1, bias: bool = True,
                 dilation: Sizes = 1, padding_mode: str = "zeros", device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
        super().__init__()
        self._set(in_channels, out_channels, kernel_size, stride, padding, dilation,
                  output_padding, groups, bias, padding_mode, device, dtype)  # fmt: skip

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        convolve: Any = getattr(F, f"conv_transpose{self._dims}d")
        result: Tensor = convolve(input, self.weight, self.bias, self.stride, self.padding,
                                  self._output_padding(input, output_size), self.groups,
                                  self.dilation)  # fmt: skip
        return result

    def _output_padding(self, input: Tensor, output_size: Any) -> tuple[int, ...]:
        """Of the sizes that a stride leaves open, output_size chooses one."""
        if output_size is None:
            return self.output_padding
        wanted = tuple(output_size)[-self._dims :]
        if len(output_size) not in (self._dims, input.ndim):
            raise ValueError(f"{type(self).__name__}: output_size has {len(output_size)} entries, "
                             f"wanted {self._dims} or {input.ndim}")  # fmt: skip
        assert not isinstance(self.padding, str)
        least = [(size - 1) * s - 2 * p + d * (k - 1) + 1 for size, s, p, d, k in zip(
            input.shape[-self._dims :], self.stride, self.padding, self.dilation, self.kernel_size)]  # fmt: skip
        most = [size + s - 1 for size, s in zip(least, self.stride)]
        if any(not low <= size <= high for low, size, high in zip(least, wanted, most)):
            raise ValueError(f"{type(self).__name__}: output_size is {wanted}, wanted {least} to "
                             f"{most}")  # fmt: skip
        return tuple(size - low for size, low in zip(wanted, least))


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
    """

    _dims = 1


class ConvTranspose2d(_Transposed):
    """Transposed convolution over images [n, in_channels, h, w]; arguments as of ConvTranspose1d,
    where a number stands for both dimensions."""

    _dims = 2


class ConvTranspose3d(_Transposed):
    """Transposed convolution over volumes [n, in_channels, d, h, w]; arguments as of
    ConvTranspose1d, where a number stands for all three dimensions."""

    _dims = 3

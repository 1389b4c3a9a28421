# SPDX-License-Identifier: Apache-2.0
"""Layers that normalise each sample: by neighbouring channels, by groups of them, or over the last
dimensions."""

from __future__ import annotations


from ..._C import Tensor
from ..._functions import empty
from ..._overloads import arange
from ..._types import DeviceLike, DtypeLike
from .. import functional as F, init
from ..parameter import Parameter
from .module import Layer, Module as Module

__all__ = ["LocalResponseNorm", "CrossMapLRN2d", "LayerNorm", "GroupNorm", "RMSNorm"]


class LocalResponseNorm(Layer):
    """x / (k + alpha * mean of the squares of `size` neighbouring channels)^beta.

    Shape: [n, c, ...]; the result has the same.
    """

    __constants__ = ["size", "alpha", "beta", "k"]

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(Layer):
    """x / (k + alpha / size * sum of the squares of neighbouring channels)^beta, of images [n, c,
    h, w]. As in PyTorch's, the sum of every channel but the first few includes the first one.

    Shape: [n, c, h, w]; the result has the same.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim != 4:
            raise ValueError(f"CrossMapLRN2d: the input is {input.ndim}D, wanted 4D")
        c, reach = arange(input.shape[1], device=input.device), int((self.size - 1) / 2)
        row, column = c.unsqueeze(1), c.unsqueeze(0)
        within = (column <= row + reach) & ((column >= row - reach) | (column == 0))
        sums = within.to(input.dtype) @ input.square().flatten(2)
        scale = sums.view_as(input) * (self.alpha / self.size) + self.k
        result: Tensor = input * scale**-self.beta
        return result

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class LayerNorm(Layer):
    """Mean 0 and variance 1 over the last dimensions, then times weight plus bias.

    Shape: [..., *normalized_shape]; the result has the same.

    Initialisation: weight = 1, bias = 0.

    Example:
        >>> nn.LayerNorm(4)(torch.zeros(2, 3, 4)).shape
        libdl.Size([2, 3, 4])
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(
        self,
        normalized_shape: int | tuple[int, ...],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape, self.eps = tuple(shape), eps
        self.elementwise_affine = elementwise_affine
        for name, wanted in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            made = Parameter(empty(self.normalized_shape, device=device, dtype=dtype))
            self.register_parameter(name, made if wanted else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight one, bias zero."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class GroupNorm(Layer):
    """Normalises groups of channels of each sample of [n, c, ...].

    Arguments:
        num_groups: into how many groups the channels are cut
        num_channels: how many channels
        eps: added to the variance
        affine: whether channels then have a weight and a bias

    Shape: [n, num_channels, ...]; the result has the same.

    Initialisation: weight = 1, bias = 0.

    Example:
        >>> nn.GroupNorm(2, 6)(torch.zeros(8, 6, 32, 32)).shape
        libdl.Size([8, 6, 32, 32])
    """

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.affine = affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            made = Parameter(empty(num_channels, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight one, bias zero."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Layer):
    """Divides by the root of the mean square over the last dimensions, then multiplies by weight.

    Arguments:
        normalized_shape: the sizes of these dimensions
        eps: added to the mean square; None: the dtype's eps
        elementwise_affine: whether there is a weight

    Shape: [..., *normalized_shape]; the result has the same.

    Initialisation: weight = 1.
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    weight: Parameter | None

    def __init__(
        self,
        normalized_shape: int | list[int] | tuple[int, ...],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape, self.eps = tuple(shape), eps
        self.elementwise_affine = elementwise_affine
        made = empty(self.normalized_shape, device=device, dtype=dtype)
        self.register_parameter("weight", Parameter(made) if elementwise_affine else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight one."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )

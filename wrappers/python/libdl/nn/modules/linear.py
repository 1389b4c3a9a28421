# SPDX-License-Identifier: Apache-2.0
"""Layers that multiply by a matrix."""

from __future__ import annotations

import math
from typing import Any

from ..._C import Tensor
from ..._functions import empty
from ..._modes import no_grad
from ..._types import DeviceLike, DtypeLike
from .. import functional as F, init
from ..parameter import Parameter, UninitializedParameter
from .lazy import LazyModuleMixin, materialize
from .module import Layer, Module

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]


class Identity(Module):
    """Returns its input; arguments of the constructor are ignored.

    Shape: any; the result has the same.

    Example:
        >>> nn.Identity()(torch.tensor([1, 2]))
        tensor([1, 2])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Layer):
    """y = x A^T + b.

    Arguments:
        in_features: size of x's last dimension
        out_features: size of y's last dimension
        bias: whether b is added

    Shape: [..., in_features] to [..., out_features].

    Initialisation: weight and bias from U(-k, k), k = 1 / sqrt(in_features).

    Example:
        >>> layer = nn.Linear(20, 30)
        >>> layer(torch.zeros(128, 20)).shape
        libdl.Size([128, 30])
        >>> layer.weight.shape, layer.bias.shape
        (libdl.Size([30, 20]), libdl.Size([30]))
    """

    __constants__ = ["in_features", "out_features"]

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(empty(out_features, in_features, device=device, dtype=dtype))
        if bias:
            self.bias: Parameter | None = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new parameters."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0.0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        # Bypasses Module.__getattr__, which costs more than the product of a small layer.
        own: dict[str, Any] = self._parameters
        if "weight" in own and "bias" in own:
            return F.linear(input, own["weight"], own["bias"])
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class NonDynamicallyQuantizableLinear(Linear):
    """Linear; PyTorch's name for the last projection of attention."""


class Bilinear(Module):
    """y = x1^T A x2 + b.

    Arguments:
        in1_features, in2_features: sizes of the inputs' last dimensions
        out_features: size of y's last dimension
        bias: whether b is added

    Shape: [..., in1_features] and [..., in2_features] to [..., out_features].

    Initialisation: weight and bias from U(-k, k), k = 1 / sqrt(in1_features).
    """

    __constants__ = ["in1_features", "in2_features", "out_features"]

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"Bilinear: in1_features is {in1_features}, wanted 1 or more")
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        self.weight = Parameter(
            empty(out_features, in1_features, in2_features, device=device, dtype=dtype)
        )
        own = Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", own)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new parameters."""
        bound = 1 / math.sqrt(self.weight.shape[1])
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear layer whose in_features is the size of the first input's last dimension.

    Shape: [..., in_features] to [..., out_features].

    Initialisation: at the first call, weight and bias from U(-k, k), k = 1 / sqrt(in_features).
    """

    cls_to_become = Linear

    def __init__(
        self,
        out_features: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draws new parameters, once they have shapes."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            with no_grad():
                materialize(self.weight, self.out_features, self.in_features)
                materialize(self.bias, self.out_features)
                self.reset_parameters()
        if self.in_features == 0:  # the parameters were loaded
            self.in_features = self.weight.shape[-1]

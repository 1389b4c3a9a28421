# SPDX-License-Identifier: Apache-2.0
"""Layers with parameters, and layers that only reshape or drop elements."""

from __future__ import annotations

import math
from typing import Any

from .._C import Tensor
from .._functions import empty
from . import functional as F, init
from .module import Layer, Module
from .parameter import Parameter


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

    def __init__(self, in_features: int, out_features: int, bias: bool = True,
                 device: Any = None, dtype: Any = None) -> None:  # fmt: skip
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


class Identity(Module):
    """Returns its input; arguments of the constructor are ignored.

    Shape: any; the result has the same.

    Example:
        >>> nn.Identity()(torch.tensor([1, 2]))
        tensor([1, 2])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class _DropoutNd(Layer):
    """What kinds of dropout have in common."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"Dropout: p is {p}, wanted 0 to 1")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """In training, elements become zero with probability p, the others are divided by 1 - p.

    Shape: any; the result has the same.

    Example:
        >>> layer = nn.Dropout(0.5)
        >>> layer.eval()(torch.ones(3))
        tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)


class Flatten(Layer):
    """Merges several adjacent dimensions into one.

    Shape: [..., s_i, ..., s_j, ...] to [..., s_i ... s_j, ...], for i = start_dim and j = end_dim.
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Layer):
    """Splits one dimension into several.

    Shape: [..., s, ...], with s the size of dim, to [..., *unflattened_size, ...].
    """

    def __init__(self, dim: int, unflattened_size: tuple[int, ...]) -> None:
        super().__init__()
        self._require_tuple_int(unflattened_size)
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def _require_tuple_int(self, input: Any) -> None:
        if not isinstance(input, (tuple, list)):
            raise TypeError("Unflatten: unflattened_size is a "
                            f"{type(input).__name__}, wanted a tuple of ints")  # fmt: skip
        for i, size in enumerate(input):
            if not isinstance(size, int):
                raise TypeError(f"Unflatten: unflattened_size[{i}] is a {type(size).__name__}, "
                                "wanted an int")  # fmt: skip

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


class LayerNorm(Layer):
    """Mean 0 and variance 1 over the last dimensions, then times weight plus bias.

    Shape: [..., *normalized_shape]; the result has the same.

    Initialisation: weight = 1, bias = 0.

    Example:
        >>> nn.LayerNorm(4)(torch.zeros(2, 3, 4)).shape
        libdl.Size([2, 3, 4])
    """

    def __init__(self, normalized_shape: int | tuple[int, ...], eps: float = 1e-5,
                 elementwise_affine: bool = True, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
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

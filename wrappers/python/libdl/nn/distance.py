# SPDX-License-Identifier: Apache-2.0
"""Similarities and other functions of two inputs, and the response of neighbours, as modules."""

from __future__ import annotations

import math
from typing import Any

from .._C import Tensor
from .._functions import empty
from .._overloads import arange
from . import functional as F, init
from .module import Layer, Module
from .parameter import Parameter


class PairwiseDistance(Module):
    """The p-norm of x1 - x2 + eps along the last dimension.

    Shape: [n, m] and [n, m], or [m] and [m], to [n] or []; with keepdim [n, 1] or [1].
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """The cosine of the angle between x1 and x2 along dim.

    Shape: x1 and x2 that broadcast together; the result has their shape without dim.
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class Bilinear(Module):
    """y = x1^T A x2 + b.

    Arguments:
        in1_features, in2_features: sizes of the inputs' last dimensions
        out_features: size of y's last dimension
        bias: whether b is added

    Shape: [..., in1_features] and [..., in2_features] to [..., out_features].

    Initialisation: weight and bias from U(-k, k), k = 1 / sqrt(in1_features).
    """

    def __init__(self, in1_features: int, in2_features: int, out_features: int, bias: bool = True,
                 device: Any = None, dtype: Any = None) -> None:  # fmt: skip
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"Bilinear: in1_features is {in1_features}, wanted 1 or more")
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        self.weight = Parameter(
            empty(out_features, in1_features, in2_features, device=device, dtype=dtype))
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


class CrossMapLRN2d(Layer):
    """x / (k + alpha / size * sum of the squares of neighbouring channels)^beta, of images [n, c, h,
    w]. As in PyTorch's, the sum of every channel but the first few includes the first one.

    Shape: [n, c, h, w]; the result has the same.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75,
                 k: float = 1) -> None:  # fmt: skip
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


class LocalResponseNorm(Layer):
    """x / (k + alpha * mean of the squares of `size` neighbouring channels)^beta.

    Shape: [n, c, ...]; the result has the same.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75,
                 k: float = 1.0) -> None:  # fmt: skip
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"

# SPDX-License-Identifier: Apache-2.0
"""Activations as modules."""

from __future__ import annotations

from .. import _functions
from .._C import Tensor
from . import functional as F
from .module import Layer


class ReLU(Layer):
    """The larger of each element and 0.

    Shape: any; the result has the same.

    Example:
        >>> nn.ReLU()(torch.tensor([-1., 2.]))
        tensor([0., 2.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class GELU(Layer):
    """Each element times the normal distribution function at it.

    Shape: any; the result has the same.

    Example:
        >>> nn.GELU()(torch.tensor([-1., 2.]))
        tensor([-0.1587,  1.9545])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class SiLU(Layer):
    """Each element times its sigmoid.

    Shape: any; the result has the same.

    Example:
        >>> nn.SiLU()(torch.tensor([-1., 2.]))
        tensor([-0.2689,  1.7616])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Sigmoid(Layer):
    """1 / (1 + exp(-x)).

    Shape: any; the result has the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        return _functions.sigmoid(input)


class Tanh(Layer):
    """The hyperbolic tangent.

    Shape: any; the result has the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        return _functions.tanh(input)


class Softmax(Layer):
    """exp(x) scaled so that its sum along dim is 1.

    Shape: any with a dimension dim; the result has the same.

    Example:
        >>> nn.Softmax(dim=1)(torch.tensor([[0., 1., 2.]]))
        tensor([[0.0900, 0.2447, 0.6652]])
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class LogSoftmax(Layer):
    """The logarithm of softmax along dim.

    Shape: any with a dimension dim; the result has the same.
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class ELU(Layer):
    """The element where positive, alpha (exp(element) - 1) elsewhere.

    Shape: any; the result has the same.
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class LeakyReLU(Layer):
    """The element where positive, negative_slope times it elsewhere.

    Shape: any; the result has the same.
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        slope = f"negative_slope={self.negative_slope}"
        return slope + (", inplace=True" if self.inplace else "")


class Hardshrink(Layer):
    """0 from -lambd to lambd, the element elsewhere.

    Shape: any; the result has the same.
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Softplus(Layer):
    """log(1 + exp(beta x)) / beta.

    Shape: any; the result has the same.
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"

# SPDX-License-Identifier: Apache-2.0
"""More activations as modules."""

from __future__ import annotations

import warnings
from typing import Any

from .._C import Tensor
from .._functions import empty
from . import functional as F
from .init import constant_
from .module import Layer
from .parameter import Parameter


class Hardtanh(Layer):
    """The element, limited to min_val to max_val.

    Shape: any; the result has the same.
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False,
                 min_value: float | None = None,
                 max_value: float | None = None) -> None:  # fmt: skip
        super().__init__()
        for old, value in (("min_val", min_value), ("max_val", max_value)):
            if value is not None:
                warnings.warn(f"keyword argument `{old}ue` is deprecated and renamed to `{old}`",
                              FutureWarning, stacklevel=2)  # fmt: skip
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(
                f"Hardtanh: max_val is {self.max_val}, wanted above min_val, {self.min_val}")

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        limits = f"min_val={self.min_val}, max_val={self.max_val}"
        return limits + (", inplace=True" if self.inplace else "")


class ReLU6(Hardtanh):
    """The element, limited to 0 to 6.

    Shape: any; the result has the same.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Hardsigmoid(Layer):
    """(x + 3) / 6, limited to 0 to 1.

    Shape: any; the result has the same.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)


class Hardswish(Layer):
    """Each element times its hardsigmoid.

    Shape: any; the result has the same.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)


class SELU(Layer):
    """1.0507 times ELU with alpha=1.6733, which keeps mean 0 and variance 1.

    Shape: any; the result has the same.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class CELU(Layer):
    """The element where positive, alpha (exp(element / alpha) - 1) elsewhere.

    Shape: any; the result has the same.
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class Mish(Layer):
    """Each element times tanh(softplus(element)).

    Shape: any; the result has the same.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Softsign(Layer):
    """x / (1 + |x|).

    Shape: any; the result has the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(Layer):
    """x - tanh(x).

    Shape: any; the result has the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class Softshrink(Layer):
    """0 from -lambd to lambd, elsewhere nearer to 0 by lambd.

    Shape: any; the result has the same.
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class GLU(Layer):
    """The first half along dim times the sigmoid of the second.

    Shape: [..., 2 m, ...], with 2 m the size of dim, to [..., m, ...].
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class PReLU(Layer):
    """The element where positive, weight times it elsewhere.

    Arguments:
        num_parameters: 1, or the number of channels
        init: the first value of weight

    Shape: any, with [n, num_parameters, ...] unless num_parameters is 1; the result has the same.

    Initialisation: weight = init.
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Every weight is init."""
        constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class RReLU(Layer):
    """The element where positive; elsewhere times a number drawn from lower to upper or, in
    evaluation, their mean.

    Shape: any; the result has the same.
    """

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3,
                 inplace: bool = False) -> None:  # fmt: skip
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        bounds = f"lower={self.lower}, upper={self.upper}"
        return bounds + (", inplace=True" if self.inplace else "")


class Threshold(Layer):
    """The element where above the threshold, value elsewhere.

    Shape: any; the result has the same.
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        shown = f"threshold={self.threshold}, value={self.value}"
        return shown + (", inplace=True" if self.inplace else "")


class LogSigmoid(Layer):
    """The logarithm of the sigmoid.

    Shape: any; the result has the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softmin(Layer):
    """exp(-x) scaled so that its sum along dim is 1.

    Shape: any with a dimension dim; the result has the same.
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax2d(Layer):
    """Softmax over the channels of [n, c, h, w] or [c, h, w].

    Shape: [n, c, h, w] or [c, h, w]; the result has the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: input has {input.ndim} dimensions, wanted 3 or 4")
        return F.softmax(input, -3)

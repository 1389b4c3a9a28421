# SPDX-License-Identifier: Apache-2.0
"""Activations, and attention of several heads."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from ... import _functions
from ..._C import Tensor
from ..._functions import empty
from ..._types import DeviceLike, DtypeLike
from .. import functional as F
from ..init import constant_, xavier_normal_, xavier_uniform_, zeros_
from ..parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear
from .module import Layer, Module

__all__ = [
    "Threshold",
    "ReLU",
    "RReLU",
    "Hardtanh",
    "ReLU6",
    "Sigmoid",
    "Hardsigmoid",
    "Tanh",
    "SiLU",
    "Mish",
    "Hardswish",
    "ELU",
    "CELU",
    "SELU",
    "GLU",
    "GELU",
    "Hardshrink",
    "LeakyReLU",
    "LogSigmoid",
    "Softplus",
    "Softshrink",
    "MultiheadAttention",
    "PReLU",
    "Softsign",
    "Tanhshrink",
    "Softmin",
    "Softmax",
    "Softmax2d",
    "LogSoftmax",
]


class Threshold(Layer):
    """The element where above the threshold, value elsewhere.

    Shape: any; the result has the same.
    """

    __constants__ = ["threshold", "value", "inplace"]

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        shown = f"threshold={self.threshold}, value={self.value}"
        return shown + (", inplace=True" if self.inplace else "")


class ReLU(Layer):
    """The larger of each element and 0.

    Shape: any; the result has the same.

    Example:
        >>> nn.ReLU()(torch.tensor([-1., 2.]))
        tensor([0., 2.])
    """

    __constants__ = ["inplace"]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class RReLU(Layer):
    """The element where positive; elsewhere times a number drawn from lower to upper or, in
    evaluation, their mean.

    Shape: any; the result has the same.
    """

    __constants__ = ["lower", "upper", "inplace"]

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        bounds = f"lower={self.lower}, upper={self.upper}"
        return bounds + (", inplace=True" if self.inplace else "")


class Hardtanh(Layer):
    """The element, limited to min_val to max_val.

    Shape: any; the result has the same.
    """

    __constants__ = ["min_val", "max_val", "inplace"]

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        for old, value in (("min_val", min_value), ("max_val", max_value)):
            if value is not None:
                warnings.warn(
                    f"keyword argument `{old}ue` is deprecated and renamed to `{old}`",
                    FutureWarning,
                    stacklevel=2,
                )
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(
                f"Hardtanh: max_val is {self.max_val}, wanted above min_val, {self.min_val}"
            )

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


class Sigmoid(Layer):
    """1 / (1 + exp(-x)).

    Shape: any; the result has the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        return _functions.sigmoid(input)


class Hardsigmoid(Layer):
    """(x + 3) / 6, limited to 0 to 1.

    Shape: any; the result has the same.
    """

    __constants__ = ["inplace"]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)


class Tanh(Layer):
    """The hyperbolic tangent.

    Shape: any; the result has the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        return _functions.tanh(input)


class SiLU(Layer):
    """Each element times its sigmoid.

    Shape: any; the result has the same.

    Example:
        >>> nn.SiLU()(torch.tensor([-1., 2.]))
        tensor([-0.2689,  1.7616])
    """

    __constants__ = ["inplace"]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Mish(Layer):
    """Each element times tanh(softplus(element)).

    Shape: any; the result has the same.
    """

    __constants__ = ["inplace"]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Hardswish(Layer):
    """Each element times its hardsigmoid.

    Shape: any; the result has the same.
    """

    __constants__ = ["inplace"]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)


class ELU(Layer):
    """The element where positive, alpha (exp(element) - 1) elsewhere.

    Shape: any; the result has the same.
    """

    __constants__ = ["alpha", "inplace"]

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class CELU(Layer):
    """The element where positive, alpha (exp(element / alpha) - 1) elsewhere.

    Shape: any; the result has the same.
    """

    __constants__ = ["alpha", "inplace"]

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class SELU(Layer):
    """1.0507 times ELU with alpha=1.6733, which keeps mean 0 and variance 1.

    Shape: any; the result has the same.
    """

    __constants__ = ["inplace"]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class GLU(Layer):
    """The first half along dim times the sigmoid of the second.

    Shape: [..., 2 m, ...], with 2 m the size of dim, to [..., m, ...].
    """

    __constants__ = ["dim"]

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class GELU(Layer):
    """Each element times the normal distribution function at it.

    Shape: any; the result has the same.

    Example:
        >>> nn.GELU()(torch.tensor([-1., 2.]))
        tensor([-0.1587,  1.9545])
    """

    __constants__ = ["approximate"]

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Hardshrink(Layer):
    """0 from -lambd to lambd, the element elsewhere.

    Shape: any; the result has the same.
    """

    __constants__ = ["lambd"]

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class LeakyReLU(Layer):
    """The element where positive, negative_slope times it elsewhere.

    Shape: any; the result has the same.
    """

    __constants__ = ["inplace", "negative_slope"]

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        slope = f"negative_slope={self.negative_slope}"
        return slope + (", inplace=True" if self.inplace else "")


class LogSigmoid(Layer):
    """The logarithm of the sigmoid.

    Shape: any; the result has the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softplus(Layer):
    """log(1 + exp(beta x)) / beta.

    Shape: any; the result has the same.
    """

    __constants__ = ["beta", "threshold"]

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class Softshrink(Layer):
    """0 from -lambd to lambd, elsewhere nearer to 0 by lambd.

    Shape: any; the result has the same.
    """

    __constants__ = ["lambd"]

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class MultiheadAttention(Module):
    """Attention of num_heads heads between projections; the formula is that of
    functional.multi_head_attention_forward.

    Arguments:
        embed_dim: features of query and result; a multiple of num_heads
        num_heads: heads, each of embed_dim / num_heads features
        dropout: in training, a weight becomes 0 with this probability
        bias: whether the projections add biases
        add_bias_kv: whether parameters bias_k and bias_v are appended to key and value
        add_zero_attn: whether zeros are appended to key and value
        kdim, vdim: features of key and value; None: embed_dim
        batch_first: whether the batch comes before the steps

    Parameters: in_proj_weight [3 embed_dim, embed_dim], or q_proj_weight, k_proj_weight and
    v_proj_weight if kdim or vdim differ from embed_dim; in_proj_bias; bias_k, bias_v; out_proj.

    Errors: ValueError (embed_dim or num_heads not positive), AssertionError (embed_dim no multiple
    of num_heads).

    Shape: query [l, n, embed_dim], key [s, n, kdim] and value [s, n, vdim] to output [l, n,
    embed_dim] and weights [n, l, s], or [n, num_heads, l, s] without their average; with
    batch_first n comes first; all without n for one sequence.

    Initialisation: input projections from U(-a, a), a = sqrt(6 / (fan_in + fan_out)) of each weight
    (init.xavier_uniform_), so sqrt(6 / (4 embed_dim)) for in_proj_weight; out_proj.weight from
    U(-k, k), k = 1 / sqrt(embed_dim); in_proj_bias = 0, out_proj.bias = 0; bias_k and bias_v from
    N(0, 1 / embed_dim).
    """

    __constants__ = ["batch_first"]

    in_proj_weight: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        for name, given in (("embed_dim", embed_dim), ("num_heads", num_heads)):
            if given <= 0:
                raise ValueError(f"MultiheadAttention: {name} is {given}, wanted more than 0")
        if embed_dim % num_heads:
            raise AssertionError(
                f"MultiheadAttention: embed_dim is {embed_dim}, wanted a multiple "
                f"of num_heads, {num_heads}"
            )
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn

        same = self._qkv_same_embed_dim
        for name, wanted, shape in (
            ("q_proj_weight", not same, (embed_dim, embed_dim)),
            ("k_proj_weight", not same, (embed_dim, self.kdim)),
            ("v_proj_weight", not same, (embed_dim, self.vdim)),
            ("in_proj_weight", same, (3 * embed_dim, embed_dim)),
            ("in_proj_bias", bias, (3 * embed_dim,)),
        ):
            made = Parameter(empty(*shape, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, made)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            self.bias_k = Parameter(empty(1, 1, embed_dim, device=device, dtype=dtype))
            self.bias_v = Parameter(empty(1, 1, embed_dim, device=device, dtype=dtype))
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if (weight := getattr(self, name)) is not None:
                xavier_uniform_(weight)
        if self.in_proj_bias is not None and self.out_proj.bias is not None:
            zeros_(self.in_proj_bias)
            zeros_(self.out_proj.bias)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                xavier_normal_(bias)

    if TYPE_CHECKING:

        def __call__(
            self,
            query: Tensor,
            key: Tensor,
            value: Tensor,
            key_padding_mask: Tensor | None = None,
            need_weights: bool = True,
            attn_mask: Tensor | None = None,
            average_attn_weights: bool = True,
            is_causal: bool = False,
        ) -> tuple[Tensor, Tensor | None]: ...

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """query [l, n, e], key [s, n, kdim] and value [s, n, vdim] (batch_first: [n, l, e], ...;
        without a batch: [l, e], ...); the masks, the weights and is_causal are those of
        functional.multi_head_attention_forward."""
        turned = self.batch_first and query.ndim == key.ndim == value.ndim == 3
        if turned:  # what is one tensor stays one: it is projected by one product
            k = key.transpose(0, 1)
            v = k if value is key else value.transpose(0, 1)
            query, key, value = k if query is key else query.transpose(0, 1), k, v
        y, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            self.training,
            key_padding_mask,
            need_weights,
            attn_mask,
            not self._qkv_same_embed_dim,
            self.q_proj_weight,
            self.k_proj_weight,
            self.v_proj_weight,
            None,
            None,
            average_attn_weights,
            is_causal,
        )
        return y.transpose(0, 1) if turned else y, weights

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """Both masks, of numbers, as one, and its kind, for a query [n, l, e] that is also the
        key: None; 1: key_padding_mask [n, l] as it is; 2: [n, num_heads, l, l], the sum."""
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        n, steps, _ = query.shape
        if attn_mask.ndim == 3:
            merged = attn_mask.view(n, -1, steps, steps)
        else:
            merged = attn_mask.view(1, 1, steps, steps).expand(n, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(n, 1, 1, steps)
        return merged, 2


class PReLU(Layer):
    """The element where positive, weight times it elsewhere.

    Arguments:
        num_parameters: 1, or the number of channels
        init: the first value of weight

    Shape: any, with [n, num_parameters, ...] unless num_parameters is 1; the result has the same.

    Initialisation: weight = init.
    """

    __constants__ = ["num_parameters"]

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
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


class Softmin(Layer):
    """exp(-x) scaled so that its sum along dim is 1.

    Shape: any with a dimension dim; the result has the same.
    """

    __constants__ = ["dim"]

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(Layer):
    """exp(x) scaled so that its sum along dim is 1.

    Shape: any with a dimension dim; the result has the same.

    Example:
        >>> nn.Softmax(dim=1)(torch.tensor([[0., 1., 2.]]))
        tensor([[0.0900, 0.2447, 0.6652]])
    """

    __constants__ = ["dim"]

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)

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


class LogSoftmax(Layer):
    """The logarithm of softmax along dim.

    Shape: any with a dimension dim; the result has the same.
    """

    __constants__ = ["dim"]

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"

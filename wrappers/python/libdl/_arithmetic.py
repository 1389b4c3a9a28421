# SPDX-License-Identifier: Apache-2.0
"""Elementwise functions that PyTorch, too, composes of others: powers, differences, tests, fills."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any

from . import _C, _functions as f
from ._C import Tensor
from ._errors import ArgumentValueError, DtypeError, ShapeError, want_a_tensor
from ._modes import get_default_dtype
from ._out import copied, in_place
from ._overloads import arange
from ._types import complex128, float64

__all__ = [
    "fill", "float_power", "isneginf", "isposinf", "isreal", "ldexp", "mvlgamma", "positive", "put",
    "rsub",
]  # fmt: skip


def positive(input: Tensor) -> Tensor:
    """The tensor itself, as +x in Python; bool is refused."""
    if input.dtype.name == "bool":
        raise NotImplementedError("positive: argument 1 (input) is bool, wanted numbers")
    return +input


def rsub(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """other - alpha * input."""
    return _C.sub(other, input, alpha)


def _doubled(x: Any) -> Any:
    if not isinstance(x, Tensor):
        return complex(x) if isinstance(x, complex) else float(x)
    return x.to(complex128 if x.is_complex() else float64)


def float_power(input: Any, exponent: Any, *, out: Tensor | None = None) -> Tensor:
    """pow in double precision: the result is float64, or complex128 if an operand is complex."""
    want_a_tensor("float_power", input=input, exponent=exponent)
    base, power = _doubled(input), _doubled(exponent)
    if not isinstance(base, Tensor):
        wanted = complex128 if isinstance(base, complex) or power.is_complex() else float64
        base = f.full((), base, dtype=wanted, device=power.device)
    return f.pow(base, power, out=out)


def _float_power_(self: Tensor, exponent: Any) -> Tensor:
    """In place: see float_power. Tensors of other dtypes than its result's raise."""
    wanted = complex128 if self.is_complex() or _is_complex(exponent) else float64
    if self.dtype is not wanted:
        raise DtypeError(f"float_power_: argument 1 (input) is {self.dtype}, wanted {wanted}")
    return _WRITE_POWER(self, exponent)


_WRITE_POWER = in_place(float_power)


def _is_complex(x: Any) -> bool:
    return x.is_complex() if isinstance(x, Tensor) else isinstance(x, complex)


def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input * 2^other, rounded once: 2^other itself need not be a number of the result's dtype."""
    from . import result_type

    if not isinstance(other, Tensor):
        raise TypeError(f"ldexp: argument 2 (other) is a {type(other).__name__}, wanted a tensor")
    dtype = result_type(input, other)
    if other.is_complex():
        return copied((input * 2.0**other).to(dtype=dtype), out)
    if not (dtype.is_floating_point or dtype.is_complex):
        dtype = get_default_dtype()
    x, exponent = _doubled(input), _doubled(other)
    # Two thirds of what is large as factors of their own, whose products are exact unless the result
    # is 0 or infinite. No number needs a larger one than 2098.
    part = f.where(exponent.abs() > 1000, (exponent.detach().clamp(-3000, 3000) / 3).trunc(), 0.0)
    rest = exponent - 2 * part
    moved = rest - rest.detach()  # 0: the slope is that of all exponents
    rest = f.where(exponent.isinf(), exponent, rest.detach().clamp(-1022, 1023) + moved)
    made = x * 2.0**part * 2.0**part * 2.0**rest
    return copied(made.to(dtype=dtype), out)


def mvlgamma(input: Tensor, p: int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the multivariate gamma function of order p: p (p - 1) / 4 log(pi) + the sum of
    lgamma(input - i / 2) for i from 0 to p - 1."""
    if p < 1:
        raise ArgumentValueError(f"mvlgamma: argument 2 (p) is {p}, wanted 1 or more")
    x = input if input.is_floating_point() else f.mul(input, 1.0)
    halves = arange(p, device=x.device).to(dtype=x.dtype) / 2
    total = f.lgamma(x.unsqueeze(-1) - halves).sum(-1) + p * (p - 1) / 4 * math.log(math.pi)
    return copied(total, out)


def _signed_infinity(name: str, value: float) -> Any:
    def test(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        if input.is_complex():
            raise DtypeError(f"{name}: argument 1 (input) is {input.dtype}, wanted a real dtype")
        return f.eq(input, value, out=out)

    test.__name__ = test.__qualname__ = name
    test.__doc__ = f"Which elements are {value}."
    return test


isposinf, isneginf = _signed_infinity("isposinf", math.inf), _signed_infinity("isneginf", -math.inf)


def isreal(input: Tensor) -> Tensor:
    """Which elements have no imaginary part."""
    return input.imag == 0 if input.is_complex() else f.ones_like(input, dtype=bool)


def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor of input's shape and dtype that holds value, a number or 0-d tensor, everywhere."""
    if isinstance(value, Tensor) and value.ndim:
        raise ShapeError(f"fill: argument 2 (value) has shape {list(value.shape)}, wanted 0-d")
    return f.clone(input).fill_(value)


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with source's elements written (or added) to places counted in row-major order."""
    return f.clone(input).put_(index, source, accumulate)


def _conj_physical_(self: Tensor) -> Tensor:
    """In place: see libdl.conj_physical."""
    return self.copy_(self.conj() if self.is_complex() else self)  # which counts as a write


def _polygamma(self: Tensor, n: int) -> Tensor:
    """The n-th derivative of digamma; see libdl.polygamma."""
    return f.polygamma(n, self)


for _method in (float_power, isneginf, isposinf, isreal, ldexp, mvlgamma, positive, put):
    setattr(Tensor, _method.__name__, _method)
_polygamma.__name__ = _polygamma.__qualname__ = "polygamma"
setattr(Tensor, "polygamma", _polygamma)
setattr(Tensor, "polygamma_", in_place(_polygamma))
for _method in (ldexp, mvlgamma):
    setattr(Tensor, _method.__name__ + "_", in_place(_method))
for _method in (_conj_physical_, _float_power_):
    _method.__name__ = _method.__qualname__ = _method.__name__[1:]
    setattr(Tensor, _method.__name__, _method)

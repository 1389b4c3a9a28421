# SPDX-License-Identifier: Apache-2.0
"""frexp as a named pair, and divisors of integers."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any

from . import _C, _functions as f, return_types
from ._C import Overridden, Tensor
from ._errors import DtypeError, want_tensors
from ._out import copied, in_place
from ._overrides import override

__all__ = ["frexp", "gcd", "lcm"]


def frexp(input: Tensor, *, out: Any = None) -> Any:
    """mantissa, of size 1/2 to 1, and exponent, int32, with input = mantissa * 2^exponent; of 0,
    infinity and NaN they are input and 0. The gradient is that of a division by 2^exponent."""
    try:
        mantissa, exponent = _C.frexp(input)
    except Overridden:
        return override(frexp, input, out=out)
    if out is not None:
        mantissa, exponent = copied(mantissa, out[0]), copied(exponent, out[1])
    return return_types.frexp(mantissa, exponent)


def _wholes(function: str, input: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    from . import broadcast_tensors, result_type

    want_tensors(function, input=input, other=other)
    for name, x in (("1 (input)", input), ("2 (other)", other)):
        if x.is_floating_point() or x.is_complex() or x.dtype.name == "bool":
            raise NotImplementedError(f"{function}: argument {name} is {x.dtype}, wanted integers")
    dtype = result_type(input, other)
    x, y = broadcast_tensors(input.to(dtype=dtype), other.to(dtype=dtype))
    return x, y


def gcd(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The greatest common divisor of integers, by Euclid's algorithm; of 0 and 0 it is 0."""
    x, y = _wholes("gcd", input, other)
    x, y = x.abs() if x.dtype.is_signed else x, y.abs() if y.dtype.is_signed else y
    while not y.is_meta and bool((y != 0).any()):
        left = y != 0
        rest = f.remainder(x, f.where(left, y, f.ones_like(y)))
        x, y = f.where(left, y, x), f.where(left, rest, y)
    return copied(x.abs().clone() if x.dtype.is_signed else x.clone(), out)


def lcm(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The least common multiple of integers, modulo the dtype's range; with 0 it is 0."""
    x, y = _wholes("lcm", input, other)
    dtype = x.dtype
    if dtype.itemsize < 4:  # the sign goes before the product is cut to 8 or 16 bits
        x, y = x.int(), y.int()
    divisor = gcd(x, y)
    part = f.floor_divide(x, f.where(divisor == 0, f.ones_like(divisor), divisor))
    made = part * y
    return copied((made.abs() if made.dtype.is_signed else made).to(dtype=dtype), out)


def _nextafter_(self: Tensor, other: Tensor) -> Tensor:
    """In place: see nextafter."""
    made = f.nextafter(self, other)
    if made.dtype is not self.dtype:
        raise DtypeError(f"nextafter_: argument 2 (other) is {other.dtype}, wanted {self.dtype}")
    return self.copy_(made)


_nextafter_.__name__ = _nextafter_.__qualname__ = "nextafter_"
for _method in (frexp, gcd, lcm, _nextafter_):
    setattr(Tensor, _method.__name__, _method)
for _method in (gcd, lcm):
    setattr(Tensor, _method.__name__ + "_", in_place(_method))

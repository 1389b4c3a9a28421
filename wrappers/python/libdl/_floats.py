# SPDX-License-Identifier: Apache-2.0
"""The parts of floating numbers, read from their bits, and divisors of integers."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any

from . import _C, _functions as f, return_types
from ._C import Tensor
from ._errors import DtypeError, want_tensors
from ._out import copied, in_place
from ._types import dtype as Dtype, finfo, int16, int32, int64

__all__ = ["frexp", "gcd", "lcm", "nextafter"]

# Integers of as many bits, and the bits of the fraction.
_LAYOUT = {"float16": (int16, 10), "bfloat16": (int16, 7), "float32": (int32, 23), "float64": (int64, 52)}


def _floating(function: str, argument: str, dtype: Dtype) -> tuple[Dtype, int]:
    if dtype.name not in _LAYOUT:
        raise NotImplementedError(f"{function}: argument {argument} is {dtype}, wanted a floating dtype")
    return _LAYOUT[dtype.name]


def nextafter(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The number next to input towards other, in the promoted floating dtype. The gradient is
    input's, but 0 at infinity and where both are equal."""
    from . import broadcast_tensors, result_type

    dtype = result_type(input, other)
    whole, _ = _floating("nextafter", "1 (input)", dtype)
    given, towards = broadcast_tensors(input.to(dtype=dtype), other.to(dtype=dtype))
    x, to = given.detach(), towards.detach()
    bits = x.contiguous().view(whole)
    beside = f.where((to > x) == (x > 0), bits + 1, bits - 1).view(dtype)
    least = f.copysign(f.ones_like(bits).view(dtype), to)  # from 0
    made = f.where(x == 0, least, beside)
    made = f.where(f.isnan(x) | f.isnan(to), x + to, f.where(x == to, to, made))
    if given.requires_grad or towards.requires_grad or _C.forward_level(0):
        still = (x == to) | f.isinf(x)
        made = f.where(still, made, given - (x - made))  # exact, for they are neighbours
        made = f.where(f.zeros_like(x, dtype=bool), towards, made)
    return copied(made, out)


def frexp(input: Tensor, *, out: Any = None) -> Any:
    """mantissa, of size 1/2 to 1, and exponent, int32, with input = mantissa * 2^exponent; of 0,
    infinity and NaN they are input and 0. The gradient is that of a division by 2^exponent."""
    whole, digits = _floating("frexp", "1 (input)", input.dtype)
    x = input.detach()
    tiny = (x != 0) & (x.abs() < finfo(input.dtype).tiny)
    x = f.where(tiny, x * 2.0**digits, x).contiguous()
    width = 8 * input.element_size() - 1 - digits
    field = (x.view(whole) >> digits) & (2**width - 1)
    plain = (field != 0) & (field != 2**width - 1)
    exponent = f.where(plain, field - (2 ** (width - 1) - 2), f.zeros_like(field)).int()
    exponent = f.where(tiny, exponent - digits, exponent)
    half = exponent // 2  # 2^-exponent itself may be infinite
    scaled = input * _power(-half, input.dtype) * _power(half - exponent, input.dtype)
    if out is not None:
        scaled, exponent = copied(scaled, out[0]), copied(exponent, out[1])
    return return_types.frexp(scaled, exponent)


def _power(exponent: Tensor, dtype: Dtype) -> Tensor:
    return (2.0 ** exponent.double()).to(dtype=dtype)


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
    made = nextafter(self, other)
    if made.dtype is not self.dtype:
        raise DtypeError(f"nextafter_: argument 2 (other) is {other.dtype}, wanted {self.dtype}")
    return self.copy_(made)


_nextafter_.__name__ = _nextafter_.__qualname__ = "nextafter_"
for _method in (frexp, gcd, lcm, nextafter, _nextafter_):
    setattr(Tensor, _method.__name__, _method)
for _method in (gcd, lcm):
    setattr(Tensor, _method.__name__ + "_", in_place(_method))

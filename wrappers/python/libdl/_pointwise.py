# SPDX-License-Identifier: Apache-2.0
"""Elementwise functions and fills in the ways that Python alone has: other orders of arguments,
named results, in-place methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _C, _functions as f, return_types
from ._C import Tensor, overridable
from ._creation import tensor
from ._errors import ArgumentValueError, DtypeError, ShapeError
from ._modes import no_grad
from ._out import copied, in_place
from ._types import Generator, Number, complex128, float64

__all__ = ["fill", "frexp", "positive", "rsub"]


@overridable
def positive(input: Tensor) -> Tensor:
    """The tensor itself, as +x in Python; bool is refused."""
    if input.dtype.name == "bool":
        raise NotImplementedError("positive: argument 1 (input) is bool, wanted numbers")
    return +input


@overridable
def rsub(input: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """other - alpha * input."""
    return _C.sub(other, input, alpha)


@overridable
def _float_power_(self: Tensor, exponent: Tensor | Number) -> Tensor:
    """In place: see float_power. Tensors of other dtypes than its result's raise."""
    expected = complex128 if self.is_complex() or _is_complex(exponent) else float64
    if self.dtype is not expected:
        raise DtypeError(f"float_power_: argument 1 (input) is {self.dtype}, wanted {expected}")
    return _C.float_power_into(self, exponent, self)


def _is_complex(x: object) -> bool:
    return x.is_complex() if isinstance(x, Tensor) else isinstance(x, complex)


@overridable
def fill(input: Tensor, value: Tensor | Number) -> Tensor:
    """A tensor of input's shape and dtype that holds value, a number or 0-d tensor, everywhere."""
    if isinstance(value, Tensor) and value.ndim:
        raise ShapeError(f"fill: argument 2 (value) has shape {list(value.shape)}, wanted 0-d")
    return f.clone(input).fill_(value)


@overridable
def _conj_physical_(self: Tensor) -> Tensor:
    """In place: see libdl.conj_physical."""
    return self.copy_(self.conj() if self.is_complex() else self)  # which counts as a write


@overridable
def _polygamma(self: Tensor, n: int) -> Tensor:
    """The n-th derivative of digamma; see libdl.polygamma."""
    return f.polygamma(n, self)


@overridable
def frexp(input: Tensor, *, out: tuple[Tensor, Tensor] | None = None) -> return_types.frexp:
    """mantissa, of size 1/2 to 1, and exponent, int32, with input = mantissa * 2^exponent; of 0,
    infinity and NaN they are input and 0. The gradient is that of a division by 2^exponent."""
    mantissa, exponent = _C.frexp(input)
    if out is not None:
        mantissa, exponent = copied(mantissa, out[0]), copied(exponent, out[1])
    return return_types.frexp(mantissa, exponent)


@overridable
def _nextafter_(self: Tensor, other: Tensor) -> Tensor:
    """In place: see nextafter."""
    result = f.nextafter(self, other)
    if result.dtype is not self.dtype:
        raise DtypeError(f"nextafter_: argument 2 (other) is {other.dtype}, wanted {self.dtype}")
    return self.copy_(result)


# -- fills, and single elements --------------------------------------------------------------------


@overridable
def _random_(
    self: Tensor, *bounds: int, generator: Generator | None = None, **named: int | None
) -> Tensor:
    """Overwrites the tensor with uniform integers: random_(), random_(to), random_(from, to).
    Without bounds they go up to what the dtype holds exactly."""
    low: int | None = named.get("from", 0)
    high = named.get("to")
    if len(bounds) == 1 and high is None:
        high = bounds[0]
    elif bounds:
        low, high = bounds[0], bounds[1] if len(bounds) > 1 else high
    if high is None:
        digits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
        kind = self.dtype.name
        bits = digits.get(kind, 1 if kind == "bool" else 8 * self.element_size())
        high = (
            2 ** (bits - (1 if kind.startswith("int") else 0))
            if kind not in digits
            else (2**bits + 1)
        )
        high = min(high, 2**63 - 1)
    with no_grad():
        return _C.randint_into(
            low, high, list(self.shape), generator, self.dtype, self.device, self
        )


@overridable
def _fill_diagonal_(self: Tensor, fill_value: Number, wrap: bool = False) -> Tensor:
    """Writes a number to the elements whose indices are all equal; wrap: of a tall matrix, begins
    anew below each square."""
    if self.ndim < 2 or (self.ndim > 2 and len(set(self.shape)) > 1):
        raise ArgumentValueError(
            f"fill_diagonal_: the tensor has shape {list(self.shape)}, wanted 2-d, or equal sizes"
        )
    count = min(self.shape)
    if self.ndim == 2:
        rows, columns = self.shape
        f.diagonal(self).fill_(fill_value)
        if wrap and rows > columns + 1:
            for top in range(columns + 1, rows, columns + 1):
                f.diagonal(self[top:]).fill_(fill_value)
        return self
    stride = sum(self.stride())
    f.as_strided(self, (count,), (stride,), self.storage_offset()).fill_(fill_value)
    return self


# -- functions of Python ---------------------------------------------------------------------------


@overridable
def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replaces each element by callable(element, the other's); slow, for experiments."""
    return _mapped(self, callable, tensor)


@overridable
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replaces each element by callable(element, x's, y's); slow, for experiments."""
    return _mapped(self, callable, x, y)


def _mapped(self: Tensor, function: Callable[..., Any], *others: Tensor) -> Tensor:
    if self.requires_grad or any(x.requires_grad for x in others):
        raise RuntimeError("map_: a tensor requires grad, and functions of the host have none")
    rows = [self, *(x.expand(self.shape) for x in others)]
    values = map(function, *(x.reshape(-1).tolist() for x in rows))
    self.copy_(tensor(list(values), dtype=self.dtype).view(self.shape))
    return self


_method: Any
for _method in (frexp, map2_, map_, positive):
    setattr(Tensor, _method.__name__, _method)
_polygamma.__name__ = _polygamma.__qualname__ = "polygamma"
setattr(Tensor, "polygamma", _polygamma)
setattr(Tensor, "polygamma_", in_place(_polygamma))
for _method in (_conj_physical_, _fill_diagonal_, _float_power_, _nextafter_, _random_):
    _method.__name__ = _method.__qualname__ = _method.__name__[1:]
    setattr(Tensor, _method.__name__, _method)

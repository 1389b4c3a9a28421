# SPDX-License-Identifier: Apache-2.0
"""What Python alone has of elementwise functions: other orders of arguments, fills, in-place forms."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any

from . import _C, _functions as f
from ._C import Tensor, overridable
from ._errors import DtypeError, ShapeError
from ._out import in_place
from ._types import complex128, float64

__all__ = ["fill", "positive", "put", "rsub"]


@overridable
def positive(input: Tensor) -> Tensor:
    """The tensor itself, as +x in Python; bool is refused."""
    if input.dtype.name == "bool":
        raise NotImplementedError("positive: argument 1 (input) is bool, wanted numbers")
    return +input


@overridable
def rsub(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """other - alpha * input."""
    return _C.sub(other, input, alpha)


@overridable
def _float_power_(self: Tensor, exponent: Any) -> Tensor:
    """In place: see float_power. Tensors of other dtypes than its result's raise."""
    wanted = complex128 if self.is_complex() or _is_complex(exponent) else float64
    if self.dtype is not wanted:
        raise DtypeError(f"float_power_: argument 1 (input) is {self.dtype}, wanted {wanted}")
    return _C.float_power_into(self, exponent, self)


def _is_complex(x: Any) -> bool:
    return x.is_complex() if isinstance(x, Tensor) else isinstance(x, complex)


@overridable
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor of input's shape and dtype that holds value, a number or 0-d tensor, everywhere."""
    if isinstance(value, Tensor) and value.ndim:
        raise ShapeError(f"fill: argument 2 (value) has shape {list(value.shape)}, wanted 0-d")
    return f.clone(input).fill_(value)


@overridable
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with source's elements written (or added) to places counted in row-major order."""
    return f.clone(input).put_(index, source, accumulate)


@overridable
def _conj_physical_(self: Tensor) -> Tensor:
    """In place: see libdl.conj_physical."""
    return self.copy_(self.conj() if self.is_complex() else self)  # which counts as a write


@overridable
def _polygamma(self: Tensor, n: int) -> Tensor:
    """The n-th derivative of digamma; see libdl.polygamma."""
    return f.polygamma(n, self)


for _method in (positive, put):
    setattr(Tensor, _method.__name__, _method)
_polygamma.__name__ = _polygamma.__qualname__ = "polygamma"
setattr(Tensor, "polygamma", _polygamma)
setattr(Tensor, "polygamma_", in_place(_polygamma))
for _method in (_conj_physical_, _float_power_):
    _method.__name__ = _method.__qualname__ = _method.__name__[1:]
    setattr(Tensor, _method.__name__, _method)

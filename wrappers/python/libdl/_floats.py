# SPDX-License-Identifier: Apache-2.0
"""frexp as a named pair."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any

from . import _C, _functions as f, return_types
from ._C import Overridden, Tensor, overridable
from ._errors import DtypeError
from ._out import copied
from ._overrides import override

__all__ = ["frexp"]


@overridable
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


@overridable
def _nextafter_(self: Tensor, other: Tensor) -> Tensor:
    """In place: see nextafter."""
    made = f.nextafter(self, other)
    if made.dtype is not self.dtype:
        raise DtypeError(f"nextafter_: argument 2 (other) is {other.dtype}, wanted {self.dtype}")
    return self.copy_(made)


_nextafter_.__name__ = _nextafter_.__qualname__ = "nextafter_"
for _method in (frexp, _nextafter_):
    setattr(Tensor, _method.__name__, _method)

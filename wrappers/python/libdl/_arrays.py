# SPDX-License-Identifier: Apache-2.0
"""Tensors with NumPy: ufuncs accept tensors, and return tensors.

NumPy calls __array__ for the elements and __array_wrap__ for the result, as with PyTorch. None of
this is recorded, so a tensor that requires grad is refused.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _C
from ._C import Tensor, overridable
from ._types import DtypeLike

if TYPE_CHECKING:
    import numpy

_UFUNCS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}


def beside_array(operator: str, a: object, b: object) -> Any:
    """Called by the number slots if one operand is a numpy.ndarray: NumPy's operator, with its
    dtypes."""
    import numpy

    return getattr(numpy, _UFUNCS[operator.strip("_")])(a, b)


_C.register("beside_array", beside_array)


@overridable
def as_array(
    self: Tensor, dtype: DtypeLike | None = None, copy: bool | None = None
) -> numpy.ndarray:
    """The tensor as an array, for numpy.asarray: shares its memory unless dtype or copy forbids."""
    array: Any = self.numpy()
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError(f"__array__: copy=False, but {array.dtype} must become {dtype}")
        return array.astype(dtype)
    return array.copy() if copy else array


def wrap_array(
    self: Tensor, array: Any, context: object = None, return_scalar: bool = False
) -> Tensor:
    """A ufunc's result as a tensor."""
    return _C.from_numpy(array) if hasattr(array, "__setitem__") else _C.from_numpy(array[...])


as_array.__name__ = "__array__"  # which classes and modes are shown
Tensor.__array__ = as_array  # type: ignore[method-assign]
Tensor.__array_wrap__ = wrap_array  # type: ignore[method-assign]

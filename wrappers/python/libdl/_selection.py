# SPDX-License-Identifier: Apache-2.0
"""Statistics that have several signatures, or name their results."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any

from . import _C, _functions as f, return_types
from ._C import Overridden, Tensor, overridable
from ._dimensions import one_dimension
from ._documents import FUNCTIONS
from ._errors import Error, rename_error
from ._out import both_copied, write
from ._overrides import override
from ._types import ValuesIndices

__all__ = [
    "aminmax", "median", "mode", "nanmedian", "nanquantile", "quantile", "std_mean", "unique",
    "unique_consecutive", "var_mean",
]  # fmt: skip


def _or_none(function: str, argument: int, dim: Any, input: Tensor) -> int | None:
    return None if dim is None else one_dimension(function, argument, dim, input.ndim)


# -- unique elements -------------------------------------------------------------------------------


def _asked(made: Any, *asked: bool) -> Any:
    """The values, and those of the other results that were asked for."""
    told = (made[0], *(x for x, wanted in zip(made[1:], asked) if wanted))
    return told[0] if len(told) == 1 else told


@overridable
def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """The different elements (or slices along dim), in ascending order; with return_inverse where
    each element went, with return_counts how many went there. NaN differs from NaN."""
    dim = _or_none("unique", 5, dim, input)
    made = f.unique(input, sorted, return_inverse, return_counts, dim)
    return _asked(made, return_inverse, return_counts)


@overridable
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """The elements (or slices along dim) that differ from the one before."""
    dim = _or_none("unique_consecutive", 4, dim, input)
    made = f.unique_consecutive(input, return_inverse, return_counts, dim)
    return _asked(made, return_inverse, return_counts)


# -- what the order tells --------------------------------------------------------------------------


def _median_like(name: str) -> Any:
    whole, along = getattr(_C, name), getattr(_C, f"{name}_dim")
    whole_into, pair = getattr(_C, f"{name}_into"), getattr(return_types, name)

    @overridable
    def median(
        input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None
    ) -> Any:
        try:
            if dim is None:
                return whole(input) if out is None else write(whole_into, (input,), out)
            found = pair(*along(input, one_dimension(name, 2, dim, input.ndim), keepdim))
        except Overridden:
            given = [input] if dim is None else [input, dim, keepdim]
            return override(median, *given, **({} if out is None else {"out": out}))
        except Error as error:
            rename_error(error, name, "", {"dst": (4, "out")})
            raise
        return found if out is None else both_copied(name, 4, found, out)

    median.__name__ = median.__qualname__ = name
    median.__doc__ = FUNCTIONS[name]
    return median


median = _median_like("median")
nanmedian = _median_like("nanmedian")


@overridable
def mode(
    input: Tensor,
    dim: int = -1,
    keepdim: bool = False,
    *,
    out: tuple[Tensor, Tensor] | None = None,
) -> ValuesIndices:
    found = f.mode(input, one_dimension("mode", 2, dim, input.ndim), keepdim)
    return found if out is None else both_copied("mode", 4, found, out)


@overridable
def quantile(input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *,
             interpolation: str = "linear", out: Tensor | None = None) -> Tensor:  # fmt: skip
    dim = _or_none("quantile", 3, dim, input)
    return f.quantile(input, q, dim, keepdim, interpolation=interpolation, out=out)


@overridable
def nanquantile(input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *,
                interpolation: str = "linear", out: Tensor | None = None) -> Tensor:  # fmt: skip
    dim = _or_none("nanquantile", 3, dim, input)
    return f.nanquantile(input, q, dim, keepdim, interpolation=interpolation, out=out)


# -- pairs ---------------------------------------------------------------------------------------


def _with_mean(name: str) -> Any:
    generated = getattr(f, name)

    @overridable
    def spread_and_mean(
        input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *,
        correction: Any = 1,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        if isinstance(dim, bool):  # std_mean(unbiased)
            dim, unbiased = None, dim
        if unbiased is not None:
            correction = int(unbiased)
        return generated(input, dim, correction=correction, keepdim=keepdim)

    spread_and_mean.__name__ = spread_and_mean.__qualname__ = name
    spread_and_mean.__doc__ = generated.__doc__
    return spread_and_mean


var_mean = _with_mean("var_mean")
std_mean = _with_mean("std_mean")


@overridable
def aminmax(
    input: Tensor,
    *,
    dim: int | None = None,
    keepdim: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
) -> Any:
    dim = _or_none("aminmax", 2, dim, input)
    found = return_types.aminmax(*f.aminmax(input, dim=dim, keepdim=keepdim))
    return found if out is None else both_copied("aminmax", 4, found, out)


for _method in (unique, unique_consecutive, median, nanmedian, mode, quantile, nanquantile, aminmax):
    setattr(Tensor, _method.__name__, _method)
for _function in (mode, quantile, nanquantile, aminmax):
    _function.__doc__ = getattr(f, _function.__name__).__doc__

# SPDX-License-Identifier: Apache-2.0
"""Methods that write numbers, a diagonal or single elements in place."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any

from . import _C, _functions as f
from ._C import Overridden, Tensor, overridable
from ._errors import ArgumentValueError, Error, rename_error
from ._modes import no_grad
from ._overrides import override


@overridable
def _random_(self: Tensor, *bounds: int, generator: Any = None, **named: Any) -> Tensor:
    """Overwrites the tensor with uniform integers: random_(), random_(to), random_(from, to). Without
    bounds they go up to what the dtype holds exactly."""
    given = bounds
    low, high = named.get("from", 0), named.get("to")
    if len(bounds) == 1 and high is None:
        high = bounds[0]
    elif bounds:
        low, high = bounds[0], bounds[1] if len(bounds) > 1 else high
    if high is None:
        digits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
        kind = self.dtype.name
        bits = digits.get(kind, 1 if kind == "bool" else 8 * self.element_size())
        high = 2 ** (bits - (1 if kind.startswith("int") else 0)) if kind not in digits else (
            2**bits + 1)  # fmt: skip
        high = min(high, 2**63 - 1)
    try:
        with no_grad():
            return _C.randint_into(low, high, list(self.shape), generator, self.dtype, self.device,
                                   self)  # fmt: skip
    except Overridden:
        return override(_random_, self, *given, generator=generator, **named)


@overridable
def _fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
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


@overridable
def _put_(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Writes (or adds) source's elements to places counted in row-major order."""
    flat = self.flatten() if not self.is_contiguous() else self.view(-1)
    write = flat.index_add_ if accumulate else flat.index_copy_
    try:
        write(0, index.flatten(), source.flatten())
    except Error as error:
        rename_error(error, "put_", arguments={"index": (2, "index"), "source": (3, "source")})
        raise
    return self if self.is_contiguous() else self.copy_(flat.reshape(self.shape))


for _draw in (_random_, _fill_diagonal_, _put_):
    _draw.__name__ = _draw.__qualname__ = _draw.__name__[1:]
    setattr(Tensor, _draw.__name__, _draw)

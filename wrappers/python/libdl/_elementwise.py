# SPDX-License-Identifier: Apache-2.0
"""Windows and other sequences composed of elementwise functions, and in-place draws."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any

from . import _C, _functions as f
from ._C import Overridden, Tensor
from ._errors import ArgumentValueError, DtypeError, Error, rename_error
from ._modes import no_grad
from ._out import copied
from ._overloads import arange
from ._overrides import override

__all__ = [
    "bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window",
    "logspace",
]  # fmt: skip


def _to_integers(dtype: Any, *bounds: Any) -> tuple[Any, ...]:
    """The bounds of a range of integers, which are cut to integers, as in PyTorch."""
    if dtype is None or dtype.is_floating_point or dtype.is_complex:
        return bounds
    return tuple(int(x) for x in bounds)


def logspace(start: Any, end: Any, steps: int, base: Any = 10.0, *, out: Tensor | None = None,
             dtype: Any = None, device: Any = None,
             requires_grad: bool = False) -> Tensor:  # fmt: skip
    """base to the powers that linspace gives. Of integers the powers of the ends are cut to integers,
    and then the results."""
    from ._types import complex128, float64

    if out is not None and dtype is None:
        dtype = out.dtype
    dtype = None if dtype is None else f.empty((0,), dtype=dtype).dtype
    start, end = _to_integers(dtype, start, end)
    plane = any(x.is_complex() if isinstance(x, Tensor) else isinstance(x, complex) for x in (start, end))
    wanted = dtype or f.linspace(start, end, 0).dtype
    if plane and not wanted.is_complex:
        raise DtypeError(f"logspace: argument dtype is {wanted}, wanted a complex dtype for complex bounds")
    wide = complex128 if wanted.is_complex else float64
    try:
        powers = f.linspace(start, end, steps, dtype=wide, device=device)
    except Error as error:
        rename_error(error, "logspace")
        raise
    made = copied(f.pow(f.full_like(powers, base), powers).to(dtype=wanted), out)
    return made.requires_grad_() if requires_grad else made


# -- windows ---------------------------------------------------------------------------------------


def _places(length: int, periodic: bool) -> tuple[Tensor, int]:
    """n / N for each place, in double precision."""
    if length < 0:
        raise ArgumentValueError(f"window_length is {length}, wanted 0 or more")
    whole = length if periodic else length - 1
    from ._types import float64

    return arange(length, dtype=float64) / max(whole, 1), length


def _finished(window: Tensor, length: int, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    window = f.ones_like(window) if length == 1 else window
    dtype = f.empty(()).dtype if dtype is None else dtype
    if not dtype.is_floating_point:
        raise DtypeError(f"a window's dtype is {dtype}, wanted a floating dtype")
    made = window.to(dtype=dtype)
    made = made if device is None else made.to(device)
    return made.requires_grad_() if requires_grad else made


def _cosines(*weights: float) -> Any:
    def window(window_length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None,
               requires_grad: bool = False) -> Tensor:  # fmt: skip
        place, length = _places(window_length, periodic)
        made = f.zeros_like(place)
        for k, weight in enumerate(weights):
            made = made + weight * (2 * math.pi * k * place).cos()
        return _finished(made, length, dtype, device, requires_grad)

    return window


hann_window = _cosines(0.5, -0.5)
blackman_window = _cosines(0.42, -0.5, 0.08)


def hamming_window(window_length: int, periodic: bool = True, alpha: float = 0.54,
                   beta: float = 0.46, **options: Any) -> Tensor:  # fmt: skip
    """alpha - beta cos(2 pi n / N), with N = window_length, or less 1 unless periodic."""
    return _cosines(alpha, -beta)(window_length, periodic, **options)


def bartlett_window(window_length: int, periodic: bool = True, *, dtype: Any = None,
                    device: Any = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """A triangle: 1 - |2 n / N - 1|."""
    place, length = _places(window_length, periodic)
    return _finished(1 - (2 * place - 1).abs(), length, dtype, device, requires_grad)


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *,
                  dtype: Any = None, device: Any = None,
                  requires_grad: bool = False) -> Tensor:  # fmt: skip
    """I0(beta sqrt(1 - (2 n / N - 1)^2)) / I0(beta)."""
    place, length = _places(window_length, periodic)
    inside = (1 - (2 * place - 1).square()).clamp(min=0)
    made = f.i0(beta * inside.sqrt()) / f.i0(f.full((), beta, dtype=place.dtype))
    return _finished(made, length, dtype, device, requires_grad)


for _name, _window in (("hann_window", hann_window), ("blackman_window", blackman_window)):
    _window.__name__ = _window.__qualname__ = _name
    _window.__doc__ = "A sum of cosines of 2 pi k n / N, with N = window_length, or less 1."


# -- in place --------------------------------------------------------------------------------------


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

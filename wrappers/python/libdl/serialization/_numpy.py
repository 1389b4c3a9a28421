# SPDX-License-Identifier: Apache-2.0
"""NumPy's numbers in files: programs often save the best accuracy as one. Arrays of numbers are
saved likewise. A pickle makes them in two steps, a bare array or dtype and its state."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from .._errors import FormatError, UnsupportedError
from ._values import Unfinished

if TYPE_CHECKING:
    import numpy

_LETTERS = frozenset(
    ("b1", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16")
)


# -- out -------------------------------------------------------------------------------------------


def letters_of(value: Any) -> str | None:
    """The dtype of one of NumPy's numbers or arrays of numbers, as "f8"; None for anything else."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, (numpy.generic, numpy.ndarray)):
        return None
    letters: str = value.dtype.str[1:]
    plain = type(value) is numpy.ndarray or isinstance(value, numpy.generic)
    return letters if plain and letters in _LETTERS else None


def is_array(value: Any) -> bool:
    """Of what letters_of knows: whether it is an array."""
    return isinstance(value, sys.modules["numpy"].ndarray)


def little_endian(value: Any, letters: str) -> numpy.ndarray:
    """The array in the byte order of files, contiguous."""
    import numpy

    return numpy.asarray(value, dtype=f"<{letters}", order="C")


def number(letters: Any, data: Any) -> Any:
    """One of NumPy's numbers, of its bytes in hexadecimal."""
    return _scalar(_Dtype(letters), bytes.fromhex(data))


# -- in --------------------------------------------------------------------------------------------


class _Dtype(Unfinished):
    """A dtype of numbers, before its byte order is known."""

    def __init__(self, letters: Any, *_: Any) -> None:
        if not isinstance(letters, str) or letters not in _LETTERS:
            raise UnsupportedError("load: a NumPy dtype of other things than numbers")
        self.letters = letters

    def take_state(self, state: Any) -> _Dtype:
        if not isinstance(state, tuple) or len(state) < 2 or state[1] not in ("<", "|", "="):
            raise UnsupportedError("load: a NumPy dtype that is not little-endian")
        return self

    def values(self, data: Any, count: int) -> numpy.ndarray:
        import numpy

        result = numpy.dtype("<" + self.letters)
        if not isinstance(data, bytes) or len(data) != count * result.itemsize:
            raise FormatError("load: NumPy's numbers have other bytes than their dtype wants")
        return numpy.frombuffer(data, result).copy()


def _scalar(dtype: _Dtype, data: object) -> Any:
    if not isinstance(dtype, _Dtype):
        raise FormatError("load: a NumPy number without its dtype")
    return dtype.values(data, 1)[0]


class _Array(Unfinished):
    """An array whose state has not come yet."""

    def __init__(self, *_: Any) -> None:
        pass

    def take_state(self, state: Any) -> numpy.ndarray:
        if not isinstance(state, tuple) or len(state) != 5:
            raise FormatError("load: a NumPy array without shape, dtype and bytes")
        _, shape, dtype, fortran, data = state
        if not isinstance(dtype, _Dtype) or not isinstance(shape, tuple) or len(shape) > 32:
            raise FormatError("load: a NumPy array without shape, dtype and bytes")
        count = 1
        for size in shape:
            if type(size) is not int or size < 0:
                raise FormatError("load: a NumPy array's shape has other things than sizes")
            count *= size
        return dtype.values(data, count).reshape(shape, order="F" if fortran is True else "C")


def _kind(*_: object) -> NoReturn:
    raise FormatError("load: a call of numpy.ndarray, which is a kind")


NUMPY: dict[str, Callable[..., Any]] = {
    "numpy.dtype": _Dtype,
    "numpy.ndarray": _kind,
    **{
        f"numpy.{core}.multiarray.{name}": make
        for core in ("core", "_core")
        for name, make in (("scalar", _scalar), ("_reconstruct", _Array))
    },
}

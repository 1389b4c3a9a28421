# SPDX-License-Identifier: Apache-2.0
"""What a dtype holds of a number, and what happens to the others. The answers are PyTorch
2.15's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import libdl
from libdl.nn import functional as F

BOOL, I8, U8, I16 = libdl.bool, libdl.int8, libdl.uint8, libdl.int16
I32, I64, U64 = libdl.int32, libdl.int64, libdl.uint64
F16, BF16, F32, F64, C64 = (
    libdl.float16,
    libdl.bfloat16,
    libdl.float32,
    libdl.float64,
    libdl.complex64,
)
INF, NAN = math.inf, math.nan

# Every way for a number to become an element.
WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "full": lambda n, dtype: libdl.full((1,), n, dtype=dtype),
    "full_like": lambda n, dtype: libdl.full_like(libdl.zeros(1, dtype=dtype), n),
    "new_full": lambda n, dtype: libdl.zeros(1, dtype=dtype).new_full((1,), n),
    "fill_": lambda n, dtype: libdl.zeros(1, dtype=dtype).fill_(n),
    "masked_fill": lambda n, dtype: libdl.zeros(1, dtype=dtype).masked_fill(
        libdl.tensor([True]), n
    ),
    "index_fill": lambda n, dtype: libdl.zeros(1, dtype=dtype).index_fill(0, libdl.tensor([0]), n),
    "scatter": lambda n, dtype: libdl.zeros(1, dtype=dtype).scatter(0, libdl.tensor([0]), n),
    "scatter_": lambda n, dtype: libdl.zeros(1, dtype=dtype).scatter_(0, libdl.tensor([0]), n),
    "x[0] =": lambda n, dtype: assigned(0, n, dtype),
    "x[:] =": lambda n, dtype: assigned(slice(None), n, dtype),
    "x[mask] =": lambda n, dtype: assigned(libdl.tensor([True]), n, dtype),
    "x[index] =": lambda n, dtype: assigned(libdl.tensor([0]), n, dtype),
}


def assigned(key: Any, number: Any, dtype: Any) -> Any:
    x = libdl.zeros(1, dtype=dtype)
    x[key] = number
    return x


HELD: list[tuple[Any, Any, Any]] = [
    (127, I8, 127),
    (-128, I8, -128),
    (127.5, I8, 127),
    (-1.5, I8, -1),
    (True, I8, 1),
    (255, U8, 255),
    (-1, U8, 255),
    (-255, U8, 1),
    (255.9, U8, 255),
    (-1, U64, 2**64 - 1),
    (32767.9, I16, 32767),
    (-(2.0**63), I64, -(2**63)),
    (2**63 - 1, I64, 2**63 - 1),
    (1, BOOL, True),
    (2, BOOL, True),
    (0.5, BOOL, True),
    (NAN, BOOL, True),
    (0, BOOL, False),
    (1j, BOOL, True),
    (INF, F16, INF),
    (-INF, F32, -INF),
    (65504, F16, 65504.0),
    (65519.0, F16, 65504.0),
    (1e-60, F32, 0.0),
    (1 + 0j, F32, 1.0),
    (2 + 0j, I8, 2),
    (1e300, F64, 1e300),
    (2, C64, 2 + 0j),
    (complex(0, INF), C64, complex(0, INF)),
]
REFUSED: list[tuple[Any, Any]] = [
    (128, I8),
    (-129, I8),
    (300, I8),
    (128.0, I8),
    (-128.5, I8),
    (NAN, I8),
    (INF, I8),
    (256, U8),
    (-256, U8),
    (-0.5, U8),
    (256.0, U8),
    (32768, I16),
    (2**31, I32),
    (2.0**63, I64),
    (9.3e18, I64),
    (NAN, I64),
    (-INF, I64),
    (70000, F16),
    (70000.0, F16),
    (-1e6, F16),
    (3.4e38, BF16),
    (3.4028235e38, F32),
    (1e60, F32),
    (1e60, C64),
    (1e60j, C64),
    (1j, F32),
    (1j, I8),
]


@pytest.mark.parametrize("way", WAYS)
def test_what_is_held(way: str) -> None:
    for number, dtype, wanted in HELD:
        made = WAYS[way](number, dtype)
        assert made.dtype is dtype and made.item() == wanted, (number, dtype, made)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_refused(way: str) -> None:
    for number, dtype in REFUSED:
        with pytest.raises(RuntimeError) as caught:
            pytest.fail(f"{number} became {WAYS[way](number, dtype)}")
        assert dtype.name in str(caught.value) or "complex" in str(caught.value), (number, dtype)


# tensor() rounds floats that are too large to infinity, and takes uint64's upper half.
TENSORS: list[tuple[Any, Any, Any]] = [
    (1e300, F32, INF),
    (70000.0, F16, INF),
    (70000, F16, INF),
    (1e39 + 0j, C64, complex(INF, 0)),
    (2**70, F32, float(2**70)),
    (2**70, F64, float(2**70)),
    (2**63, U64, 2**63),
    (2**64 - 1, U64, 2**64 - 1),
    (-1, U8, 255),
    (3.9, I8, 3),
    (2, BOOL, True),
    (NAN, BOOL, True),
    (2**53 + 1, I64, 2**53 + 1),
    (2.5, None, 2.5),
    (7, None, 7),
]
NO_TENSORS: list[tuple[Any, Any]] = [
    (300, I8),
    (-129, I8),
    (-300, U8),
    (256, U8),
    (300.5, I8),
    (-1.5, U8),
    (NAN, I32),
    (INF, I32),
    (2**31, I32),
    (9.3e18, I64),
    (2**64, U64),
    (-1, U64),
    (2**63, None),
    (2**70, None),
]


@pytest.mark.parametrize("nested", [False, True])
def test_tensor_of_numbers(nested: bool) -> None:
    for number, dtype, wanted in TENSORS:
        made = libdl.tensor([[number], [number]] if nested else number, dtype=dtype)
        assert made.reshape(-1)[0].item() == wanted, (number, dtype, made)
    for number, dtype in NO_TENSORS:
        with pytest.raises((RuntimeError, OverflowError)):
            libdl.tensor([number] if nested else number, dtype=dtype)
    with pytest.raises((RuntimeError, TypeError)):
        libdl.tensor([1j] if nested else 1j, dtype=F32)
    with pytest.raises(RuntimeError):
        libdl.zeros(1, dtype=I8).new_tensor([300] if nested else 300)


CALLS: dict[str, tuple[Callable[[], Any], Any]] = {  # None: refused
    "add alpha": (lambda: libdl.zeros(1, dtype=I8).add(libdl.ones(1, dtype=I8), alpha=300), None),
    "sub alpha": (lambda: libdl.zeros(1, dtype=U8).sub(1, alpha=300), None),
    "add alpha, negative": (lambda: libdl.ones(1, dtype=U8).add(1, alpha=-1), [0]),
    "add alpha of floats": (lambda: libdl.ones(1).add(libdl.ones(1), alpha=1e60), None),
    "addcmul": (lambda: libdl.ones(1).addcmul(libdl.ones(1), libdl.ones(1), value=1e60), None),
    "addcmul of integers": (
        lambda: libdl.ones(1, dtype=I8).addcmul(
            libdl.ones(1, dtype=I8), libdl.ones(1, dtype=I8), value=300
        ),
        None,
    ),
    "index_add": (
        lambda: libdl.zeros(1, dtype=I8).index_add(
            0, libdl.tensor([0]), libdl.ones(1, dtype=I8), alpha=300
        ),
        None,
    ),
    "lerp": (lambda: libdl.ones(1).lerp(libdl.ones(1), 1e60), None),
    "pow": (lambda: libdl.full((1,), 100, dtype=I8) ** 300, None),
    "where": (lambda: libdl.where(libdl.tensor([False]), libdl.ones(1, dtype=I8), 300), None),
    "where of floats": (lambda: libdl.where(libdl.tensor([True]), 1e60, libdl.ones(1)), None),
    "where of halves": (
        lambda: libdl.where(libdl.tensor([False]), libdl.ones(1, dtype=F16), 1e6),
        [INF],
    ),
    "where, negative": (
        lambda: libdl.where(libdl.tensor([False]), libdl.ones(1, dtype=U8), -1),
        [255],
    ),
    "linspace": (lambda: libdl.linspace(0, 300, 4, dtype=I8), None),
    "linspace of floats": (lambda: libdl.linspace(0, 1e60, 3), None),
    "linspace, wrapping": (lambda: libdl.linspace(-1, 3, 3, dtype=U8), [255, 129, 3]),
    "arange wraps": (lambda: libdl.arange(0, 300, 100, dtype=I8), [0, 100, -56]),
    "fill_ by a tensor wraps": (lambda: libdl.zeros(1, dtype=I8).fill_(libdl.tensor(300)), [44]),
    "to wraps": (lambda: libdl.tensor(libdl.tensor([300]), dtype=I8), [44]),
    "masked_fill by a tensor": (
        lambda: libdl.zeros(1, dtype=I8).masked_fill(libdl.tensor([True]), libdl.tensor(300)),
        None,
    ),
    "index_fill by a tensor": (
        lambda: libdl.zeros(1, dtype=I8).index_fill(0, libdl.tensor([0]), libdl.tensor(300)),
        None,
    ),
    "masked_fill by a fraction": (
        lambda: libdl.zeros(1, dtype=I64).masked_fill(libdl.tensor([True]), libdl.tensor(2.7)),
        [2],
    ),
    "full of a tensor": (lambda: libdl.full((1,), libdl.tensor(300), dtype=I8), None),
    "x[mask] = complex tensor": (
        lambda: assigned(libdl.tensor([True]), libdl.tensor([1j]), F32),
        None,
    ),
    "scatter, added": (
        lambda: libdl.zeros(1, dtype=I8).scatter(0, libdl.tensor([0]), 300, reduce="add"),
        None,
    ),
    "threshold": (lambda: F.threshold(libdl.tensor([1, 200], dtype=U8), 5, 300), None),
    # Bounds that never bind may lie outside; those that always do are refused.
    "clamp max below": (lambda: libdl.tensor([1, 200], dtype=U8).clamp(max=-1), None),
    "clamp min above": (lambda: libdl.tensor([1, 200], dtype=U8).clamp(min=300), None),
    "clamp_ max below": (lambda: libdl.tensor([1, 100], dtype=I8).clamp_(max=-300), None),
    "clamp min below": (lambda: libdl.tensor([1, 200], dtype=U8).clamp(min=-1), [1, 200]),
    "clamp max above": (lambda: libdl.tensor([1, 100], dtype=I8).clamp(max=300), [1, 100]),
    "clamp both": (lambda: libdl.tensor([1, 200], dtype=U8).clamp(-1, 300), [1, 200]),
    "clamp of uint64": (lambda: libdl.tensor([1, 2], dtype=U64).clamp(min=-1), [1, 2]),
    "clamp of int64": (lambda: libdl.ones(1, dtype=I64).clamp(min=-(2**63)), [1]),
    "clamp by a float": (lambda: libdl.tensor([1, 100], dtype=I8).clamp(max=2.5), [1.0, 2.5]),
    "clamp of halves": (lambda: libdl.ones(1, dtype=F16).clamp(max=1e6), None),
    "clamp of floats": (lambda: libdl.ones(1).clamp(min=1e60), None),
    "clamp by infinity": (lambda: libdl.ones(1).clamp(max=INF), [1.0]),
    "clamp by a 0-d tensor": (
        lambda: libdl.tensor([1, 100], dtype=I8).clamp(libdl.tensor(300)),
        [44, 100],
    ),
    "maximum": (lambda: libdl.tensor([1, 100], dtype=I8).maximum(libdl.tensor(300)), [44, 100]),
    "minimum": (lambda: libdl.tensor([1, 100], dtype=I8).minimum(libdl.tensor(300)), [1, 44]),
    "maximum of uint8": (
        lambda: libdl.tensor([1, 100], dtype=U8).maximum(libdl.tensor(-1)),
        [255, 255],
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_numbers_beside_tensors(name: str) -> None:
    call, wanted = CALLS[name]
    if wanted is None:
        with pytest.raises(RuntimeError):
            call()
    else:
        assert call().tolist() == wanted


def test_a_refused_number_writes_nothing() -> None:
    x = libdl.ones(3, dtype=I8)
    for write in (
        lambda: x.fill_(300),
        lambda: x.masked_fill_(x > 0, 300),
        lambda: x.__setitem__(x > 0, 300),
        lambda: x.clamp_(max=-300),
    ):
        version = x._version
        with pytest.raises(RuntimeError, match="holds without overflow"):
            write()
        assert x.tolist() == [1, 1, 1] and x._version == version

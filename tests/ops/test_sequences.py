# SPDX-License-Identifier: Apache-2.0
"""Sequences and lists of indices against NumPy and formulas."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import libdl

REFUSED = (ValueError, RuntimeError)


def ranged(*span, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return libdl.range(*span, **how)


@pytest.mark.parametrize(
    "span, wanted",
    [
        ((0, 3), [0, 1, 2, 3]),
        ((1, 4, 2), [1, 3]),
        ((3, 0, -1), [3, 2, 1, 0]),
        ((2, 2), [2]),
        ((0.5, 3.7), [0.5, 1.5, 2.5, 3.5]),
        ((0, 1, 0.25), [0, 0.25, 0.5, 0.75, 1]),
        ((-1, -2, -0.5), [-1, -1.5, -2]),
        ((libdl.tensor(1), libdl.tensor(2.5)), [1, 2]),
    ],
)
def test_range(span, wanted):
    for dtype in (libdl.float32, libdl.float64, libdl.float16):
        found = ranged(*span, dtype=dtype)
        assert found.dtype == dtype and found.tolist() == wanted
    assert ranged(*span).dtype == libdl.float32
    place = libdl.empty(len(wanted), dtype=libdl.float64)
    assert ranged(*span, out=place) is place and place.tolist() == wanted
    assert list(ranged(*span, device="meta").shape) == [len(wanted)]


def test_a_range_of_integers():
    """All three are cut, and no digit is lost."""
    assert ranged(0.5, 3.7, dtype=libdl.int64).tolist() == [0, 1, 2, 3]
    assert ranged(0, 5, 2.9, dtype=libdl.int32).tolist() == [0, 2, 4]
    high = 2**62 + 1
    assert ranged(high, high + 1024, 1024, dtype=libdl.int64).tolist() == [high, high + 1024]


@pytest.mark.parametrize("base", [10.0, 2.0, 0.5, 1.0, -2.0])
@pytest.mark.parametrize("steps", [0, 1, 2, 5, 33])
def test_logspace(base, steps):
    start, end = (0, steps - 1) if base < 0 else (-1.5, 2.0)
    found = libdl.logspace(start, end, steps, base, dtype=libdl.float64)
    wanted = np.power(base, np.linspace(start, end, steps))
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-14)
    assert libdl.logspace(start, end, steps, base).dtype == libdl.float32
    place = libdl.empty(steps, dtype=libdl.float64)
    assert libdl.logspace(start, end, steps, base, out=place) is place
    assert place.tolist() == found.tolist()


def test_logspace_of_integers_and_planes():
    assert libdl.logspace(0, 3.7, 4, dtype=libdl.int32).tolist() == [1, 10, 100, 1000]
    assert libdl.logspace(0, 4, 3, 2, dtype=libdl.int64).tolist() == [1, 4, 16]
    found = libdl.logspace(0, 1j * math.pi, 3, math.e)
    assert found.dtype == libdl.complex64
    np.testing.assert_allclose(found.numpy(), [1, 1j, -1], atol=1e-6)
    x = libdl.logspace(0, 1, 2, requires_grad=True)
    assert x.requires_grad and x.is_leaf
    assert libdl.logspace(libdl.tensor(0.0, requires_grad=True), 1, 2).requires_grad is False


@pytest.mark.parametrize("offset", [-9, -2, -1, 0, 1, 3, 9, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize(
    "row, col", [(0, 0), (0, 3), (3, 0), (1, 1), (3, 3), (2, 5), (5, 2), (1, 7)]
)
def test_indices_of_triangles(row, col, offset):
    near = max(min(offset, 99), -99)
    for function, wanted in (
        (libdl.tril_indices, np.tril_indices(row, near, col)),
        (libdl.triu_indices, np.triu_indices(row, near, col)),
    ):
        found = function(row, col, offset)
        assert found.dtype == libdl.int64
        np.testing.assert_array_equal(found.numpy(), np.stack(wanted))
        assert function(row, col, offset, dtype=libdl.int32).tolist() == found.tolist()
        assert function(row, col, offset, device="meta").shape == found.shape


def test_triangles_of_large_matrices():
    large = 10**12
    assert libdl.tril_indices(large, 1, 1 - large).tolist() == [[large - 1], [0]]
    assert libdl.triu_indices(large, 1).tolist() == [[0], [0]]
    assert libdl.tril_indices(large, 0).shape == (2, 0)
    assert libdl.triu_indices(1, large, large - 1).tolist() == [[0], [large - 1]]


PI = math.pi
WINDOWS = {
    "hann_window": ({}, lambda t: 0.5 - 0.5 * math.cos(2 * PI * t)),
    "hamming_window": ({}, lambda t: 0.54 - 0.46 * math.cos(2 * PI * t)),
    "blackman_window": (
        {},
        lambda t: 0.42 - 0.5 * math.cos(2 * PI * t) + 0.08 * math.cos(4 * PI * t),
    ),
    "bartlett_window": ({}, lambda t: 1 - abs(2 * t - 1)),
    "kaiser_window": ({}, lambda t: np.i0(12 * math.sqrt(1 - (2 * t - 1) ** 2)) / np.i0(12.0)),
}
OTHERS = {
    "hamming_window": ({"alpha": 0.5, "beta": 0.25}, lambda t: 0.5 - 0.25 * math.cos(2 * PI * t)),
    "kaiser_window": (
        {"beta": 3.0},
        lambda t: np.i0(3 * math.sqrt(1 - (2 * t - 1) ** 2)) / np.i0(3.0),
    ),
}


@pytest.mark.parametrize(
    "name, how, formula",
    [(name, *case) for cases in (WINDOWS, OTHERS) for name, case in cases.items()],
)
@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 8, 33])
def test_windows(name, how, formula, periodic, length):
    window = getattr(libdl, name)
    whole = max(length if periodic else length - 1, 1)
    wanted = [1.0] if length == 1 else [formula(n / whole) for n in range(length)]
    for dtype, error in (
        (libdl.float64, 1e-14),
        (libdl.float32, 6e-8),
        (libdl.float16, 5e-4),
        (libdl.bfloat16, 4e-3),
    ):
        found = window(length, periodic, dtype=dtype, **how)
        assert found.dtype == dtype
        np.testing.assert_allclose(found.double().numpy(), wanted, rtol=error, atol=1e-15)
    assert window(length, periodic, **how).dtype == libdl.float32
    assert window(length, periodic, device="meta", **how).shape == (length,)
    assert window(length, requires_grad=True).is_leaf


def test_windows_of_the_default_dtype():
    libdl.set_default_dtype(libdl.float64)
    try:
        assert libdl.hann_window(3).dtype == libdl.float64
    finally:
        libdl.set_default_dtype(libdl.float32)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: ranged(0, 3, 0), REFUSED, ("range: argument 3 (step) is 0",)),
        (lambda: ranged(0, 3, 0.5, dtype=libdl.int64), REFUSED, ("range: argument 3 (step) is 0",)),
        (lambda: ranged(0, 3, -1), REFUSED, ("range: argument 3 (step)", "leads away")),
        (lambda: ranged(0, math.inf), REFUSED, ("range: argument 2 (end)", "finite")),
        (lambda: ranged(0, 3, math.nan), REFUSED, ("range: argument 3 (step)", "finite")),
        (lambda: ranged(0, 1e30), OverflowError, ("range: argument 2 (end)", "too many")),
        (lambda: ranged(0, 3, dtype=libdl.complex64), TypeError, ("range: argument 4 (dtype)",)),
        (lambda: ranged(0, 3j), TypeError, ("range: argument 2 (end) is complex",)),
        (lambda: ranged(0, libdl.ones(2)), REFUSED, ("range: argument 2 (end) has shape [2]",)),
        (lambda: ranged(0), TypeError, ("range: end must be given",)),
        (lambda: libdl.logspace(0, 1, -1), REFUSED, ("logspace: argument 3 (steps) is -1",)),
        (
            lambda: libdl.logspace(0, 1j, 3, dtype=libdl.float32),
            TypeError,
            ("logspace: argument", "(dtype) is float32", "complex"),
        ),
        (
            lambda: libdl.logspace(0, 300, 3, dtype=libdl.int8),
            OverflowError,
            ("logspace: argument 2 (end)",),
        ),
        (lambda: libdl.logspace(0, 1, 2**62), OverflowError, ("logspace: argument 3 (steps)",)),
        (
            lambda: libdl.logspace(0, libdl.ones(2), 2),
            REFUSED,
            ("logspace: argument 2 (end) has shape [2]",),
        ),
        (
            lambda: libdl.hann_window(2**62),
            OverflowError,
            ("hann_window: argument 1 (window_length)",),
        ),
        (lambda: libdl.tril_indices(-1, 2), REFUSED, ("tril_indices: argument 1 (row) is -1",)),
        (lambda: libdl.triu_indices(1, -2), REFUSED, ("triu_indices: argument 2 (col) is -2",)),
        (
            lambda: libdl.tril_indices(2**62, 2**62),
            OverflowError,
            ("tril_indices: argument 1 (row)",),
        ),
        *[
            (
                lambda name=name: getattr(libdl, name)(-1),
                REFUSED,
                (f"{name}: argument 1 (window_length) is -1",),
            )
            for name in WINDOWS
        ],
        *[
            (
                lambda name=name: getattr(libdl, name)(3, dtype=libdl.int64),
                TypeError,
                (f"{name}: argument", "(dtype) is int64", "floating"),
            )
            for name in WINDOWS
        ],
    ],
)
def test_rejects(call, error, words):
    with pytest.raises(error) as caught:
        call()
    for word in words:
        assert word in str(caught.value), f"{word!r} is not in: {caught.value}"

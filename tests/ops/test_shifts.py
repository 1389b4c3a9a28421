# SPDX-License-Identifier: Apache-2.0
"""Shifts of integers by integers, by more than their width and by negative numbers as well."""

import libdl
import pytest

WIDTHS = {"uint8": 8, "int8": 8, "int16": 16, "int32": 32, "int64": 64}


def wrapped(x, dtype):
    width = WIDTHS[dtype]
    x &= (1 << width) - 1
    return x - (1 << width) if dtype != "uint8" and x >> (width - 1) else x


# By a count out of range, everything is shifted out.
def shifted(x, count, left, dtype):
    out = not 0 <= count < WIDTHS[dtype]
    if left:
        return 0 if out else wrapped(x << count, dtype)
    return (-1 if x < 0 else 0) if out else x >> count


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("n", [1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100, 1000, 70_001])
def test_by_elements(n, dtype):
    kind = getattr(libdl, dtype)
    numbers = [wrapped(i * 7919 - 3, dtype) for i in range(n)]
    counts = [wrapped(i % 79 - 5, dtype) for i in range(n)]
    x, by = libdl.tensor(numbers, dtype=kind), libdl.tensor(counts, dtype=kind)
    pairs = list(zip(numbers, counts))
    assert (x << by).tolist() == [shifted(a, b, True, dtype) for a, b in pairs]
    assert (x >> by).tolist() == [shifted(a, b, False, dtype) for a, b in pairs]


@pytest.mark.parametrize("dtype", WIDTHS)
def test_of_views_and_in_place(dtype):
    kind = getattr(libdl, dtype)
    rows = [[wrapped(i * 101 + j, dtype) for j in range(70)] for i in range(40)]
    x = libdl.tensor(rows, dtype=kind)
    by = (libdl.arange(40 * 70).reshape(70, 40) % 9).to(kind)
    expected = [
        [shifted(int(x[i, j]), int(by[j, i]), True, dtype) for i in range(40)] for j in range(70)
    ]
    assert (x.t() << by).tolist() == expected
    y = x.t().contiguous()
    y <<= by
    assert y.tolist() == expected

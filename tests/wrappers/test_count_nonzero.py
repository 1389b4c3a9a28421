# SPDX-License-Identifier: Apache-2.0
"""Reductions of all elements whose order does not matter: they are read as they lie."""

import math

import pytest

import libdl

REAL = """
    bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64
""".split()


@pytest.mark.parametrize("dtype", [*REAL, "complex64"])
@pytest.mark.parametrize("n", [0, 1, 7, 1000, 70_001])
def test_how_many(dtype, n):
    x = (libdl.arange(n) % 3).to(getattr(libdl, dtype))
    assert int(libdl.count_nonzero(x)) == n - (n + 2) // 3


def test_of_floating_numbers():
    x = libdl.tensor([math.nan, -0.0, 0.0, 1e-45, -1.0, math.inf])
    for y in (x, x.double()):
        assert int(libdl.count_nonzero(y)) == 4
    for dtype in (libdl.float16, libdl.bfloat16):
        assert int(libdl.count_nonzero(x.nan_to_num(2.0).to(dtype))) == 3


@pytest.mark.parametrize("dtype", [d for d in REAL if d[0] in "iub"])
def test_of_views(dtype):
    x = (libdl.arange(6000).reshape(60, 100) % 7).to(getattr(libdl, dtype))
    for y in (
        x.t(),
        x[:, ::2],
        x.t()[3:],
        x.reshape(3, 20, 100).permute(2, 0, 1),
        x[:1].expand(5, 100),
    ):
        z = y.contiguous()
        assert int(libdl.count_nonzero(y)) == int(libdl.count_nonzero(z)) == int((z != 0).sum())
        assert (bool(y.all()), bool(y.any())) == (bool(z.all()), bool(z.any()))
        if dtype not in ("bool", "bfloat16", "uint16", "uint32", "uint64"):
            assert int(y.sum()) == int(z.sum()) == sum(z.flatten().tolist())
            assert (int(y.amax()), int(y.amin())) == (int(z.amax()), int(z.amin()))

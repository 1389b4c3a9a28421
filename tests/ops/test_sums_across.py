# SPDX-License-Identifier: Apache-2.0
"""Sums of matrices whose columns lie together in memory: the order of logical indices, whatever
the strides, while several rows are read at once."""

import libdl
import pytest

DTYPES = ["float32", "float64", "float16", "bfloat16"]
REDUCED = {
    "sum": lambda x: x.sum(),
    "sum in float32": lambda x: x.sum(dtype=libdl.float32),
    "sum in float64": lambda x: x.sum(dtype=libdl.float64),
    "mean": lambda x: x.mean(),
    "norm": lambda x: x.norm(),
    "norm of order 1": lambda x: x.norm(1),
    "var": lambda x: x.var(),
    "std": lambda x: x.std(),
}


def numbers(*shape, dtype="float32", seed=1):
    x = libdl.randn(*shape, generator=libdl.Generator().manual_seed(seed))
    return (3 * x + 0.5).to(getattr(libdl, dtype))


def bits(x):
    words = {2: libdl.int16, 4: libdl.int32, 8: libdl.int64}
    return x.reshape(1).view(words[x.element_size()]).item()


def assert_like_rows(x):
    rows = x.contiguous()
    assert {k: bits(f(x)) for k, f in REDUCED.items()} == {
        k: bits(f(rows)) for k, f in REDUCED.items()
    }


# Numbers of rows about those that are read at once, of columns about groups, blocks and the limits.
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [32, 33, 34, 65, 66, 97, 130, 300])
@pytest.mark.parametrize("columns", [255, 256, 257, 383, 384, 1000, 1024, 1025])
def test_transposed(rows, columns, dtype):
    assert_like_rows(numbers(columns, rows, dtype=dtype).t())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "rows, columns",
    [
        (600, 500),
        (1000, 1000),
        (70, 2049),
        (40, 8000),
        (1030, 300),
        (530, 2000),
        (200, 9000),
        (34, 32767),
        (70, 32768),
        (34, 32769),
    ],
)
def test_in_several_parts(rows, columns, dtype):
    assert_like_rows(numbers(columns, rows, dtype=dtype).t())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape, order",
    [
        ((3, 16, 24, 40), (0, 3, 1, 2)),
        ((5, 17, 19, 35), (0, 3, 1, 2)),
        ((20, 30, 50), (2, 1, 0)),
        ((20, 30, 50), (2, 0, 1)),
        ((4, 300, 40), (0, 2, 1)),
        ((5, 7, 300, 40), (1, 0, 3, 2)),
        ((7, 40, 9, 35), (3, 2, 1, 0)),
        ((2, 3, 300, 35), (0, 1, 3, 2)),
        ((300, 1, 40), (2, 1, 0)),
    ],
)
def test_permuted(shape, order, dtype):
    x = numbers(*shape, dtype=dtype).permute(order)
    assert_like_rows(x)
    rows = x.contiguous()
    for dims in ((1, 2), (-1, -2), (0, 1), (0, -1), 0, -1):
        assert libdl.equal(x.sum(dims), rows.sum(dims)), dims
        assert libdl.equal(x.var(dims), rows.var(dims)), dims


@pytest.mark.parametrize("dtype", DTYPES)
def test_part_of_a_matrix_without_what_surrounds_it(dtype):
    whole = numbers(402, 103, dtype=dtype)
    whole[0] = whole[-1] = float("nan")
    whole[:, 0] = whole[:, -1] = float("nan")
    x = whole[1:-1, 1:-1].t()
    assert x.sum().isfinite()
    assert_like_rows(x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("value", [0.0, -0.0, 3.3, 1e-30, 1e-44, 1e30, float("inf"), float("nan")])
def test_equal_and_extreme_elements(value, dtype):
    assert_like_rows(libdl.full((500, 100), value).to(getattr(libdl, dtype)).t())
    x = numbers(500, 100)
    for place in ((0, 0), (499, 99), (250, 50), (0, 99), (499, 0)):
        x[place] = value
        assert_like_rows(x.to(getattr(libdl, dtype)).t())


@pytest.mark.parametrize("scale", [1e-25, 1e-20, 1e20, 1e25])
def test_squares_out_of_range(scale):
    x = (numbers(500, 100) * scale).t()
    assert_like_rows(x)
    assert x.norm().item() == pytest.approx(x.double().norm().item(), rel=1e-6)
    assert x.std().item() == pytest.approx(x.double().std().item(), rel=1e-5)


def test_every_element_counts_once():
    x = libdl.zeros(300, 70)
    for i in range(0, 300, 7):
        for j in (0, 1, 15, 16, 31, 32, 63, 64, 68, 69):
            x[i, j] = 1
            assert x.t().sum() == 1, (i, j)
            x[i, j] = 0

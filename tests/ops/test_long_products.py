# SPDX-License-Identifier: Apache-2.0
"""Products with long sums and small results, and with results larger than caches, go ways of their
own. Every element's bits depend on its row, its column and k alone: they are those of the same rows
in a product that goes the usual way."""

import numpy as np
import pytest

import libdl

K = 20_000  # far more than 16 times the rows and columns below


def matrix(random, shape, dtype, transposed):
    x = libdl.from_numpy(random.standard_normal(shape[::-1] if transposed else shape)).to(dtype)
    return x.t() if transposed else x


@pytest.mark.parametrize("dtype", [libdl.float32, libdl.float64])
@pytest.mark.parametrize("lie", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize(("m", "n"), [(32, 32), (50, 100), (129, 33)])
def test_a_long_sum_has_the_bits_of_the_usual_way(dtype, lie, m, n):
    random = np.random.default_rng(m)
    a, b = (
        matrix(random, (m, K), dtype, lie[0] == "t"),
        matrix(random, (K, n), dtype, lie[1] == "t"),
    )
    y = a.mm(b)
    for i in (0, m - 16):  # 16 rows are too few for the way of long sums
        assert libdl.equal(y[i : i + 16], a[i : i + 16].mm(b))
    exact = a.double().numpy() @ b.double().numpy()
    # Sums of K products of size 1, rounded once a product and once a block.
    assert np.abs(y.double().numpy() - exact).max() < 4 * K * libdl.finfo(dtype).eps
    base = matrix(random, (m, n), dtype, False)
    added = libdl.addmm(base, a, b, beta=-2, alpha=0.5)
    assert np.abs(added.double().numpy() - (exact / 2 - 2 * base.double().numpy())).max() < (
        4 * K * libdl.finfo(dtype).eps
    )


@pytest.mark.parametrize("dtype", [libdl.complex64, libdl.complex128])
@pytest.mark.parametrize("lie", ["nn", "nt", "tn", "tt"])
def test_long_sums_of_complex_numbers(dtype, lie):
    """They are products of real numbers whose panels are all that there is of b."""
    random = np.random.default_rng(2)
    real = libdl.float32 if dtype == libdl.complex64 else libdl.float64
    a, b = (
        matrix(random, shape, real, t == "t").to(dtype) * (1 - 2j)
        for shape, t in zip(((40, K), (K, 50)), lie)
    )
    exact = a.to(libdl.complex128).numpy() @ b.to(libdl.complex128).numpy()
    limit = 5 * 4 * K * libdl.finfo(real).eps  # |1 - 2j| squared times that of real sums
    for _ in range(3):  # panels of a matrix that is used again are kept
        assert np.abs(a.mm(b).to(libdl.complex128).numpy() - exact).max() < limit


def test_a_long_sum_has_equal_bits_for_every_number_of_threads():
    random = np.random.default_rng(1)
    a, b = (matrix(random, shape, libdl.float32, False) for shape in ((65, K), (K, 70)))
    before = libdl.get_num_threads()
    found = []
    for threads in (1, 2, 3):
        libdl.set_num_threads(threads)
        found.append(a.mm(b))
    libdl.set_num_threads(before)
    assert libdl.equal(found[0], found[1]) and libdl.equal(found[0], found[2])


@pytest.mark.parametrize(("m", "k", "n"), [(2048, 2, 2048), (4101, 33, 1024), (1024, 385, 4112)])
def test_a_result_larger_than_caches_has_the_bits_of_a_small_one(m, k, n):
    """16 MB and more are written past the caches, if the sum is one block and rows begin a line."""
    random = np.random.default_rng(k)
    a, b = matrix(random, (m, k), libdl.float32, True), matrix(random, (k, n), libdl.float32, False)
    y = a.mm(b)
    for i in (0, m // 2, m - 300):  # enough rows for products in parts on a matrix unit
        assert libdl.equal(y[i : i + 300], a[i : i + 300].mm(b))
    room = libdl.full((m, n + 1), 7.0)  # rows that do not begin a line
    assert libdl.equal(libdl.mm(a, b, out=room[:, 1:]), y)
    assert (room[:, 0] == 7).all()

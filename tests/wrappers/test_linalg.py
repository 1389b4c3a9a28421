# SPDX-License-Identifier: Apache-2.0
"""libdl.linalg against numpy.linalg; what is refused, and the dtypes, are PyTorch's."""

import math

import numpy as np
import pytest

import libdl
from libdl import linalg

VECTOR = np.array([3.0, -4.0, 0.0])
MATRIX = np.arange(6.0).reshape(2, 3) - 2
BATCH = np.arange(12.0).reshape(2, 2, 3) - 5
CLOSE = {"rtol": 1e-14, "atol": 0}  # sums of a few float64 numbers


def t(array):
    return libdl.from_numpy(array.copy())


@pytest.mark.parametrize(
    "array, ord, axis",
    [
        (VECTOR, None, None),
        (VECTOR, 0, None),
        (VECTOR, 1, None),
        (VECTOR, 3, None),
        (VECTOR, math.inf, None),
        (VECTOR, -math.inf, None),
        (MATRIX, None, None),
        (MATRIX, "fro", None),
        (MATRIX, 1, None),
        (MATRIX, -1, None),
        (MATRIX, math.inf, None),
        (MATRIX, -math.inf, None),
        (MATRIX, None, 0),
        (MATRIX, 3, 1),
        (BATCH, 1, (0, 2)),
        (BATCH, 1, (2, 0)),
        (BATCH, math.inf, (-3, 1)),
        (BATCH, None, (0, 1)),
        (BATCH, "fro", (1, 2)),
    ],
)
@pytest.mark.parametrize("keepdim", [False, True])
def test_norms_are_numpys(array, ord, axis, keepdim):
    wanted = np.linalg.norm(array, ord, axis, keepdims=keepdim)
    found = linalg.norm(t(array), ord, axis, keepdim)
    np.testing.assert_allclose(found.numpy(), wanted, **CLOSE)
    assert found.shape == wanted.shape


def test_the_nuclear_norm_is_numpys():
    wanted = np.linalg.norm(BATCH, "nuc", (1, 2))
    np.testing.assert_allclose(linalg.matrix_norm(t(BATCH), "nuc").numpy(), wanted, rtol=1e-13)


def test_vector_norms_take_all_elements_or_any_dimensions():
    assert linalg.vector_norm(t(MATRIX), 1).item() == 9
    assert linalg.vector_norm(t(BATCH), 1, (0, 2)).tolist() == [18, 18]
    assert linalg.vector_norm(t(MATRIX), keepdim=True).shape == (1, 1)


def test_dtypes_and_places_of_norms():
    half = t(VECTOR).half()
    assert linalg.vector_norm(half).dtype is libdl.float16
    assert linalg.vector_norm(half, dtype=libdl.float32).dtype is libdl.float32
    assert linalg.matrix_norm(t(MATRIX).float(), 1, dtype=libdl.float64).dtype is libdl.float64
    assert linalg.norm(libdl.tensor([3 + 4j, 0])).dtype is libdl.float32
    for function, ord in ((linalg.vector_norm, 2), (linalg.norm, 1), (linalg.norm, "nuc")):
        out = libdl.empty((), dtype=libdl.float64)
        assert function(t(MATRIX), ord, out=out) is out
        assert out.item() == function(t(MATRIX), ord).item()


def test_norms_have_gradients():
    x = libdl.tensor([[1.0, -2.0, 5.0], [0.5, 3.0, -1.0]], dtype=libdl.float64, requires_grad=True)
    assert libdl.autograd.gradcheck(lambda x: linalg.norm(x, 1) + linalg.vector_norm(x, 3), x)


@pytest.mark.parametrize(
    "call, kind, told",
    [
        (lambda: linalg.norm(t(BATCH), 1), RuntimeError, "one or two dimensions"),
        (lambda: linalg.norm(t(BATCH), dim=(0, 1, 2)), RuntimeError, "one or two dimensions"),
        (lambda: linalg.norm(libdl.arange(3)), NotImplementedError, "floating"),
        (
            lambda: linalg.matrix_norm(libdl.ones(1, 3, dtype=libdl.int64), 1),
            NotImplementedError,
            "floating",
        ),
        (lambda: linalg.norm(t(VECTOR), "fro"), RuntimeError, "2 dimensions or more"),
        (lambda: linalg.vector_norm(t(VECTOR), "fro"), TypeError, "wanted a number"),
        (lambda: linalg.vector_norm(libdl.ones(0), math.inf), RuntimeError, "nothing"),
        (lambda: linalg.matrix_norm(t(BATCH), 3), RuntimeError, r"\(ord\) is 3"),
        (lambda: linalg.matrix_norm(t(BATCH), 2), NotImplementedError, "singular values"),
        (lambda: linalg.matrix_norm(t(BATCH), dim=(1, 1)), RuntimeError, "two dimensions"),
        (lambda: linalg.cross(t(BATCH), t(VECTOR)), RuntimeError, "wanted 3 dimensions"),
        (lambda: linalg.cross(libdl.ones(3, 4), libdl.ones(3, 4)), RuntimeError, "size 3"),
        (lambda: linalg.multi_dot([t(MATRIX)]), RuntimeError, "two or more"),
        (lambda: linalg.multi_dot([t(MATRIX), t(VECTOR), t(MATRIX)]), RuntimeError, "as number 1"),
        (lambda: linalg.matrix_power(t(MATRIX), 2), RuntimeError, "square"),
        (lambda: linalg.matrix_power(t(MATRIX)[:, :2], -1), NotImplementedError, "no inverse"),
        (
            lambda: linalg.svd(t(MATRIX)),
            NotImplementedError,
            "linalg.svd: this part of linear algebra is not",
        ),
        (
            lambda: libdl.rot90(t(MATRIX), 1, [0, -2]),
            RuntimeError,
            "wanted two different dimensions",
        ),
        (lambda: libdl.rot90(t(VECTOR)), RuntimeError, "wanted two dimensions or more"),
    ],
)
def test_what_is_refused(call, kind, told):
    with pytest.raises(kind, match=told):
        call()


def test_products_of_vectors():
    other = VECTOR[::-1].copy()
    assert linalg.cross(t(VECTOR), t(other)).tolist() == np.cross(VECTOR, other).tolist()
    columns = linalg.cross(t(BATCH).movedim(-1, 0), libdl.ones(3, 1, 1, dtype=libdl.float64), dim=0)
    np.testing.assert_array_equal(columns.movedim(0, -1).numpy(), np.cross(BATCH, np.ones(3)))
    assert linalg.vecdot(t(BATCH), t(VECTOR)).tolist() == (BATCH @ VECTOR).tolist()
    assert linalg.vecdot(t(MATRIX), t(MATRIX), dim=0).tolist() == [5, 5, 9]
    assert linalg.vecdot(libdl.tensor([2j]), libdl.tensor([3j])).item() == 6


def test_a_product_of_many_is_that_of_its_pairs():
    a, b, c, v = (np.random.default_rng(0).normal(size=s) for s in ((4, 9), (9, 2), (2, 7), (7,)))
    for each in ([a, b], [a, b, c], [a, b, c, v], [b[:, 0], b, c, v], [v, v]):
        np.testing.assert_allclose(
            linalg.multi_dot([t(x) for x in each]).numpy(), np.linalg.multi_dot(each), rtol=1e-12
        )


def test_powers_of_matrices():
    squares = BATCH[:, :, :2]
    for n in (0, 1, 2, 3, 7):
        wanted = np.linalg.matrix_power(squares, n).tolist()
        assert linalg.matrix_power(t(squares), n).tolist() == wanted
        assert libdl.matrix_power(t(squares), n).tolist() == wanted
    x = t(squares)
    linalg.matrix_power(x, 1).zero_()
    assert x.tolist() == squares.tolist(), "the power is no view"


def test_diagonals_and_powers_of_numbers():
    assert linalg.diagonal(t(BATCH), offset=1).tolist() == np.diagonal(BATCH, 1, 1, 2).tolist()
    for n in (None, 2, 5):
        assert (
            linalg.vander(t(VECTOR), N=n).tolist() == np.vander(VECTOR, n, increasing=True).tolist()
        )
    with pytest.raises(RuntimeError, match=r"\(N\) is 1, wanted 2 or more"):  # as in PyTorch
        linalg.vander(t(VECTOR), N=1)


@pytest.mark.parametrize("k", range(-2, 6))
@pytest.mark.parametrize("dims", [(0, 1), (1, 0), (-1, -3)])
def test_quarter_turns_are_numpys(k, dims):
    assert libdl.rot90(t(BATCH), k, dims).tolist() == np.rot90(BATCH, k, dims).tolist()
    assert t(BATCH).rot90(k, dims).tolist() == np.rot90(BATCH, k, dims).tolist()

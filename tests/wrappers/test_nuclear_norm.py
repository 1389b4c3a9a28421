# SPDX-License-Identifier: Apache-2.0
"""norm(p="nuc") against NumPy's singular values, and its derivatives."""

from typing import Any

import numpy as np
import pytest

import libdl

SHAPES = [
    (5, 3),
    (3, 5),
    (4, 4),
    (2, 7, 4),
    (3, 2, 6, 6),
    (1, 1),
    (1, 4),
    (0, 3),
    (0, 2, 3),
    (30, 31),
]
DTYPES = ["float32", "float64", "complex64", "complex128"]


def matrices(shape: tuple[int, ...], dtype: str) -> Any:
    rng = np.random.default_rng(sum(shape))
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if "complex" in dtype else x).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_the_sum_of_the_singular_values(shape: tuple[int, ...], dtype: str) -> None:
    a = matrices(shape, dtype)
    x = libdl.tensor(a, requires_grad=True)
    norm = x.norm("nuc", (-2, -1))
    u, s, vh = np.linalg.svd(a.astype("complex128"), full_matrices=False)
    assert str(norm.dtype) == f"libdl.{np.abs(a).dtype}"
    # Both decompositions err by an epsilon of float64 a column; then comes one rounding.
    rtol = 2 * np.finfo(a.dtype).eps + 2 * max(shape) * np.finfo("float64").eps
    np.testing.assert_allclose(norm.detach().numpy(), s.sum(-1), rtol=rtol)
    norm.sum().backward()
    assert x.grad is not None
    # The polar factor's condition is that of the smallest singular value, here above 0.01.
    np.testing.assert_allclose(x.grad.numpy(), u @ vh, atol=50 * np.finfo(a.dtype).eps)


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [(0, 1), (1, 2), (-1, 0)])
def test_the_pair_of_dimensions(dim: tuple[int, int], keepdim: bool) -> None:
    a = matrices((2, 3, 4), "float64")
    norm = libdl.tensor(a).norm("nuc", dim, keepdim)
    np.testing.assert_allclose(norm.numpy(), np.linalg.norm(a, "nuc", dim, keepdim), rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(4, 3), (3, 3), (2, 4)])
def test_first_and_second_derivatives(shape: tuple[int, ...], dtype: str) -> None:
    x = libdl.tensor(matrices(shape, dtype), requires_grad=True)
    assert libdl.autograd.gradcheck(lambda x: x.norm("nuc"), x)
    assert libdl.autograd.gradgradcheck(lambda x: x.norm("nuc"), x)


def test_forward_mode_agrees_with_reverse_mode() -> None:
    x = libdl.tensor(matrices((4, 3), "float64"))
    func = libdl.func
    hessian = func.jacrev(func.jacrev(lambda x: x.norm("nuc")))(x)
    for outer in (func.jacfwd, func.jacrev):
        found = func.jacfwd(outer(lambda x: x.norm("nuc")))(x)
        np.testing.assert_allclose(found.numpy(), hessian.numpy(), atol=1e-13)


def test_singular_values_of_zero_have_no_direction_unless_all_are() -> None:
    x = libdl.ones(2, 2, requires_grad=True)
    x.norm("nuc").backward()
    assert x.grad is not None and x.grad.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    z = libdl.zeros(3, 2, requires_grad=True)
    z.norm("nuc").backward()  # as PyTorch's singular vectors of zeros are
    assert z.grad is not None and z.grad.tolist() == [[1, 0], [0, 1], [0, 0]]


@pytest.mark.parametrize("scale", [1e-38, 1e30])
def test_squares_neither_overflow_nor_vanish(scale: float) -> None:
    norm = (libdl.ones(3, 3) * scale).norm("nuc").item()
    assert norm == pytest.approx(3 * scale, rel=1e-6)  # scale itself is rounded to float32


@pytest.mark.parametrize("special", [float("nan"), float("inf")])
def test_what_is_not_finite_is_nan(special: float) -> None:
    norms = libdl.tensor([[[special, 1.0], [1, 2]], [[2, 0], [0, 1]]]).norm("nuc", (1, 2))
    assert norms[0].isnan() and norms[1].item() == 3


def test_out_and_dtype() -> None:
    x, out = libdl.eye(2), libdl.empty(())
    assert libdl.norm(x, "nuc", out=out) is out and out.item() == 2
    assert x.norm("nuc", dtype=libdl.float64).dtype == libdl.float64


@pytest.mark.parametrize(
    ("shape", "dim", "kind", "text"),
    [
        ((2, 3, 4), None, ValueError, r"dim\) is \[0, 1, 2\], wanted two dimensions"),
        ((2, 3, 4), (1, -2), ValueError, r"dim\) is \[1, -2\], wanted two dimensions"),
        ((2, 3), 0, ValueError, r"dim\) is \[0\], wanted two dimensions"),
        ((2, 3), (0, 2), IndexError, r"dim\) names 2, wanted -2 to 1"),
        ((3,), None, ValueError, r"dim\) is \[0\], wanted two dimensions"),
    ],
)
def test_other_dimensions(shape: Any, dim: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=r"norm: argument 3 \(" + text):
        libdl.ones(shape).norm("nuc", dim)


def test_integers_have_none() -> None:
    with pytest.raises(TypeError, match="norm: argument 1 .input. is int64, wanted a floating"):
        libdl.ones(2, 2, dtype=libdl.int64).norm("nuc")


def test_mH_conjugates_mT() -> None:
    a = matrices((2, 3, 4), "complex64")
    np.testing.assert_array_equal(libdl.tensor(a).mH.numpy(), a.conj().swapaxes(1, 2))
    with pytest.raises(RuntimeError, match="mH: wanted 2 dimensions or more, found 1"):
        libdl.ones(3).mH  # noqa: B018

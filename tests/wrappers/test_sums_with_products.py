# SPDX-License-Identifier: Apache-2.0
"""addmm and its kin: dtypes of sums with factors, and what flows to a term whose factor is 0."""

import math

import pytest

import libdl
from libdl.func import grad, jvp, vmap

# Of each the shapes of the sum's first term and of the two factors of the product.
KIN = {
    "addmm": ((2, 2), (2, 3), (3, 2)),
    "addmv": ((2,), (2, 3), (3,)),
    "addr": ((2, 3), (2,), (3,)),
    "addbmm": ((2, 2), (4, 2, 3), (4, 3, 2)),
    "baddbmm": ((4, 2, 2), (4, 2, 3), (4, 3, 2)),
}
each = pytest.mark.parametrize("name", KIN)


def ones(name, dtype=libdl.float32):
    return [libdl.ones(shape, dtype=dtype) for shape in KIN[name]]


def product(name):
    return {"addmm": 3, "addmv": 3, "addr": 1, "addbmm": 12, "baddbmm": 3}[name]


@each
@pytest.mark.parametrize("dtype", [libdl.uint8, libdl.int32, libdl.int64])
def test_integers_stay_integers(name, dtype):
    function, operands = getattr(libdl, name), ones(name, dtype)
    for factors in ({}, {"beta": 3, "alpha": 2}, {"beta": 0}, {"alpha": 0}, {"beta": True}):
        made = function(*operands, **factors)
        beta, alpha = factors.get("beta", 1), factors.get("alpha", 1)
        assert made.dtype is dtype
        assert made.unique().tolist() == [beta * 1 + alpha * product(name)]
    for factors in (
        {"beta": 0.2},
        {"alpha": 1.5},
        {"alpha": math.inf},
        {"beta": math.nan},
        {"beta": 1j},
        {"alpha": 2j},
    ):
        for call in (
            lambda: function(*operands, **factors),
            lambda: getattr(operands[0].clone(), name + "_")(*operands[1:], **factors),
        ):
            with pytest.raises(
                RuntimeError, match=rf"{name}_?: argument [45] \({next(iter(factors))}\) is"
            ):
                call()


@pytest.mark.parametrize("name", [name for name in KIN if name != "addr"])
def test_floats_without_a_fraction_are_integers(name):
    function, operands = getattr(libdl, name), ones(name, libdl.int32)
    made = function(*operands, beta=2.0, alpha=3.0)
    assert made.dtype is libdl.int32 and made.unique().tolist() == [2 + 3 * product(name)]
    made = operands[0].clone()
    assert getattr(made, name + "_")(*operands[1:], beta=2.0).unique().tolist() == [
        2 + product(name)
    ]


@pytest.mark.parametrize("dtype", [libdl.uint8, libdl.int64])
def test_other_factors_without_a_fraction(dtype):
    ones, at = libdl.ones(3, dtype=dtype), libdl.tensor([0, 0])
    calls = {
        "addcmul": lambda factor: libdl.addcmul(ones, ones, ones, value=factor),
        "index_add": lambda factor: ones.index_add(0, at, ones[:2], alpha=factor),
    }
    for name, wanted in (("addcmul", [3, 3, 3]), ("index_add", [5, 1, 1])):
        for factor in (2, 2.0):
            made = calls[name](factor)
            assert made.dtype is dtype and made.tolist() == wanted
        for factor in (0.5, math.inf, 1j):
            with pytest.raises(
                RuntimeError, match=f"{name}: argument [45] .* is (float64|complex128), wanted"
            ):
                calls[name](factor)


def test_outer_products_want_integers_of_integers():
    for dtype in (libdl.bool, libdl.int64):
        for factors in ({"beta": 2.0}, {"alpha": 1.0}):
            with pytest.raises(
                RuntimeError, match=r"addr: argument [45] .* is float64, wanted a number that"
            ):
                libdl.addr(*ones("addr", dtype), **factors)
    with pytest.raises(
        RuntimeError, match=r"addr: argument 5 \(alpha\) is complex128, wanted a number that"
    ):
        libdl.addr(*ones("addr"), alpha=1j)
    made = libdl.addr(libdl.ones(2, 3, dtype=libdl.int32), libdl.ones(2), libdl.ones(3), beta=0.5)
    assert made.dtype is libdl.float32 and made.unique().tolist() == [1.5]


@pytest.mark.parametrize(
    ("given", "product", "factors", "wanted"),
    [
        (True, True, {"alpha": 2}, True),
        (True, False, {}, True),
        (True, False, {"beta": False}, False),
        (True, False, {"beta": 0}, False),
        (False, True, {"alpha": False}, False),
        (False, True, {"beta": 0, "alpha": 3}, True),
    ],
)
def test_outer_products_of_bools(given, product, factors, wanted):
    input, vec = libdl.full((2, 2), given), libdl.full((2,), product)
    made = libdl.addr(input, vec, libdl.ones(2, dtype=libdl.bool), **factors)
    assert made.dtype is libdl.bool and made.unique().tolist() == [wanted]


@each
def test_dtypes_agree(name):
    input, *factors = ones(name)
    if name == "addr":
        assert libdl.addr(input.double(), *factors).dtype is libdl.float64
        return
    with pytest.raises(RuntimeError, match=r"argument 1 \(input\) is .*float64, wanted .*float32"):
        getattr(libdl, name)(input.double(), *factors)
    with pytest.raises(RuntimeError, match="is complex128|is 1j"):
        getattr(libdl, name)(input, *factors, alpha=1j)


@each
def test_a_term_without_a_factor_keeps_its_history(name):
    function = getattr(libdl, name)
    input, *factors = ones(name)
    nan = libdl.full_like(input, math.nan)
    for x in (input.clone(), nan.clone(), libdl.ones(input.shape[-1])):
        x.requires_grad_()
        y = function(x, *factors, beta=0)
        assert y.unique().tolist() == [product(name)]
        (slope,) = libdl.autograd.grad(y.sum(), x)
        assert slope.shape == x.shape and slope.unique().tolist() == [0]
    leaf = nan.clone().requires_grad_()
    y = getattr(leaf.clone(), name + "_")(*factors, beta=0)
    (slope,) = libdl.autograd.grad(y.sum(), leaf)
    assert slope.unique().tolist() == [0]
    y, tangent = jvp(lambda x: function(x, *factors, beta=0), (nan,), (input * 5,))
    assert y.unique().tolist() == [product(name)] and tangent.unique().tolist() == [0]
    assert not function(input, *factors, beta=0).requires_grad


@each
def test_a_term_without_a_factor_in_batches(name):
    function = getattr(libdl, name)
    input, *factors = ones(name)
    batch = libdl.full((3, *input.shape), math.nan).requires_grad_()
    y = vmap(lambda x: function(x, *factors, beta=0))(batch)
    assert y.unique().tolist() == [product(name)]
    (slope,) = libdl.autograd.grad(y.sum(), batch)
    assert slope.unique().tolist() == [0]
    slope = vmap(grad(lambda x: function(x, *factors, beta=0).sum()))(batch.detach())
    assert slope.shape == batch.shape and slope.unique().tolist() == [0]
    stacked = [libdl.ones(3, *x.shape, dtype=libdl.int32) for x in (input, *factors)]
    made = vmap(lambda *x: function(*x, beta=2))(*stacked)
    assert made.dtype is libdl.int32 and made.unique().tolist() == [2 + product(name)]
    with pytest.raises(RuntimeError, match=name):
        vmap(lambda *x: function(*x, beta=0.2))(*stacked)


def test_a_power_of_nothing_keeps_its_history():
    x = libdl.full((2, 3, 3), math.nan).requires_grad_()
    for power in (libdl.linalg.matrix_power, libdl.matrix_power, libdl.Tensor.matrix_power):
        y = power(x, 0)
        assert y.tolist() == [libdl.eye(3).tolist()] * 2
        (slope,) = libdl.autograd.grad(y.sum(), x)
        assert slope.shape == x.shape and slope.unique().tolist() == [0]

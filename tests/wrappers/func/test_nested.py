# SPDX-License-Identifier: Apache-2.0
"""Transforms inside one another give PyTorch's answers: as they are, for backward outside, and in
inference mode."""

import warnings

import pytest
from answered import Stored
from wrappers.func import seen_nested

import libdl

SEEN = Stored(seen_nested)


def test_most_seeds_have_answers():
    assert len(SEEN[""]) > 0.9 * len(seen_nested.SEEDS)


@pytest.mark.parametrize("line", SEEN[""])
def test_as_in_pytorch(line):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that an operator runs sample by sample
        SEEN.compare(line, seen_nested.of_seed(libdl, int(line.partition(":")[0])))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x**3,
        lambda x: x.sin() * x.sum(),
        lambda x: x.softmax(0),
        lambda x: x[libdl.tensor([1, 1, 0])] * x,
    ],
)
def test_jacobians_by_vmap_of_jvp(f):
    """A dual number of all samples' values in one level is made dual again in another."""
    func, unit = libdl.func, libdl.eye(3, dtype=libdl.float64)

    def by_columns(g):
        return lambda x: func.vmap(lambda v: func.jvp(g, (x,), (v,))[1], out_dims=-1)(unit)

    x = libdl.tensor([0.3, 0.2, -0.5], dtype=libdl.float64)
    twice = func.jacrev(func.jacrev(f))
    for found in (
        by_columns(by_columns(f))(x),
        func.jacfwd(by_columns(f))(x),
        by_columns(func.jacfwd(f))(x),
        by_columns(func.jacrev(f))(x),
        func.jacrev(by_columns(f))(x),
    ):
        assert libdl.allclose(found, twice(x), rtol=1e-10)
    batch = func.vmap(by_columns(by_columns(f)))(libdl.stack([x, 2 * x]))
    assert libdl.allclose(batch, libdl.stack([twice(x), twice(2 * x)]), rtol=1e-10)
    thrice = by_columns(by_columns(by_columns(f)))(x)
    assert libdl.allclose(thrice, func.jacrev(twice)(x), rtol=1e-9, atol=1e-9)


def test_the_tangents_of_an_expanded_primal_are_each_their_own():
    func = libdl.func
    x = libdl.tensor([0.3, 0.2, -0.5], dtype=libdl.float64).expand(3, 3)
    t = libdl.arange(9, dtype=libdl.float64).view(3, 3)

    def inner(z):
        return func.jvp(lambda y: y**3, (z,), (t + 1,))[1]

    assert libdl.allclose(func.jvp(inner, (x,), (t,))[1], 6 * x * (t + 1) * t)


def test_a_tangent_takes_the_dtype_of_its_primal():
    """As in PyTorch's results; of a real primal it must be real."""
    x = libdl.tensor([1.0, 2.0], dtype=libdl.float64)
    value, moved = libdl.func.jvp(lambda x: x * x, (x,), (libdl.tensor([0.5, 1.0]),))
    assert moved.dtype is libdl.float64 and moved.tolist() == [1.0, 4.0]
    z = x.to(libdl.complex128)
    assert libdl.func.jvp(lambda z: z * z, (z,), (x.float(),))[1].tolist() == [2 + 0j, 8 + 0j]
    half = libdl.func.jvp(lambda x: x * x, (x.float(),), (x.half(),))[1]
    assert half.dtype is libdl.float32 and half.tolist() == [2.0, 8.0]
    v = libdl.tensor([0.5, 1.0], requires_grad=True)
    libdl.func.jvp(lambda x: x**3, (x,), (v,))[1].sum().backward()
    assert v.grad.dtype is libdl.float32 and v.grad.tolist() == [3.0, 12.0]
    with pytest.raises(RuntimeError, match="complex"):
        libdl.func.jvp(lambda x: x * x, (x,), (z,))


@pytest.mark.parametrize(
    "write",
    [
        lambda y, x: y.mul_(x),
        lambda y, x: y.sin_(),
        lambda y, x: y.pow_(3),
        lambda y, x: y.exp_(),
        lambda y, x: y.div_(x + 3).mul_(x).sub_(x),
        lambda y, x: libdl.nn.functional.silu(y, True),
        lambda y, x: libdl.nn.functional.elu(y.mul_(x), inplace=True),
        lambda y, x: y.addcmul_(x, x),
    ],
)
def test_reverse_over_forward_of_what_is_written_in_place(write):
    func = libdl.func
    x = libdl.tensor([0.7, -1.1, 0.4], dtype=libdl.float64)

    def f(x):
        y = x * 1
        write(y, x)
        return y

    found = func.jacrev(lambda z: func.jvp(f, (z,), (x,))[1])(x)
    assert libdl.allclose(found, libdl.einsum("ijk,j->ik", func.jacrev(func.jacrev(f))(x), x))


def test_inference_mode_gives_the_same_derivatives():
    with libdl.inference_mode():
        x, w = libdl.tensor([1.0, 2.0]), libdl.tensor([3.0, 4.0])
        func = libdl.func
        assert func.grad(lambda x: (w * x * x).sum())(x).tolist() == [6.0, 16.0]
        assert func.hessian(lambda x: (w * x * x).sum())(x).tolist() == [[6.0, 0.0], [0.0, 8.0]]
        assert func.vjp(lambda x: w * x, x)[1](x)[0].tolist() == [3.0, 8.0]
        assert func.jvp(lambda x: w * x, (x,), (x,))[1].tolist() == [3.0, 8.0]
        found = libdl.vmap(func.grad(lambda a: a**3))(x)
        assert found.tolist() == [3.0, 12.0] and not found.requires_grad
        assert libdl.is_inference_mode_enabled() and not libdl._C.records_inference_tensors()
    p = libdl.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved"):
        p * w

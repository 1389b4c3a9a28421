# SPDX-License-Identifier: Apache-2.0
"""Distances of many rows at once: their values, gradients and corners beside the norm of every
difference."""

import pytest

import libdl
from libdl.nn import functional as F

SHAPES = [
    (1, 1, 1),
    (3, 70, 2),
    (65, 17, 64),
    (66, 130, 65),
    (4, 3, 300),
    (130, 5, 1),
    (33, 16, 520),
]


def numbers(rows, columns, dtype=libdl.float64, seed=7):
    generator = libdl.Generator().manual_seed(seed)
    return libdl.randn(rows, columns, generator=generator, dtype=libdl.float64).to(dtype)


def of_differences(x, y, p):
    return (x.unsqueeze(-2) - y.unsqueeze(-3)).norm(p, -1)


def gradients(function, *tensors):
    leaves = [t.detach().requires_grad_() for t in tensors]
    z = function(*leaves)
    arriving = libdl.linspace(-1, 2, z.numel(), dtype=z.dtype).reshape(z.shape)
    return [z, *libdl.autograd.grad(z, leaves, arriving)]


def agree(found, wanted, tolerance):
    for a, b in zip(found, wanted, strict=True):
        assert a.shape == b.shape
        assert bool(((a - b).abs() <= tolerance * (1 + b.abs().max())).all())


@pytest.mark.parametrize("p", [1.0, 2.0])
@pytest.mark.parametrize(("n", "m", "d"), SHAPES)
def test_cdist_is_the_norm_of_differences(n, m, d, p):
    x, y = numbers(n, d), numbers(m, d, seed=8)
    y[0] = x[-1]
    wanted = gradients(lambda a, b: of_differences(a, b, p), x, y)
    agree(gradients(lambda a, b: libdl.cdist(a, b, p), x, y), wanted, 1e-12)
    across = gradients(
        lambda a, b: libdl.cdist(a.t(), b.t(), p), x.t().contiguous(), y.t().contiguous()
    )
    agree([across[0], across[1].t(), across[2].t()], wanted, 1e-12)
    singles = gradients(lambda a, b: libdl.cdist(a, b, p), x.float(), y.float())
    agree([s.double() for s in singles], wanted, 1e-5)


@pytest.mark.parametrize("p", [1.0, 2.0])
@pytest.mark.parametrize(("n", "d"), [(2, 3), (5, 64), (70, 2), (131, 65)])
def test_pdist_has_the_pairs_of_cdist(n, d, p):
    x = numbers(n, d)
    x[1] = x[0]
    first, second = libdl.triu_indices(n, n, 1)

    def pairs(a):
        return (a[first] - a[second]).norm(p, -1)

    agree(gradients(lambda a: F.pdist(a, p), x), gradients(pairs, x), 1e-12)
    assert F.pdist(x, p).equal(libdl.cdist(x, x, p)[first, second])


def test_bits_do_not_depend_on_threads_or_neighbours():
    x, y = numbers(150, 70, libdl.float32), numbers(140, 70, libdl.float32, seed=8)
    threads = libdl.get_num_threads()
    try:
        libdl.set_num_threads(1)
        alone = gradients(libdl.cdist, x, y)
        libdl.set_num_threads(3)
        assert all(a.equal(b) for a, b in zip(gradients(libdl.cdist, x, y), alone, strict=True))
    finally:
        libdl.set_num_threads(threads)
    assert libdl.cdist(x[7:8], y[9:10]).item() == alone[0][7, 9].item()


def test_neighbours_far_from_the_origin_keep_their_distance():
    x = libdl.full((40, 30), 1e4)
    y = x.clone()
    y[:, 3] += 0.25
    assert libdl.cdist(x, y).unique().tolist() == [0.25] and libdl.cdist(x, x).count_nonzero() == 0


def test_corners():
    inf, nan = float("inf"), float("nan")
    x = libdl.tensor([[inf, 0.0], [nan, 1.0], [3e38, 0.0], [1e-30, 0.0]], requires_grad=True)
    z = libdl.cdist(x, libdl.zeros(1, 2))
    assert str(z.flatten().tolist()) == str([inf, nan, *libdl.tensor([3e38, 1e-30]).tolist()])
    (gradient,) = libdl.autograd.grad(z[2:].sum(), x)
    assert str(gradient[2:].tolist()) == "[[1.0, 0.0], [1.0, 0.0]]"
    assert libdl.cdist(libdl.zeros(2, 3), libdl.zeros(0, 3)).shape == (2, 0)
    assert libdl.cdist(libdl.zeros(2, 0), libdl.zeros(3, 0)).tolist() == [[0.0] * 3] * 2
    with pytest.raises(ValueError, match="cdist: compute_mode is 'matrix', wanted one of"):
        libdl.cdist(x, x, compute_mode="matrix")


def test_gradients_of_small_and_large_distances():
    """A gradient divided by a distance may leave float32 where their product with a difference does
    not."""
    for scale in (2.0**-120, 2.0**120):
        x = libdl.tensor([[0.75, 1.0]]) * scale
        for arriving in (2.0**-20, 1.0, 2.0**20):
            leaf = x.detach().requires_grad_()
            z = libdl.cdist(leaf, libdl.zeros(3, 2))
            (gradient,) = libdl.autograd.grad(z, leaf, libdl.full((1, 3), arriving))
            assert libdl.allclose(gradient / arriving, libdl.tensor([[1.8, 2.4]]), rtol=1e-6)


def test_under_vmap():
    x, y = numbers(12, 3).reshape(2, 6, 3), numbers(4, 3, seed=8)
    assert libdl.vmap(libdl.cdist, (0, None))(x, y).equal(libdl.cdist(x, y))
    assert libdl.vmap(libdl.cdist, (0, 0))(x, x[:, :2]).equal(libdl.cdist(x, x[:, :2]))
    both = libdl.vmap(lambda a, b: libdl.cdist(a, b.unsqueeze(0)), (0, None))(x, y)
    assert both.equal(libdl.cdist(x.unsqueeze(1), y))


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("dtype", [libdl.float64, libdl.float32, libdl.float16])
@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0, 3.0, INF])
def test_rows_without_columns_have_no_distance(p, dtype):
    x = libdl.zeros(3, 0, dtype=dtype, requires_grad=True)
    for found, shape in (
        (libdl.cdist(x, x[:2], p), (3, 2)),
        (F.pdist(x, p), (3,)),
        (libdl.cdist(x[None], x[None], p), (1, 3, 3)),
        (F.pdist(x[:1], p), (0,)),
    ):
        assert found.shape == shape and found.dtype is dtype and bool((found == 0).all())
        (gradient,) = libdl.autograd.grad(found.sum(), x)
        assert gradient.shape == (3, 0)


def test_a_nan_is_not_counted_as_a_difference():
    x = libdl.tensor(
        [[1.0, NAN, 3.0], [INF, 0.0, 3.0], [INF, 0.0, -INF]],
        dtype=libdl.float64,
        requires_grad=True,
    )
    y = libdl.zeros(1, 3, dtype=libdl.float64)
    found = libdl.cdist(x, y, 0.0)
    assert str(found.flatten().tolist()) == "[nan, 2.0, 2.0]"
    assert str(F.pdist(x, 0.0).tolist()) == "[nan, nan, nan]"  # inf - inf is NaN
    assert F.pdist(x[1:].nan_to_num(posinf=9.0, neginf=1.0), 0.0).tolist() == [1.0]
    assert libdl.autograd.grad(found[1:].sum(), x)[0].tolist() == [[0.0] * 3] * 3


@pytest.mark.parametrize("dtype", [libdl.float64, libdl.float16])
@pytest.mark.parametrize(
    ("p", "x", "gradient"),
    [
        (INF, [1.0, NAN], [0, NAN]),
        (INF, [NAN, NAN, INF], [NAN, NAN, 0]),
        (INF, [1.0, INF], [0, 1]),
        (INF, [-INF, INF], [-0.5, 0.5]),
        (INF, [0.0, 0.0], [0, 0]),
        (-INF, [1.0, NAN], [0, NAN]),
        (-INF, [1.0, INF], [1, 0]),
        (INF, [2.0, -2.0, 1.0], [0.5, -0.5, 0]),
    ],
)
def test_the_largest_have_the_gradient_and_others_none(p, x, gradient, dtype):
    x = libdl.tensor(x, dtype=dtype, requires_grad=True)
    for arriving in (1.0, INF):
        found = libdl.autograd.grad(
            x.norm(p), x, libdl.tensor(arriving, dtype=dtype), create_graph=True
        )[0]
        wanted = [0.0 if g == 0 else g * arriving for g in gradient]
        if x[0] != 0:
            assert str((found + 0.0).tolist()) == str([float(w) for w in wanted])
    (twice,) = libdl.autograd.grad(found.sum(), x)
    assert twice.tolist() == [0] * len(gradient)
    for pair in (libdl.dist, lambda a, b, p: F.pairwise_distance(a, b, p, eps=0.0)):
        y = libdl.zeros_like(x)
        assert str((libdl.autograd.grad(pair(x, y, p), x)[0] + 0.0).tolist()) == str(
            [float(g) for g in gradient]
        )

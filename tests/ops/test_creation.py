# SPDX-License-Identifier: Apache-2.0
"""Creation against NumPy, and random numbers by their seed, bounds and moments."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import harness
import libdl

SHAPES = [(), (1,), (5,), (2, 3), (3, 1, 2), (0,), (2, 0, 3)]
DTYPES = {
    libdl.float64: np.float64,
    libdl.float32: np.float32,
    libdl.int64: np.int64,
    libdl.int32: np.int32,
    libdl.uint8: np.uint8,
    libdl.bool: np.bool_,
}


@pytest.mark.parametrize(("shape", "dtype"), list(itertools.product(SHAPES, DTYPES)))
def test_filled(shape, dtype):
    for made, wanted in [
        (libdl.zeros(shape, dtype=dtype), np.zeros(shape)),
        (libdl.ones(shape, dtype=dtype), np.ones(shape)),
        (libdl.full(shape, 1, dtype=dtype), np.ones(shape)),
    ]:
        found = made.numpy()
        assert found.dtype == DTYPES[dtype]
        np.testing.assert_array_equal(found, wanted.astype(DTYPES[dtype]), strict=True)
        for like in (libdl.zeros_like(made), libdl.ones_like(made), libdl.full_like(made, 1)):
            assert like.shape == made.shape and like.dtype == dtype
    assert libdl.empty(shape, dtype=dtype).shape == libdl.Size(shape)


@pytest.mark.parametrize(
    "make",
    [pytest.param(f, marks=harness.marks(f.__name__, "zero_dim_array")) for f in (libdl.tensor,)],
)
def test_zero_dim_array_keeps_its_dtype(make):
    for dtype, wanted in DTYPES.items():
        assert make(np.array(1, dtype=wanted)).dtype == dtype


@pytest.mark.parametrize(
    "span",
    [
        (5,),
        (0,),
        (2, 7),
        (-3, 3, 2),
        (9, 1, -3),
        (0, 1, 0.1),
        (1.5,),
        (-1, 1, 0.25),
        (3, 3),
        (0, 100, 7),
    ],
)
def test_arange(span):
    np.testing.assert_allclose(
        libdl.arange(*span, dtype=libdl.float64).numpy(),
        np.arange(*span, dtype=np.float64),
        rtol=1e-15,
        atol=1e-15,
    )


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 10, 101])
def test_linspace_and_eye(steps):
    np.testing.assert_allclose(
        libdl.linspace(-1.0, 3.0, steps, dtype=libdl.float64).numpy(),
        np.linspace(-1.0, 3.0, steps),
        rtol=1e-15,
        atol=1e-15,
    )
    for columns in (0, 1, steps):
        np.testing.assert_array_equal(libdl.eye(steps, columns).numpy(), np.eye(steps, columns))


REJECTED = [
    (lambda: libdl.zeros((-1,)), (ValueError, RuntimeError), ("zeros", "size")),
    (lambda: libdl.ones((2**62, 4)), (ValueError, RuntimeError, MemoryError), ("ones",)),
    (lambda: libdl.arange(0, 3, 0), (ValueError, RuntimeError), ("arange", "step")),
    (lambda: libdl.arange(0, 3, -1), (ValueError, RuntimeError), ("arange", "step")),
    (lambda: libdl.linspace(0, 1, -1), (ValueError, RuntimeError), ("linspace", "steps")),
    (lambda: libdl.eye(-1), (ValueError, RuntimeError), ("eye", "n")),
    (lambda: libdl.randint(3, 3, (2,)), (ValueError, RuntimeError), ("randint", "high")),
    (lambda: libdl.randperm(-1), (ValueError, RuntimeError), ("randperm", "n")),
]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        pytest.param(*r, id=r[2][0] + str(i), marks=harness.marks(r[2][0], "rejects"))
        for i, r in enumerate(REJECTED)
    ],
)
def test_rejects(call, error, words):
    with pytest.raises(error) as caught:
        call()
    for word in words:
        assert word in str(caught.value), f"{word!r} is not in: {caught.value}"


# name: what makes n numbers, their mean, their variance, and the bounds they lie in
DRAWS = {
    "rand": (lambda n: libdl.rand(n, dtype=libdl.float64), 0.5, 1 / 12, (0, 1)),
    "randn": (lambda n: libdl.randn(n, dtype=libdl.float64), 0, 1, (-9, 9)),
    "randint": (lambda n: libdl.randint(-2, 5, (n,)), 1, 4, (-2, 4)),
    "bernoulli": (lambda n: libdl.bernoulli(libdl.full((n,), 0.3)), 0.3, 0.21, (0, 1)),
    "uniform_": (lambda n: libdl.empty(n).uniform_(-1, 3), 1, 16 / 12, (-1, 3)),
    "normal_": (lambda n: libdl.empty(n).normal_(2, 3), 2, 9, (-30, 30)),
    "rand_like": (lambda n: libdl.rand_like(libdl.empty(n)), 0.5, 1 / 12, (0, 1)),
    "dropout": (lambda n: libdl.nn.functional.dropout(libdl.ones(n), 0.25), 1, 1 / 3, (0, 1.3334)),
    "poisson": (lambda n: libdl.poisson(libdl.full((n,), 3.0)), 3, 3, (0, 40)),
    "poisson of 50": (lambda n: libdl.poisson(libdl.full((n,), 50.0)), 50, 50, (0, 150)),
    "binomial": (
        lambda n: libdl.binomial(libdl.full((n,), 9.0), libdl.full((n,), 0.7)),
        6.3,
        1.89,
        (0, 9),
    ),
    "binomial of 99": (
        lambda n: libdl.binomial(libdl.full((n,), 99.0), libdl.full((n,), 0.4)),
        39.6,
        23.76,
        (0, 99),
    ),
    "standard_gamma": (lambda n: libdl.standard_gamma(libdl.full((n,), 4.0)), 4, 4, (0, 60)),
    "standard_gamma of 0.5": (
        lambda n: libdl.standard_gamma(libdl.full((n,), 0.5)) ** 0.5,
        0.56419,
        0.18169,
        (0, 9),
    ),  # half of |z|, z normal, times sqrt 2
    "standard_log_gamma": (
        lambda n: libdl.standard_log_gamma(libdl.full((n,), 0.01)),
        -100.5608854578687,
        10001.621213528313,
        (-3000, 4),
    ),
    "standard_log_gamma of 4": (
        lambda n: libdl.standard_log_gamma(libdl.full((n,), 4.0)).exp(),
        4,
        4,
        (0, 60),
    ),
    "exponential_": (lambda n: libdl.exp(-libdl.empty(n).exponential_(2.0)), 2 / 3, 1 / 18, (0, 1)),
    "geometric_": (lambda n: libdl.exp(-libdl.empty(n).geometric_(0.5)), 0.2254, 0.02165, (0, 1)),
    "cauchy_": (
        lambda n: libdl.empty(n).cauchy_(1.0, 2.0).sub(1).div(2).atan(),
        0,
        math.pi**2 / 12,
        (-1.571, 1.571),
    ),
    "log_normal_": (lambda n: libdl.empty(n).log_normal_(2.0, 3.0).log(), 2, 9, (-30, 30)),
    "multinomial": (
        lambda n: (
            libdl.multinomial(libdl.tensor([1.0, 0.0, 3.0]), n, True) if n else libdl.empty(0)
        ),
        1.5,
        0.75,
        (0, 2),
    ),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws(name):
    draw, mean, variance, (low, high) = DRAWS[name]
    n = 40_000
    libdl.manual_seed(7)
    first, second = draw(n).numpy(), draw(n).numpy()
    libdl.manual_seed(7)
    np.testing.assert_array_equal(draw(n).numpy(), first)
    assert np.any(first != second)
    assert low <= first.min() and first.max() <= high
    # Five standard errors: passed by chance in all but one of two million correct generators.
    assert abs(first.mean() - mean) < 5 * math.sqrt(variance / n)
    assert abs(first.var() - variance) < 5 * math.sqrt(3 / n) * max(variance, 0.1)
    for size in (0, 1, 7):
        assert draw(size).numel() == size


def test_multinomial_without_replacement():
    """No index twice, none of weight 0, and the first is drawn by weight: five standard errors."""
    libdl.manual_seed(2)
    weights = libdl.tensor([1.0, 0.0, 3.0, 6.0]).expand(9000, 4)
    drawn = libdl.multinomial(weights, 3).numpy()
    assert all(set(row) == {0, 2, 3} for row in drawn)
    assert abs((drawn[:, 0] == 3).mean() - 0.6) < 5 * math.sqrt(0.24 / 9000)


@pytest.mark.parametrize(
    "words, call",
    [
        (("argument 1 (input)", "-1.0"), lambda: libdl.multinomial(libdl.tensor([-1.0, 2.0]), 1)),
        (("argument 1 (input)", "zeros"), lambda: libdl.multinomial(libdl.zeros(2), 1)),
        (("argument 1 (input)", "int64"), lambda: libdl.multinomial(libdl.arange(3), 1)),
        (("argument 1 (input)", "shape"), lambda: libdl.multinomial(libdl.ones(1, 2, 3), 1)),
        (("argument 2 (num_samples)", "0"), lambda: libdl.multinomial(libdl.ones(2), 0)),
        (("argument 2 (num_samples)", "at most 2"), lambda: libdl.multinomial(libdl.ones(2), 3)),
        (
            ("argument 2 (num_samples)", "positive weights"),
            lambda: libdl.multinomial(libdl.tensor([1.0, 0.0]), 2),
        ),
        (("poisson: argument 1", "-1.0"), lambda: libdl.poisson(libdl.tensor([-1.0]))),
        (("binomial: argument 1", "-1.0"), lambda: libdl.binomial(-libdl.ones(1), libdl.ones(1))),
        (("binomial: argument 2", "2.0"), lambda: libdl.binomial(libdl.ones(1), 2 * libdl.ones(1))),
        (
            ("binomial: argument 2 (prob) is float64, wanted float32",),
            lambda: libdl.binomial(libdl.ones(1), libdl.ones(1, dtype=libdl.float64)),
        ),
        (("standard_gamma: argument 1", "-1.0"), lambda: libdl.standard_gamma(-libdl.ones(1))),
        (
            ("standard_log_gamma: argument 1", "-1.0"),
            lambda: libdl.standard_log_gamma(-libdl.ones(1)),
        ),
        (("exponential_", "lambd"), lambda: libdl.ones(1).exponential_(0.0)),
        (("geometric_", "(p)"), lambda: libdl.ones(1).geometric_(1.0)),
        (("cauchy_", "sigma"), lambda: libdl.ones(1).cauchy_(0.0, 0.0)),
        (("log_normal_", "std"), lambda: libdl.ones(1).log_normal_(0.0, -1.0)),
    ],
)
def test_distributions_refuse(words, call):
    with pytest.raises((ValueError, RuntimeError)) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value


def test_the_gradient_of_standard_gamma_is_that_of_its_quantile():
    """Of alpha = 1 the numbers are exponential: the quantile's slope is found by differences of
    the distribution function, a Simpson sum with an error below 1e-6."""
    alpha = libdl.ones(20, dtype=libdl.float64, requires_grad=True)
    drawn = libdl.standard_gamma(alpha)
    drawn.sum().backward()

    def below(a: float, x: float) -> float:
        u = np.linspace(0, x**0.25, 4001)  # t = u^4: smooth at 0
        y = 4 * u ** (4 * a - 1) * np.exp(-(u**4)) / math.gamma(a)
        return (u[1] / 3) * (y[0] + y[-1] + 4 * y[1:-1:2].sum() + 2 * y[2:-1:2].sum())

    h = 1e-4
    for x, slope in zip(drawn.tolist(), alpha.grad.tolist()):
        wanted = -(below(1 + h, x) - below(1 - h, x)) / (2 * h) / math.exp(-x)
        assert slope == pytest.approx(wanted, rel=1e-5)
    with pytest.raises(RuntimeError, match="standard_gamma"):
        (first,) = libdl.autograd.grad(libdl.standard_gamma(alpha).sum(), alpha, create_graph=True)
        first.sum().backward()


@pytest.mark.parametrize("shape", [0.3, 1.0, 7.0, 2e4])
def test_logarithms_of_gamma_numbers(shape):
    """Those of the same numbers, and with their slopes."""
    alpha = libdl.full((50,), shape, dtype=libdl.float64, requires_grad=True)
    libdl.manual_seed(3)
    x = libdl.standard_gamma(alpha)
    libdl.manual_seed(3)
    y = libdl.standard_log_gamma(alpha)
    np.testing.assert_allclose(y.detach().exp().numpy(), x.detach().numpy(), rtol=1e-12)
    wanted = libdl.autograd.grad(x.log().sum(), alpha)[0]
    np.testing.assert_allclose(
        libdl.autograd.grad(y.sum(), alpha)[0].numpy(), wanted.numpy(), rtol=1e-12
    )
    libdl.manual_seed(3)
    direction = libdl.ones(50, dtype=libdl.float64)
    tangent = libdl.func.jvp(libdl.standard_log_gamma, (alpha.detach(),), (direction,))[1]
    np.testing.assert_allclose(tangent.numpy(), wanted.numpy(), rtol=1e-12)


def test_logarithms_of_gamma_numbers_of_tiny_shape():
    """Far below the least number log(x) is (log(P) + lgamma(alpha + 1)) / alpha."""
    alpha = libdl.full((50,), 1e-4, dtype=libdl.float64, requires_grad=True)
    y = libdl.standard_log_gamma(alpha)
    assert y.min() < -800 and y.isfinite().all()
    (slope,) = libdl.autograd.grad(y.sum(), alpha)
    far = y.detach() < -800
    wanted = (libdl.digamma(alpha.detach() + 1) - y.detach()) / alpha.detach()
    np.testing.assert_allclose(slope[far].numpy(), wanted[far].numpy(), rtol=1e-9)
    for dtype in (libdl.float16, libdl.bfloat16, libdl.float32, libdl.float64):
        lowest = libdl.standard_log_gamma(libdl.zeros(1, dtype=dtype))
        assert lowest.dtype is dtype and lowest.item() == libdl.finfo(dtype).min


def test_randperm():
    for n in (0, 1, 2, 10, 1000):
        assert sorted(libdl.randperm(n).tolist()) == list(range(n))


def test_threads_do_not_change_the_bits():
    drawn = []
    before = libdl.get_num_threads()
    for threads in (1, 2, 3):
        libdl.set_num_threads(threads)
        libdl.manual_seed(1)
        drawn.append(libdl.randn(300_000).numpy())
    libdl.set_num_threads(before)
    assert all(np.array_equal(drawn[0], d) for d in drawn)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_likes(shape, dtype):
    """empty_like and the random likes take shape and dtype from their input, or a dtype of
    theirs."""
    x = libdl.zeros(shape, dtype=dtype)
    made = [
        libdl.empty_like(x),
        libdl.empty_like(x, dtype=libdl.float16),
        libdl.rand_like(x, dtype=libdl.float64),
        libdl.randn_like(x, dtype=libdl.float32),
    ]
    wanted = [dtype, libdl.float16, libdl.float64, libdl.float32]
    if dtype != libdl.bool:
        made.append(libdl.randint_like(x, 2, 5))
        wanted.append(dtype)
        assert set(np.unique(made[-1].numpy())) <= {2, 3, 4}
    for y, d in zip(made, wanted, strict=True):
        assert y.shape == x.shape and y.dtype == d
    assert libdl.all((made[2] >= 0) & (made[2] < 1))


@pytest.mark.parametrize("draw", [libdl.rand_like, libdl.randn_like])
def test_likes_refuse_integers(draw):
    with pytest.raises(TypeError, match=rf"{draw.__name__}.*int64"):
        draw(libdl.zeros(2, dtype=libdl.int64))


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 1000])
@pytest.mark.parametrize("dtype", [libdl.float64, libdl.float32, libdl.int64], ids=str)
def test_every_step_of_arange_is_its_own(dtype, count):
    """Element i is start + i step, rounded once each: no sum of steps."""
    start, step = (5, 3) if dtype == libdl.int64 else (0.7, 0.1)
    found = libdl.arange(start, start + (count - 0.5) * step if count else start, step, dtype=dtype)
    wanted = [start + i * step for i in range(count)]
    assert found.tolist() == libdl.tensor(wanted, dtype=dtype).tolist()

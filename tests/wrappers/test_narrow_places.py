# SPDX-License-Identifier: Apache-2.0
"""Places, counts and divisors that 16 bits do not hold: what has many elements agrees with
float64."""

import math

import pytest

import libdl
from libdl.nn import functional as F

NARROW = [libdl.float16, libdl.bfloat16]
narrow = pytest.mark.parametrize("dtype", NARROW, ids=["float16", "bfloat16"])


@narrow
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantiles(dtype, name):
    steps = libdl.cat([libdl.zeros(3000), libdl.ones(2000)]).to(dtype)
    assert getattr(libdl, name)(steps, 0.5999).item() == 0
    assert getattr(libdl, name)(steps, 0.6005).item() == 1
    x = libdl.linspace(0, 1, 70_000).to(dtype)
    for q in (0.3, libdl.tensor([0.1, 0.25, 0.999])):
        for way in ("linear", "lower", "higher", "midpoint", "nearest"):
            found = getattr(x, name)(q, interpolation=way)
            wide = getattr(x.float(), name)(q, interpolation=way)
            assert found.dtype is dtype and libdl.equal(found, wide.to(dtype))
    rows = libdl.stack([x, x.flip(0)]).requires_grad_()
    getattr(rows, name)(0.3, dim=1).sum().backward()
    assert rows.grad.dtype is dtype and float(rows.grad.float().sum()) == pytest.approx(2, rel=1e-2)


def test_quantiles_of_other_dtypes():
    x = libdl.linspace(0, 1, 7)
    for y, q in (
        (x, libdl.tensor(0.5).half()),
        (x.double(), libdl.tensor(0.5)),
        (x, libdl.tensor(0.5).double()),
    ):
        with pytest.raises(RuntimeError, match=r"quantile: argument 2 \(q\) is .*, wanted"):
            libdl.quantile(y, q)


def test_quantiles_of_more_than_float32_counts():
    x = libdl.zeros(2**24 + 4)
    x[2**24 + 1 :] = 1
    place = (2**24 + 1) / (2**24 + 3)
    assert libdl.quantile(x, place, interpolation="higher").item() in (0, 1)
    assert libdl.quantile(x, 1.0).item() == 1 and libdl.quantile(x, 0.5).item() == 0


@narrow
def test_bins(dtype):
    x = libdl.linspace(0, 1, 5000).to(dtype)
    for bins, least, most in ((10, 0, 0), (300, 0, 1), (7, 0.125, 0.75)):
        found = libdl.histc(x, bins, least, most)
        assert found.dtype is dtype
        assert found.tolist() == libdl.histc(x.float(), bins, least, most).to(dtype).tolist()
    assert libdl.histc(libdl.tensor([-60_000.0, 0, 60_000]).half(), 3).tolist() == [1, 1, 1]


def test_bins_as_pytorch_has_them():
    x = libdl.arange(101) / 100
    wanted = [3, 1, *[2] * 27, 3]
    assert libdl.histc(x, 30, 0.1, 0.7).tolist() == wanted
    assert libdl.histc(libdl.tensor([3e38, -3e38, 0.0]), 2).tolist() == [1, 2]
    assert libdl.histc(libdl.full((9,), 16_777_216.0), 3).tolist() == [0, 9, 0]


DRAWS = [
    (libdl.bfloat16, 0, 300, (0, 298)),
    (libdl.bfloat16, 257, 300, (258, 298)),
    (libdl.bfloat16, -300, -257, (-300, -258)),
    (libdl.bfloat16, -301, 5, (-300, 4)),
    (libdl.float16, 0, 65_505, (0, 65_504)),
    (libdl.float16, -5000, 5000, (-5000, 4996)),
    (libdl.float32, 2**24 + 1, 2**24 + 7, (2**24 + 2, 2**24 + 6)),
    (libdl.float64, 2**53 + 1, 2**53 + 7, (2**53 + 2, 2**53 + 6)),
]


@pytest.mark.parametrize(("dtype", "low", "high", "extent"), DRAWS)
def test_random_integers_lie_between_their_bounds(dtype, low, high, extent):
    libdl.manual_seed(1)
    drawn = [
        lambda: libdl.randint(low, high, (200_000,), dtype=dtype),
        lambda: libdl.empty(200_000, dtype=dtype).random_(low, high),
        lambda: libdl.randint_like(libdl.empty(200_000, dtype=dtype), low, high),
    ]
    for draw in drawn:
        with pytest.warns(UserWarning, match="does not hold all integers from"):
            x = draw().double()
        assert low <= float(x.min()) and float(x.max()) < high
        if high - low < 1000:
            assert (float(x.min()), float(x.max())) == extent


def test_random_integers_that_a_dtype_has_none_of():
    with pytest.raises(ValueError, match="does not hold all integers from 257 to 257"):
        libdl.randint(257, 258, (2,), dtype=libdl.bfloat16)
    for low, high in ((0, 65_506), (-65_505, 5)):
        with pytest.raises(ValueError, match="float16, which does not hold"):
            libdl.randint(low, high, (2,), dtype=libdl.float16)
    with pytest.raises(ValueError, match="int8, which does not hold"):
        libdl.randint(0, 200, (2,), dtype=libdl.int8)
    with pytest.warns(UserWarning, match="float64 does not hold all integers"):
        x = libdl.randint(-(2**63), 2**63 - 1, (1000,), dtype=libdl.float64)
    assert float(x.min()) < -1e18 and float(x.max()) > 1e18


@narrow
def test_weighted_means(dtype):
    n = 70_000
    x = libdl.linspace(-1, 1, n).to(dtype).requires_grad_()
    weight = libdl.ones(n).to(dtype)
    for loss in (F.mse_loss, F.l1_loss):
        found = loss(x, libdl.zeros(n).to(dtype), weight=weight)
        wide = loss(x.detach().double(), libdl.zeros(n).double(), weight=weight.double())
        assert found.dtype is dtype and found.item() == pytest.approx(wide.item(), rel=1e-2)
        (slope,) = libdl.autograd.grad(found * 1000, x)
        assert float(slope[0]) == pytest.approx(
            -1000 / n * (2 if loss is F.mse_loss else 1), rel=2e-2
        )
    scores = libdl.zeros(n, 2).to(dtype).requires_grad_()
    classes, each = libdl.zeros(n, dtype=libdl.int64), libdl.ones(2).to(dtype)
    for smoothing in (0.0, 0.1):
        found = F.cross_entropy(scores, classes, weight=each, label_smoothing=smoothing)
        assert found.item() == pytest.approx(math.log(2), rel=1e-2)
        (slope,) = libdl.autograd.grad(found, scores, create_graph=True)
        (again,) = libdl.autograd.grad((slope.float() ** 2).sum() * 1e6, scores)
        assert bool(again.isfinite().all())


@narrow
def test_integrals_and_covariances(dtype):
    n = 70_000
    ones = libdl.ones(n).to(dtype)
    assert libdl.trapezoid(ones, dx=0.001).item() == pytest.approx(70, rel=1e-2)
    assert libdl.cumulative_trapezoid(ones, dx=0.001)[-1].item() == pytest.approx(70, rel=1e-2)
    places = libdl.linspace(0, 1, 5000).to(dtype)
    assert libdl.trapezoid(ones[:5000], places).item() == pytest.approx(1, rel=1e-2)
    x = libdl.stack([libdl.linspace(-2, 2, n), libdl.linspace(2, -1, n)]).to(dtype)
    for named in ({}, {"fweights": libdl.ones(n, dtype=libdl.int64)}, {"aweights": ones}):
        wide = {k: v.double() if v.is_floating_point() else v for k, v in named.items()}
        found, wanted = libdl.cov(x, **named), libdl.cov(x.double(), **wide)
        assert found.dtype is dtype and libdl.allclose(found.double(), wanted, rtol=1e-2)
    assert libdl.allclose(libdl.corrcoef(x).double(), libdl.corrcoef(x.double()), rtol=1e-2)
    y = x.clone().requires_grad_()
    libdl.cov(y)[0, 0].backward()
    assert y.grad.dtype is dtype and bool(y.grad.isfinite().all())

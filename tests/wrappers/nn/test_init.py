# SPDX-License-Identifier: Apache-2.0
"""Initial values: distributions, structure, and what is refused. Structures are PyTorch 2.15's."""

import math

import pytest

import libdl
from libdl import nn
from libdl.nn import init


def generator(seed=3):
    return libdl.Generator().manual_seed(seed)


@pytest.mark.parametrize(
    "shape", [(3, 5), (5, 3), (4, 2, 2), (2, 3, 3, 3), (70, 70), (1, 4), (4, 1)]
)
@pytest.mark.parametrize("dtype", [libdl.float32, libdl.float64, libdl.float16])
def test_orthogonal(shape, dtype):
    w = libdl.empty(shape, dtype=dtype)
    assert init.orthogonal_(w, gain=2.0, generator=generator()) is w
    m = w.double().flatten(1)
    m = m if m.shape[0] <= m.shape[1] else m.t()
    off = (m @ m.t() - 4 * libdl.eye(len(m), dtype=libdl.float64)).abs().max()
    assert off < {libdl.float64: 1e-14, libdl.float32: 1e-6, libdl.float16: 1e-2}[dtype]


def test_orthogonal_is_uniformly_distributed():
    """The trace of a uniformly distributed orthogonal matrix has mean 0 and variance 1."""
    g = generator()
    traces = [
        float(init.orthogonal_(libdl.empty(3, 3), generator=g).diagonal().sum())
        for _ in range(2000)
    ]
    mean = sum(traces) / len(traces)
    variance = sum((t - mean) ** 2 for t in traces) / len(traces)
    assert abs(mean) < 0.1 and abs(variance - 1) < 0.15  # 4 standard errors and more


@pytest.mark.parametrize(
    ("mean", "std", "a", "b"),
    [
        (0.0, 1.0, -2.0, 2.0),
        (1.0, 2.0, -1.0, 2.0),
        (0.0, 1.0, 5.0, 6.0),
        (0.0, 1.0, -90.0, -8.0),
        (0.0, 1.0, 3.0, 3.0),
        (0.0, 0.02, -2.0, 2.0),
        (0.0, 1.0, 1.0, math.inf),
    ],
)
def test_trunc_normal(mean, std, a, b):
    x = init.trunc_normal_(libdl.empty(4000, dtype=libdl.float64), mean, std, a, b, generator())
    assert float(x.min()) >= a and float(x.max()) <= b
    grid = [
        max(a, mean - 12 * std)
        + (i + 0.5) / 20000 * (min(b, mean + 12 * std) - max(a, mean - 12 * std))
        for i in range(20000)
    ]
    weights = [math.exp(-(((y - mean) / std) ** 2) / 2) for y in grid]
    wanted = sum(w * y for w, y in zip(weights, grid)) / sum(weights)
    assert abs(float(x.mean()) - wanted) < 0.05 * std


def test_sparse():
    """A part of each column, rounded up, is 0."""
    w = init.sparse_(libdl.empty(10, 4), 0.35, generator=generator())
    assert (w == 0).sum(0).tolist() == [4] * 4 and 0 < float(w.std()) < 0.1
    assert (init.sparse_(libdl.empty(4, 2), 1.5) == 0).all()


def test_dirac():
    x = libdl.randn(1, 3, 7)
    same = libdl.nn.functional.conv1d(x, init.dirac_(libdl.empty(3, 3, 3)), padding=1)
    assert libdl.equal(same, x)
    w = init.dirac_(libdl.empty(4, 2, 3), groups=2)
    assert w.nonzero().tolist() == [[0, 0, 1], [1, 1, 1], [2, 0, 1], [3, 1, 1]]
    assert init.dirac_(libdl.empty(2, 2, 2, 2)).nonzero().tolist() == [[0, 0, 1, 1], [1, 1, 1, 1]]


def test_eye():
    assert init.eye_(libdl.empty(2, 3, dtype=libdl.float16)).tolist() == [[1, 0, 0], [0, 1, 0]]


def test_gains():
    assert init.calculate_gain("conv_transpose2d") == 1 and init.calculate_gain("selu") == 0.75
    assert init.calculate_gain("leaky_relu", 1) == 1 and init.calculate_gain("tanh", "a") == 5 / 3
    assert init.calculate_gain("leaky_relu") == math.sqrt(2 / 1.0001)


@pytest.mark.parametrize(
    ("make", "std"),
    [
        (lambda w, g: init.kaiming_uniform_(w, generator=g), math.sqrt(2 / 300)),
        (lambda w, g: init.kaiming_normal_(w, 1.0, "FAN_OUT", generator=g), math.sqrt(1 / 200)),
        (lambda w, g: init.xavier_uniform_(w, 3.0, g), 3 * math.sqrt(2 / 500)),
        (lambda w, g: init.xavier_normal_(w, generator=g), math.sqrt(2 / 500)),
    ],
)
def test_variances(make, std):
    w = make(nn.Parameter(libdl.empty(200, 300)), generator())
    assert abs(float(w.detach().std()) / std - 1) < 0.02 and w.requires_grad and w.grad_fn is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: init.eye_(libdl.empty(3)),
        lambda: init.dirac_(libdl.empty(3, 3)),
        lambda: init.orthogonal_(libdl.empty(3)),
        lambda: init.sparse_(libdl.empty(3), 0.1),
        lambda: init.dirac_(libdl.empty(3, 2, 3), 2),
        lambda: init.kaiming_normal_(libdl.empty(3)),
        lambda: init.kaiming_normal_(libdl.empty(3, 3), mode="x"),
        lambda: init.kaiming_normal_(libdl.empty(3, 3), nonlinearity="x"),
        lambda: init.calculate_gain("gelu"),
        lambda: init.calculate_gain("leaky_relu", True),
        lambda: init.trunc_normal_(libdl.empty(3), a=2.0, b=1.0),
        lambda: init.trunc_normal_(libdl.empty(3), std=0.0),
        lambda: init.kaiming_uniform_(nn.UninitializedParameter()),
        lambda: init.uniform_(libdl.empty(2), 1, 0),
    ],
)
def test_refused(call):
    with pytest.raises(ValueError):
        call()


def test_of_nothing():
    for make in (
        init.orthogonal_,
        init.eye_,
        init.xavier_uniform_,
        init.kaiming_normal_,
        init.kaiming_uniform_,
    ):
        assert make(libdl.empty(2, 0)).shape == (2, 0) and make(libdl.empty(0, 2)).shape == (0, 2)


def test_older_names_warn():
    with pytest.warns(FutureWarning, match="init.orthogonal_"):
        assert init.orthogonal(libdl.empty(2, 2)).shape == (2, 2)


def test_the_generator_decides():
    for make in (init.sparse_, init.orthogonal_, init.trunc_normal_, init.kaiming_uniform_):
        arguments = (0.5,) if make is init.sparse_ else ()
        a, b = (make(libdl.empty(4, 3), *arguments, generator=generator(9)) for _ in range(2))
        assert libdl.equal(a, b)

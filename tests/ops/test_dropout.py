# SPDX-License-Identifier: Apache-2.0
"""feature_dropout, alpha_dropout, feature_alpha_dropout: what is drawn, and what is refused."""

from __future__ import annotations

import math

import pytest

import libdl

LIMIT = -1.7580993408473766  # of selu
DROPOUTS = [libdl.feature_dropout, libdl.alpha_dropout, libdl.feature_alpha_dropout]


def test_feature_dropout_drops_channels():
    y = libdl.feature_dropout(libdl.ones(8, 50, 3), 0.25, True)
    assert {round(v, 5) for v in y.reshape(-1).tolist()} == {0.0, round(4 / 3, 5)}
    assert libdl.equal(y, y[:, :, :1].expand(8, 50, 3))


@pytest.mark.parametrize("function", [libdl.alpha_dropout, libdl.feature_alpha_dropout])
def test_alpha_dropout_is_the_affine_map_of_a_mixture(function):
    p = 0.25
    a = 1 / math.sqrt((LIMIT * LIMIT * p + 1) * (1 - p))
    x = libdl.full((8, 50, 2), 0.5, dtype=libdl.float64)
    found = sorted(set(function(x, p, True).reshape(-1).tolist()))
    b = -a * LIMIT * p
    assert found == pytest.approx(sorted([a * 0.5 + b, a * LIMIT + b]), rel=1e-12)


@pytest.mark.parametrize("function", DROPOUTS)
def test_nothing_is_drawn_without_need(function):
    x = libdl.randn(3, 4)
    before = libdl.get_rng_state().tolist()
    assert libdl.equal(function(x, 0.5, False), x)
    assert libdl.equal(function(x, 0.0, True), x)
    assert libdl.get_rng_state().tolist() == before
    assert function(x, 1.0, True).abs().sum().item() == 0


@pytest.mark.parametrize(
    "function", [*DROPOUTS, libdl.nn.functional.dropout2d, libdl.nn.functional.dropout3d]
)
@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.filterwarnings("ignore:dropout.d")
def test_channels_are_asked_for_where_some_are_drawn(function, shape):
    x = libdl.ones(shape)
    for p, training in ((0.5, False), (1.0, False), (0.0, True)):
        assert libdl.equal(function(x, p, training), x)
    assert not function(x, 1.0, True).any()


@pytest.mark.parametrize("function", DROPOUTS)
def test_the_same_seed_gives_the_same_bits(function):
    x = libdl.randn(6, 5)
    libdl.manual_seed(7)
    first = function(x, 0.5, True)
    libdl.manual_seed(7)
    assert libdl.equal(function(x, 0.5, True), first)


@pytest.mark.parametrize("function", DROPOUTS)
def test_refusals(function):
    name = function.__name__
    with pytest.raises(ValueError, match=rf"{name}: argument 2 \(p\) is 1.5"):
        function(libdl.ones(2, 2), 1.5, True)
    with pytest.raises(TypeError, match=rf"{name}: argument 1 \(input\) is int64"):
        function(libdl.ones(2, 2).long(), 0.5, True)
    if name.startswith("feature"):
        with pytest.raises(RuntimeError, match=rf"{name}: argument 1 \(input\) has shape \[2\]"):
            function(libdl.ones(2), 0.5, True)


@pytest.mark.parametrize("function", DROPOUTS)
def test_the_gradient_is_the_noise(function):
    x = libdl.randn(40, 3, dtype=libdl.float64, requires_grad=True)
    y = function(x, 0.5, True)
    (dx,) = libdl.autograd.grad(y.sum(), x)
    assert len(set(dx.reshape(-1).tolist())) == 2
    assert len({round(v, 9) for v in (y - dx * x).reshape(-1).tolist()}) <= 2

# SPDX-License-Identifier: Apache-2.0
"""gumbel_softmax: the softmax of logits and of numbers that the generator gives."""

import pytest

import libdl
from libdl import _functional
from libdl.nn import functional as F

LOGITS = libdl.randn(3, 5, generator=libdl.Generator().manual_seed(1), dtype=libdl.float64)


def noise(like, seed=7):
    libdl.manual_seed(seed)
    return -(-(-libdl.rand_like(like)).log1p()).log()


@pytest.mark.parametrize("dtype", [libdl.float64, libdl.float32, libdl.float16, libdl.bfloat16])
@pytest.mark.parametrize("tau, dim", [(1, -1), (0.5, 0), (3.0, 1)])
def test_it_is_a_softmax_with_noise(dtype, tau, dim):
    x = LOGITS.to(dtype)
    wanted = libdl.softmax((x + noise(x)) / tau, dim)
    libdl.manual_seed(7)
    assert libdl.equal(F.gumbel_softmax(x, tau, dim=dim), wanted)


def test_a_hard_sample_is_one_at_the_largest_with_the_soft_gradient():
    soft, hard = (LOGITS.clone().requires_grad_() for _ in range(2))
    wanted = libdl.softmax(soft + noise(LOGITS), -1)
    libdl.manual_seed(7)
    y = F.gumbel_softmax(hard, hard=True)
    assert libdl.equal(y.argmax(-1), wanted.argmax(-1))
    assert libdl.allclose(y.detach(), F.one_hot(wanted.argmax(-1), 5).double())
    weight = libdl.arange(15.0).view(3, 5)
    (wanted * weight).sum().backward()
    (y * weight).sum().backward()
    assert libdl.equal(soft.grad, hard.grad)


def test_a_generator_of_its_own_and_a_gradient_of_the_temperature():
    own = libdl.Generator().manual_seed(7)
    tau = libdl.tensor(0.5, dtype=libdl.float64, requires_grad=True)
    y = _functional.gumbel_softmax(LOGITS, tau, generator=own)
    libdl.manual_seed(7)
    assert libdl.equal(y, F.gumbel_softmax(LOGITS, 0.5))
    (slope,) = libdl.autograd.grad(y.square().sum(), tau)
    step = 1e-6

    def loss(t):
        libdl.manual_seed(7)
        return F.gumbel_softmax(LOGITS, t).square().sum().item()

    wanted = (loss(0.5 + step) - loss(0.5 - step)) / (2 * step)
    assert slope.item() == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(
    "error, told, call",
    [
        (TypeError, "1 (logits) is int64", lambda: F.gumbel_softmax(libdl.arange(3))),
        (IndexError, "4 (dim) is 2, wanted -2 to 1", lambda: F.gumbel_softmax(LOGITS, dim=2)),
        (
            (ValueError, RuntimeError),
            "2 (tau)",
            lambda: F.gumbel_softmax(LOGITS, libdl.ones(4)),
        ),
        (
            (ValueError, RuntimeError),
            "1 (logits) has shape [2, 0]",
            lambda: F.gumbel_softmax(libdl.ones(2, 0), hard=True),
        ),
    ],
)
def test_what_is_refused_draws_nothing(error, told, call):
    libdl.manual_seed(3)
    with pytest.raises(error) as caught:
        call()
    assert f"gumbel_softmax: argument {told}" in str(caught.value)
    drawn = libdl.rand(1)
    libdl.manual_seed(3)
    assert libdl.equal(drawn, libdl.rand(1))

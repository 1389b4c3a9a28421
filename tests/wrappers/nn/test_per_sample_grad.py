# SPDX-License-Identifier: Apache-2.0
"""Gradients of each sample's loss are those of a batch of one."""

import libdl
import pytest
from libdl import nn
from libdl.nn.utils._per_sample_grad import call_for_per_sample_grads

IMAGES = libdl.arange(3 * 2 * 6 * 6.0).reshape(3, 2, 6, 6).cos()
CASES = {
    "a layer": (lambda: nn.Linear(6, 3), IMAGES),
    "convolutions": (
        lambda: nn.Sequential(
            nn.Conv2d(2, 4, 3), nn.GroupNorm(2, 4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 2)
        ),
        IMAGES,
    ),
    "a table": (lambda: nn.Embedding(5, 2), libdl.tensor([[0, 1], [2, 2], [4, 0]])),
    "frozen weights": (
        lambda: nn.Sequential(nn.Linear(6, 3).requires_grad_(False), nn.Linear(3, 2)),
        IMAGES,
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_each_sample_has_the_gradient_of_a_batch_of_one(case, reduction):
    make, x = CASES[case]
    module = make()
    loss = {"sum": libdl.sum, "mean": lambda y: y.sum() / len(x)}[reduction]
    loss(call_for_per_sample_grads(module, loss_reduction=reduction)(x).square()).backward()
    trained = [p for p in module.parameters() if p.requires_grad]
    assert all(p.grad is None for p in module.parameters())
    for i in range(len(x)):
        alone = libdl.autograd.grad(module(x[i : i + 1]).square().sum(), trained)
        for parameter, gradient in zip(trained, alone, strict=True):
            # Another order of sums: a few roundings of float32.
            libdl.testing.assert_close(parameter.grad_sample[i], gradient, rtol=1e-4, atol=1e-5)


def test_samples_of_the_second_dimension_and_arguments_that_have_none():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(libdl.tensor([1.0, 2.0]))

        def forward(self, x, factor):
            return x * self.weight * factor

    module, x = Scaled(), libdl.arange(12.0).reshape(2, 3, 2)
    call_for_per_sample_grads(module, batch_size=3, batch_first=False)(
        x, libdl.tensor(2.0)
    ).sum().backward()
    assert libdl.equal(module.weight.grad_sample, 2 * x.sum(0))


@pytest.mark.parametrize(
    "call, told",
    [
        (lambda m: call_for_per_sample_grads(m, loss_reduction="max"), "loss_reduction is 'max'"),
        (lambda m: call_for_per_sample_grads(m, batch_size=0), "batch_size is 0"),
        (lambda m: call_for_per_sample_grads(3), "module is a int"),
        (lambda m: call_for_per_sample_grads(m)(), "sizes \\[\\], wanted one"),
        (
            lambda m: (
                call_for_per_sample_grads(m)(libdl.ones(2, 6)).sum().backward(),
                call_for_per_sample_grads(m),
            ),
            "weight has a grad_sample already",
        ),
    ],
)
def test_what_is_refused(call, told):
    with pytest.raises(RuntimeError, match=told):
        call(nn.Linear(6, 3))

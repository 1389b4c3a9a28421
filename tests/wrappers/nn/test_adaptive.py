# SPDX-License-Identifier: Apache-2.0
"""The adaptive softmax does what PyTorch's does: the same programs, and its answers."""

import pytest
from answered import Stored
from wrappers.nn import seen_adaptive
from wrappers.answers import numbers
from wrappers.nn.seen_adaptive import adaptive

import libdl
from libdl import nn

SEEN = Stored(seen_adaptive)


@pytest.mark.parametrize("program", seen_adaptive.PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_pytorch(program):
    SEEN.check(program, libdl)


def test_the_probabilities_of_all_classes_add_up_to_one():
    module, x = adaptive(libdl, [3, 6]), numbers(libdl, 5, 6)
    logs = module.log_prob(x)
    assert libdl.allclose(logs.exp().sum(1), libdl.ones(5).double())
    assert libdl.equal(module.predict(x), logs.argmax(1))
    target = libdl.tensor([0, 4, 9, 2, 6])
    assert libdl.allclose(module(x, target).output, logs.gather(1, target[:, None])[:, 0])


def test_clusters_without_a_target_are_not_computed():
    module = adaptive(libdl, [3, 6])
    called = []
    for i, cluster in enumerate(module.tail):
        cluster.register_forward_hook(lambda mod, args, out, i=i: called.append((i, len(out))))
    module(numbers(libdl, 4, 6), libdl.tensor([1, 7, 9, 0]))
    assert called == [(1, 2)]


def test_an_empty_batch():
    made = adaptive(libdl, [3, 6])(libdl.zeros(0, 6).double(), libdl.zeros(0, dtype=libdl.int64))
    assert made.output.shape == (0,) and made.loss.isnan()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: nn.AdaptiveLogSoftmaxWithLoss(6, 10, [4, 3]),
            "cutoffs is [4, 3], wanted ascending integers from 1 to 9",
        ),
        (
            lambda: adaptive(libdl, [3])(numbers(libdl, 2, 6), libdl.tensor([0, 10])),
            "argument 2 (target_) holds classes from 0 to 10, wanted 0 to 9",
        ),
        (
            lambda: adaptive(libdl, [3])(numbers(libdl, 6), libdl.tensor([0])),
            "argument 1 (input_) is 1D, wanted 2D",
        ),
    ],
)
def test_errors(call, text):
    with pytest.raises((ValueError, RuntimeError)) as caught:
        call()
    assert str(caught.value).startswith(f"AdaptiveLogSoftmaxWithLoss: {text}")

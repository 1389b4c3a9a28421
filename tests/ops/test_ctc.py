# SPDX-License-Identifier: Apache-2.0
"""ctc_loss, which takes float32 and float64 only: value, derivatives and refusals."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import libdl
from checks import tensor
from libdl.nn import functional as F
from samples import Reject, Sample, numbers

WORDS = ("mean", "sum", "none")
REFUSED = (ValueError, RuntimeError, TypeError)
ones, whole = libdl.ones, libdl.tensor


def reduced(losses: Any, how: str) -> Any:
    losses = np.asarray(losses)
    return {"none": losses, "sum": losses.sum(), "mean": losses.mean()}[how]


def ctc(scores: Any, *args: Any, **options: Any) -> Any:
    """Of scores: the rule is the derivative by them, not by any log-probabilities."""
    return F.ctc_loss(libdl.log_softmax(scores, -1), *args, **options)


def ctc_reference(
    scores: Any, targets: Any, steps: Any, lengths: Any, blank: int = 0, reduction: str = "mean"
) -> Any:
    """By all paths: every sequence of classes is reduced and compared."""
    p = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    p = p if scores.ndim == 3 else p[:, None]
    each, start = [], 0
    for n, (t, length) in enumerate(zip(np.atleast_1d(steps), np.atleast_1d(lengths))):
        row = targets[n] if targets.ndim == 2 else targets[start:]
        start += length
        wanted, total = list(row[:length]), 0.0
        for path in itertools.product(range(p.shape[2]), repeat=int(t)):
            read = [c for i, c in enumerate(path) if c != blank and (i == 0 or c != path[i - 1])]
            if read == wanted:
                total += math.prod(p[i, n, c] for i, c in enumerate(path))
        each.append(-math.log(total) if total else math.inf)
    losses = np.array(each)
    if reduction == "mean":
        return np.asarray((losses / np.maximum(1, np.atleast_1d(lengths))).mean())
    return reduced(losses if scores.ndim == 3 else losses[0], reduction)


def sequences() -> list[Sample]:
    made = []
    for i, r in enumerate(WORDS * 2):
        x = numbers((4, 2, 3), i)
        made += [
            Sample(
                (x, np.array([[1, 2], [1, 1]]), np.array([4, 4]), np.array([2, 2])),
                {"reduction": r},
            ),
            Sample(
                (x, np.array([[1, 2], [2, 1]]), np.array([3, 4]), np.array([1, 0])),
                {"reduction": r},
            ),
            Sample(
                (x, np.array([0, 1, 0]), np.array([4, 2]), np.array([2, 1])),
                {"reduction": r, "blank": 2},
            ),
            Sample(
                (numbers((4, 3), i + 9), np.array([1, 2]), np.array(4), np.array(2)),
                {"reduction": r},
            ),
        ]
    return made


def no_ctc(words: str, *args: Any, x: Any = None, **options: Any) -> Reject:
    made = ones(4, 2, 3) if x is None else x
    return Reject(
        (IndexError, *REFUSED),
        ("ctc_loss: argument " + words,),
        lambda: F.ctc_loss(made, *args, **options),
    )


pair, four = whole([[1, 2], [1, 1]]), whole([4, 4])
REJECTS = [
    no_ctc('6 (reduction) is "no"', pair, four, [2, 2], reduction="no"),
    no_ctc("1 (log_probs) is float16", pair, four, [2, 2], x=ones(4, 2, 3).half()),
    no_ctc("1 (log_probs) has shape [3]", pair, four, [2, 2], x=ones(3)),
    no_ctc("2 (targets) has shape [3, 1], wanted [2, s]", ones(3, 1).long(), four, [1, 1]),
    no_ctc("2 (targets) has shape [3], wanted [4]", whole([1, 1, 1]), four, [2, 2]),
    no_ctc("2 (targets) is float32", ones(2, 2), four, [2, 2]),
    no_ctc("2 (targets) holds 3, wanted 0 to 2", whole([[1, 3], [1, 1]]), four, [2, 2]),
    no_ctc("3 (input_lengths) holds 5, wanted 0 to 4", pair, whole([5, 4]), [2, 2]),
    no_ctc("3 (input_lengths) has shape [1]", pair, whole([4]), [2, 2]),
    no_ctc("3 (input_lengths) is float32", pair, ones(2), [2, 2]),
    no_ctc("4 (target_lengths) holds 3, wanted 0 to 2", pair, four, [3, 2]),
    no_ctc("4 (target_lengths) holds -1", pair, four, [-1, 2]),
    no_ctc("5 (blank) is 3, wanted 0 to 2", pair, four, [2, 2], 3),
]


@pytest.mark.parametrize("sample", sequences(), ids=str)
def test_value_is_the_sum_over_all_paths(sample: Sample) -> None:
    wanted = ctc_reference(*sample.args, **sample.kwargs)
    for dtype, tolerance in ((libdl.float64, 1e-12), (libdl.float32, 1e-5)):
        scores = libdl.tensor(sample.args[0], dtype=dtype)
        found = ctc(scores, *map(tensor, sample.args[1:]), **sample.kwargs)
        assert found.dtype is dtype
        np.testing.assert_allclose(found.numpy(), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("sample", sequences()[:8], ids=str)
def test_derivatives(sample: Sample) -> None:
    rest = [tensor(a) for a in sample.args[1:]]
    scores = libdl.tensor(sample.args[0], dtype=libdl.float64, requires_grad=True)
    direction = libdl.tensor(numbers(tuple(scores.shape), 77), dtype=libdl.float64)

    def slope(x: Any) -> Any:
        (g,) = libdl.autograd.grad(ctc(x, *rest, **sample.kwargs).sum(), x, create_graph=True)
        return g

    def value(x: Any) -> float:
        with libdl.no_grad():
            return ctc(x, *rest, **sample.kwargs).sum().item()

    step = 1e-5
    ends = [scores.detach() + s * direction for s in (step, -step)]
    first = (slope(scores) * direction).sum()
    assert first.item() == pytest.approx((value(ends[0]) - value(ends[1])) / (2 * step), abs=1e-8)
    tangent = libdl.func.jvp(
        lambda x: ctc(x, *rest, **sample.kwargs).sum(), (scores.detach(),), (direction,)
    )[1]
    assert tangent.item() == pytest.approx(first.item(), abs=1e-10)
    (second,) = libdl.autograd.grad(first, scores)
    beyond = [slope(x.requires_grad_()) for x in ends]
    wanted = ((beyond[0] - beyond[1]) / (2 * step)).detach()
    np.testing.assert_allclose(second.numpy(), wanted.numpy(), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("reject", REJECTS, ids=lambda r: r.words[0])
def test_refusals(reject: Reject) -> None:
    with pytest.raises(reject.error) as found:
        reject.call()
    assert all(word in str(found.value) for word in reject.words)

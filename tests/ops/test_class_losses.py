# SPDX-License-Identifier: Apache-2.0
"""cross_entropy and nll_loss of class indices, and their gradients, are what their definition gives
in
float64: over rows that are long, short, beside each other, apart, and of every floating dtype."""

from __future__ import annotations

from typing import Any

import libdl
import numpy as np
import pytest
from libdl.nn import functional as F

SHAPES = [
    (7,),
    (9, 5),
    (200, 3),
    (3, 1100),
    (70, 1000),
    (4, 5, 6),
    (3, 21, 13, 11),
    (2, 40, 2, 2),
    (6, 600, 3),
]
# Roundings to the dtype: of the logarithms, of the gradient, and for float32 and float64 of sums.
STEP = {libdl.float32: 2e-6, libdl.float64: 1e-13, libdl.float16: 2e-3, libdl.bfloat16: 1.6e-2}
IGNORED = -100


def wanted(
    x: np.ndarray,
    t: np.ndarray,
    w: np.ndarray,
    smoothing: float,
    reduction: str,
    seed: np.ndarray,
    of_logits: bool,
) -> tuple[Any, Any]:
    """The loss and the gradient, by the definition in include/libdl/nn.h."""
    at = 1 if x.ndim > 1 else 0
    classes = x.shape[at]
    y = x
    if of_logits:
        y = x - x.max(at, keepdims=True)
        y = y - np.log(np.exp(y).sum(at, keepdims=True))
    counted = t != IGNORED
    label = np.where(counted, t, 0)
    factor = np.where(counted, w[label], 0)
    slope = np.zeros(x.shape)
    np.put_along_axis(
        slope, np.expand_dims(label, at), np.expand_dims((smoothing - 1) * factor, at), at
    )
    spread = w.reshape([classes if d == at else 1 for d in range(x.ndim)])
    slope -= smoothing / classes * spread * np.expand_dims(counted, at)
    losses = (y * slope).sum(at)
    dy = seed
    if reduction == "mean":
        losses, dy = losses.sum() / factor.sum(), seed / factor.sum()
    elif reduction == "sum":
        losses = losses.sum()
    dlog_p = slope * (np.expand_dims(dy, at) if reduction == "none" else dy)
    if not of_logits:
        return losses, dlog_p
    return losses, dlog_p - np.exp(y) * dlog_p.sum(at, keepdims=True)


def near(found: Any, wanted: np.ndarray, step: float) -> None:
    got = found.detach().to(libdl.float64).numpy()
    np.testing.assert_allclose(got, wanted, rtol=step, atol=step * np.abs(wanted).max())


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", STEP, ids=str)
@pytest.mark.parametrize("layout", ["row-major", "classes innermost", "reversed"])
def test_losses_and_gradients_are_those_of_the_definition(shape, dtype, layout):
    random = np.random.default_rng(1)
    classes = shape[1] if len(shape) > 1 else shape[0]
    rows = shape[:1] + shape[2:] if len(shape) > 1 else ()
    order = list(range(len(shape)))
    if layout == "classes innermost" and len(shape) > 1:
        order = [0, *range(2, len(shape)), 1]
    elif layout == "reversed":
        order = order[::-1]
    back = [order.index(d) for d in range(len(shape))]
    x = libdl.tensor(np.abs(random.normal(size=shape)) + 0.1).to(dtype)
    x = x.permute(order).contiguous().permute(back)
    t = np.asarray(random.integers(0, classes, rows))
    if t.ndim:
        t[..., ::3] = IGNORED
        t[0] = classes - 1
    w = libdl.tensor(random.uniform(0.5, 2, classes)).to(dtype)
    for f in (F.cross_entropy, F.nll_loss):
        for weight in (None, w):
            for smoothing in (0.0, 0.2) if f is F.cross_entropy else (0.0,):
                for reduction in ("none", "mean", "sum"):
                    leaf = x.detach().requires_grad_()
                    options = {"label_smoothing": smoothing} if f is F.cross_entropy else {}
                    y = f(leaf, libdl.tensor(t), weight, reduction=reduction, **options)
                    seed = libdl.tensor(random.uniform(1, 2, tuple(y.shape))).to(dtype)
                    y.backward(seed)
                    numbers = np.ones(classes) if weight is None else w.double().numpy()
                    loss, gradient = wanted(
                        x.double().numpy(),
                        t,
                        numbers,
                        smoothing,
                        reduction,
                        seed.double().numpy(),
                        f is F.cross_entropy,
                    )
                    near(y, loss, STEP[dtype])
                    near(leaf.grad, gradient, STEP[dtype])


def test_logits_may_be_written_before_backward():
    leaf = libdl.arange(6.0).reshape(2, 3).requires_grad_()
    x = leaf * 1
    y = F.cross_entropy(x, libdl.tensor([0, 2]))
    x += 5
    y.backward()
    expected = libdl.softmax(leaf.detach(), 1) / 2
    expected[0, 0] -= 0.5
    expected[1, 2] -= 0.5
    near(leaf.grad, expected.double().numpy(), 1e-6)

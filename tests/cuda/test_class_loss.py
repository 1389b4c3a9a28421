# SPDX-License-Identifier: Apache-2.0
"""Losses of class indices on the device are the CPU's: values, gradients, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import libdl as dl
import numpy as np
import pytest
from libdl.nn import functional as F

pytestmark = pytest.mark.skipif(not dl.cuda.is_available(), reason="no device, nor a simulated one")

# Exponentials and logarithms of the two differ by 2 units of the last place, before one rounding to
# the dtype; sums of a row have different orders.
STEP = {dl.float64: 1e-14, dl.float32: 4e-6, dl.float16: 2e-3, dl.bfloat16: 1.6e-2}
SHAPES = [
    (1, 1),
    (7,),
    (9, 5),
    (40, 33),
    (3, 1100),
    (5000, 3),
    (4, 5, 6),
    (2, 3, 4, 5),
    (3, 40, 2, 2),
]
IGNORED = -100


def logits(shape: tuple[int, ...], dtype: Any) -> dl.Tensor:
    return dl.tensor(np.random.default_rng(3).normal(size=shape) * 3).to(dtype)


def labels(shape: tuple[int, ...], ignored: bool = True) -> dl.Tensor:
    classes = shape[1] if len(shape) > 1 else shape[0]
    made = np.random.default_rng(4).integers(
        0, classes, shape[:1] + shape[2:] if len(shape) > 1 else ()
    )
    if ignored and made.ndim:
        made[::3] = IGNORED
    return dl.tensor(made)


def weights(shape: tuple[int, ...], dtype: Any) -> dl.Tensor:
    return dl.linspace(0.5, 2, shape[1] if len(shape) > 1 else shape[0]).to(dtype)


def found(f: Any, x: dl.Tensor, t: dl.Tensor, device: str, **options: Any) -> list[dl.Tensor]:
    """The loss and the gradient that a seed of different numbers gives."""
    x = x.detach().to(device).requires_grad_()
    moved = {k: v.to(device) if isinstance(v, dl.Tensor) else v for k, v in options.items()}
    y = f(x, t.to(device), **moved)
    seed = dl.linspace(1, 2, y.numel()).reshape(y.shape).to(device=device, dtype=y.dtype)
    y.backward(seed)
    assert str(y.device) == str(x.grad.device) == ("cpu" if device == "cpu" else "cuda:0")
    return [y.detach().cpu(), x.grad.cpu()]


def near(got: dl.Tensor, wanted: dl.Tensor, step: float) -> None:
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    g, w = got.to(dl.float64).numpy(), wanted.to(dl.float64).numpy()
    largest = np.abs(w[np.isfinite(w)]).max(initial=0)
    np.testing.assert_allclose(g, w, rtol=step, atol=step * largest)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_cross_entropy_and_its_gradient_are_the_cpus(shape, reduction, smoothing):
    for dtype, step in STEP.items():
        x, t = logits(shape, dtype), labels(shape)
        for weight in (None, weights(shape, dtype)):
            options = {"weight": weight, "reduction": reduction, "label_smoothing": smoothing}
            for g, w in zip(
                found(F.cross_entropy, x, t, "cuda", **options),
                found(F.cross_entropy, x, t, "cpu", **options),
                strict=True,
            ):
                near(g, w, step)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_nll_loss_and_its_gradient_are_the_cpus(shape, reduction):
    for dtype, step in STEP.items():
        x, t = logits(shape, dtype), labels(shape)
        for weight in (None, weights(shape, dtype)):
            options = {"weight": weight, "reduction": reduction}
            for g, w in zip(
                found(F.nll_loss, x, t, "cuda", **options),
                found(F.nll_loss, x, t, "cpu", **options),
                strict=True,
            ):
                near(g, w, step)


@pytest.mark.parametrize("f", [F.cross_entropy, F.nll_loss], ids=["cross_entropy", "nll_loss"])
def test_operands_may_lie_in_any_order(f):
    x = logits((6, 7, 5), dl.float32)
    t, w = labels((6, 7, 5)), weights((6, 7, 5), dl.float32)
    apart = dl.stack([w, w], 1)[:, 0]
    wanted = found(f, x, t, "cpu", weight=w)
    for order in ((0, 2, 1), (1, 0, 2), (2, 1, 0)):
        back = [order.index(d) for d in range(3)]
        there = x.to("cuda").permute(order).contiguous().permute(back)
        there = there.detach().requires_grad_()
        y = f(there, t.to("cuda").t().contiguous().t(), weight=apart.to("cuda"))
        y.backward()
        near(y.detach().cpu(), wanted[0], STEP[dl.float32])
        near(there.grad.cpu(), wanted[1], STEP[dl.float32])


def test_gradients_of_losses_by_row_may_be_one_number_for_all():
    x, t = logits((9, 5), dl.float32), labels((9, 5))
    grads = []
    for device in ("cpu", "cuda"):
        leaf = x.detach().to(device).requires_grad_()
        F.cross_entropy(leaf, t.to(device), reduction="none").sum().backward()
        grads.append(leaf.grad.cpu())
    near(grads[1], grads[0], STEP[dl.float32])


@pytest.mark.parametrize("dtype", [dl.uint8, dl.int8, dl.int16, dl.int32, dl.int64], ids=str)
def test_targets_have_any_integer_dtype(dtype):
    x, t = logits((9, 5), dl.float32), labels((9, 5), ignored=False).to(dtype)
    for g, w in zip(
        found(F.cross_entropy, x, t, "cuda"), found(F.cross_entropy, x, t, "cpu"), strict=True
    ):
        near(g, w, STEP[dl.float32])


def test_a_mean_of_ignored_rows_is_nan_and_of_no_rows_too():
    for t in (dl.full((4,), IGNORED), dl.empty(0, dtype=dl.int64)):
        x = dl.ones(len(t), 3)
        for device in ("cpu", "cuda"):
            assert math.isnan(F.cross_entropy(x.to(device), t.to(device)).item())
            assert F.cross_entropy(x.to(device), t.to(device), reduction="sum").item() == 0


def test_infinite_and_undefined_logits_give_what_they_give_on_the_cpu():
    x = logits((6, 4), dl.float32)
    x[0, 1], x[1, 2], x[2, 0] = -math.inf, math.nan, math.inf
    t = dl.tensor([1, 0, 3, IGNORED, 2, 2])
    x[3, 0] = -math.inf
    for smoothing in (0.0, 0.1):
        options = {"reduction": "none", "label_smoothing": smoothing}
        for g, w in zip(
            found(F.cross_entropy, x, t, "cuda", **options),
            found(F.cross_entropy, x, t, "cpu", **options),
            strict=True,
        ):
            near(g, w, STEP[dl.float32])


@pytest.mark.parametrize("f", [F.cross_entropy, F.nll_loss], ids=["cross_entropy", "nll_loss"])
@pytest.mark.parametrize("bad", [5, -1, 2**40])
def test_a_class_that_there_is_not_is_told_at_the_next_wait(f, bad):
    x, t = logits((9, 5), dl.float32).to("cuda"), labels((9, 5))
    t[7] = bad
    losses = f(x, t.to("cuda"), reduction="none")
    with pytest.raises(IndexError) as told:
        dl.cuda.synchronize()
    name = "cross_entropy" if f is F.cross_entropy else "nll_loss"
    assert f"{name}: an index on cuda:0 is {bad} at element 7" in str(told.value)
    assert losses[7].item() == 0, "the device works on"


@pytest.mark.parametrize("f", [F.cross_entropy, F.nll_loss], ids=["cross_entropy", "nll_loss"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"reduction": "sum"},
        {"reduction": "none"},
        {"weight": True},
        {"label_smoothing": 0.3},
        {"weight": True, "label_smoothing": 0.3},
    ],
    ids=str,
)
def test_second_derivatives_are_the_cpus(f, options):
    if f is F.nll_loss and "label_smoothing" in options:
        options = {"reduction": "mean"}
    x, t, seconds = logits((6, 5, 2), dl.float64), labels((6, 5, 2)), []
    for device in ("cpu", "cuda"):
        given = dict(options)
        if "weight" in options:
            given["weight"] = weights((6, 5, 2), dl.float64).to(device)
        leaf = x.detach().to(device).requires_grad_()
        y = f(leaf.square(), t.to(device), **given)
        (first,) = dl.autograd.grad((y * y).sum(), [leaf], create_graph=True)
        (second,) = dl.autograd.grad(first.square().sum(), [leaf])
        seconds.append([first.detach().cpu(), second.cpu()])
    for g, w in zip(seconds[1], seconds[0], strict=True):
        near(g, w, 1e-12)


def test_logits_may_be_written_before_backward():
    """What is kept is the logarithms, as of a log_softmax."""
    grads = []
    for device in ("cpu", "cuda"):
        leaf = logits((9, 5), dl.float32).to(device).requires_grad_()
        x = leaf * 1
        y = F.cross_entropy(x, labels((9, 5)).to(device))
        x += 1
        y.backward()
        grads.append(leaf.grad.cpu())
    near(grads[1], grads[0], STEP[dl.float32])

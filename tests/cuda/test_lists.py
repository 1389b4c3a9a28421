# SPDX-License-Identifier: Apache-2.0
"""Norms and clipping of lists on the device give what they give on the CPU."""

from __future__ import annotations

import math
from typing import Any

import libdl as dl
import numpy as np
import pytest
from libdl import nn, optim

pytestmark = pytest.mark.skipif(not dl.cuda.is_available(), reason="no device, nor a simulated one")

DTYPES = [dl.float32, dl.bfloat16, dl.float16, dl.float64]


def gradients(count: int, dtypes: list[Any] = DTYPES, seed: int = 1) -> list[dl.Tensor]:
    """Of mixed sizes, some empty, some longer than a thread block's part, some not aligned to
    four."""
    random = np.random.default_rng(seed)
    made = []
    for i in range(count):
        shape = [(3, 5), (0, 4), (), (17,), (20_000,), (2, 3, 4)][
            i % 6 if i < 6 or i % 6 != 4 else 0
        ]
        made.append(
            dl.tensor(np.asarray(random.normal(size=shape) * 3)).to(dtypes[i % len(dtypes)])
        )
    return made


def moved(xs: list[dl.Tensor], device: str) -> list[dl.Tensor]:
    """With every fourth one in a part of memory of which its first element is not the first."""
    there = []
    for i, x in enumerate(xs):
        room = dl.zeros(x.numel() + 1, dtype=x.dtype, device=device)
        part = room[1:].reshape(x.shape) if i % 4 == 3 else dl.zeros_like(x, device=device)
        there.append(part.copy_(x.to(device)))
    return there


def parameters(grads: list[dl.Tensor]) -> list[nn.Parameter]:
    made = [nn.Parameter(dl.zeros_like(g)) for g in grads]
    for p, g in zip(made, grads, strict=True):
        p.grad = g
    return made


def equal(got: dl.Tensor, wanted: dl.Tensor) -> None:
    assert str(got.device) == "cuda:0" and got.dtype == wanted.dtype
    np.testing.assert_array_equal(got.to(dl.float64).cpu().numpy(), wanted.to(dl.float64).numpy())


def norm_of(xs: list[dl.Tensor], order: float) -> float:
    """In float64, as on the device. On the CPU a tensor's own norm is rounded to its dtype."""
    every = np.concatenate([x.detach().to(dl.float64).numpy().ravel() for x in xs])
    if order == math.inf:
        return float(np.abs(every).max())
    return float((np.abs(every) ** order).sum() ** (1 / order))


def near(got: dl.Tensor, wanted: float) -> None:
    """Sums in float64 of another order, rounded once: the same but for a last place."""
    step = {dl.float64: 1e-13, dl.float32: 1.2e-7, dl.float16: 1e-3, dl.bfloat16: 8e-3}[got.dtype]
    assert str(got.device) == "cuda:0" and got.shape == ()
    np.testing.assert_allclose(got.item(), wanted, rtol=step)


@pytest.mark.parametrize("order", [1.0, 2.0, 3.5, 0.5, math.inf])
@pytest.mark.parametrize("count", [1, 6, 180, 1500])
def test_the_norm_of_a_list_is_that_of_all_elements(order, count):
    for dtypes in (DTYPES, [dl.float32], [dl.bfloat16, dl.float32], [dl.bfloat16]):
        xs = [x for x in gradients(count, dtypes) if x.numel() or order != math.inf]
        there = nn.utils.get_total_norm(moved(xs, "cuda"), order)
        assert there.dtype == nn.utils.get_total_norm(xs, order).dtype
        near(there, norm_of(xs, order))


def test_norms_on_several_streams_do_not_count_each_other_s_blocks():
    lists = [gradients(count, seed=count) for count in (4, 30, 90)]
    there = [moved(xs, "cuda") for xs in lists]
    dl.cuda.synchronize()
    streams = [dl.cuda.Stream() for _ in lists]
    norms: list[list[dl.Tensor]] = [[] for _ in lists]
    for _ in range(5):
        for stream, xs, found in zip(streams, there, norms, strict=True):
            with dl.cuda.stream(stream):
                found.append(nn.utils.get_total_norm(xs))
    dl.cuda.synchronize()
    for xs, found in zip(lists, norms, strict=True):
        for norm in found:
            near(norm, norm_of(xs, 2.0))


@pytest.mark.parametrize("count", [1, 6, 180, 1500])
@pytest.mark.parametrize("most", [0.5, 1e6])
def test_clipping_by_norm_changes_what_it_changes_on_the_cpu(count, most):
    xs = gradients(count)
    on_cpu, on_device = parameters(moved(xs, "cpu")), parameters(moved(xs, "cuda"))
    total = nn.utils.get_total_norm([p.grad for p in on_cpu]).double()
    before = [p.grad._version for p in on_device]
    nn.utils.clip_grads_with_norm_(on_cpu, most, total)
    nn.utils.clip_grads_with_norm_(on_device, most, total.to("cuda"))
    for g, w, version in zip(on_device, on_cpu, before, strict=True):
        equal(g.grad, w.grad)
        assert g.grad._version == version + 1
    near(nn.utils.clip_grad_norm_(on_device, 0.1), norm_of([p.grad for p in on_cpu], 2.0))
    # 16-bit gradients are rounded.
    assert norm_of([p.grad.cpu() for p in on_device], 2.0) == pytest.approx(0.1, rel=8e-3)


@pytest.mark.parametrize("count", [1, 6, 180])
def test_clipping_by_value_changes_what_it_changes_on_the_cpu(count):
    xs = gradients(count)
    on_cpu, on_device = parameters(moved(xs, "cpu")), parameters(moved(xs, "cuda"))
    for most in (1.5, 0.3, 0.0):
        nn.utils.clip_grad_value_(on_cpu, most)
        nn.utils.clip_grad_value_(on_device, most)
        for g, w in zip(on_device, on_cpu, strict=True):
            equal(g.grad, w.grad)


def test_an_empty_list_has_norm_0_and_so_have_empty_tensors():
    assert nn.utils.get_total_norm([]).item() == 0
    xs = [dl.zeros(0, 3, device="cuda"), dl.zeros(0, device="cuda")]
    for order in (1.0, 2.0, 3.0):
        assert nn.utils.get_total_norm(xs, order).item() == 0
    for there in (xs, [x.cpu() for x in xs]):
        with pytest.raises((RuntimeError, ValueError), match="nothing to take that norm of"):
            nn.utils.get_total_norm(there, math.inf)
    nn.utils.clip_grad_norm_(parameters(xs), 1.0)
    nn.utils.clip_grad_value_(parameters(xs), 1.0)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_norms_that_are_not_finite_clip_as_on_the_cpu(value):
    xs = [x for x in gradients(6) if x.numel()]
    xs[2][2] = value
    for order in (1.0, 2.0, math.inf):
        on_cpu, on_device = parameters(moved(xs, "cpu")), parameters(moved(xs, "cuda"))
        totals = [nn.utils.clip_grad_norm_(ps, 1.0, order) for ps in (on_cpu, on_device)]
        assert str(totals[0].item()) == str(totals[1].item()) == str(abs(value))
        for g, w in zip(on_device, on_cpu, strict=True):
            equal(g.grad, w.grad)
        with pytest.raises((RuntimeError, ValueError)):
            nn.utils.clip_grad_norm_(
                parameters(moved(xs, "cuda")), 1.0, order, error_if_nonfinite=True
            )
    on_cpu, on_device = parameters(moved(xs, "cpu")), parameters(moved(xs, "cuda"))
    nn.utils.clip_grad_value_(on_cpu, 0.5)
    nn.utils.clip_grad_value_(on_device, 0.5)
    for g, w in zip(on_device, on_cpu, strict=True):
        equal(g.grad, w.grad)


def laid_out(device: str) -> list[dl.Tensor]:
    """Transposed, with gaps, complex, and twice in the list."""
    x = (dl.arange(24.0) - 9).reshape(4, 6).to(device)
    twice = dl.ones(5, device=device) * 2
    return [
        x.t().clone().t(),
        x.clone()[:, ::2],
        x.clone()[:, 0],
        (x + 2j * x).clone(),
        twice,
        twice,
    ]


def test_gradients_may_be_laid_out_in_any_way():
    for change in (
        lambda ps: nn.utils.clip_grad_norm_(ps, 2.0),
        lambda ps: nn.utils.clip_grads_with_norm_(ps, 2.0, dl.tensor(9.0)),
    ):
        found = []
        for device in ("cpu", "cuda"):
            grads = laid_out(device)
            change(parameters(grads))
            found.append(grads)
        for g, w in zip(found[1], found[0], strict=True):
            # The norm, and so the factor, may differ by its last place.
            np.testing.assert_allclose(g.cpu().numpy(), w.numpy(), rtol=2.4e-7)
    found = []
    for device in ("cpu", "cuda"):
        grads = [g for g in laid_out(device) if not g.is_complex()]
        nn.utils.clip_grad_value_(parameters(grads), 3.0)
        found.append(grads)
    for g, w in zip(found[1], found[0], strict=True):
        equal(g, w)


def test_a_total_norm_may_be_a_number_or_lie_on_the_cpu():
    for total in (dl.tensor(7.0), dl.tensor([7.0], dtype=dl.float64), dl.tensor(7)):
        xs = gradients(6)
        on_cpu, on_device = parameters(moved(xs, "cpu")), parameters(moved(xs, "cuda"))
        nn.utils.clip_grads_with_norm_(on_cpu, 2.0, total)
        for there in (total, total.to("cuda")):
            fresh = parameters([p.grad.clone() for p in on_device])
            nn.utils.clip_grads_with_norm_(fresh, 2.0, there)
            for g, w in zip(fresh, on_cpu, strict=True):
                equal(g.grad, w.grad)


STEPS = {
    "SGD": {"lr": 0.1, "momentum": 0.9},
    "Adam": {"amsgrad": True},
    "AdamW": {},
    "Adagrad": {},
    "RMSprop": {"centered": True, "momentum": 0.5},
    "Rprop": {},
    "ASGD": {},
    "Adamax": {},
    "NAdam": {},
    "RAdam": {},
    "Adadelta": {},
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize(
    "count, dtypes",
    [
        (180, [dl.float32]),
        (180, [dl.float64]),
        (12, [dl.float32, dl.float64]),
        (700, [dl.float32, dl.float64]),
    ],
    ids=str,
)
def test_long_and_mixed_lists_take_the_cpus_step(name, count, dtypes):
    found = []
    for device in ("cpu", "cuda"):
        ps = parameters(moved(gradients(count, dtypes), device))
        optimizer = getattr(optim, name)(ps, **STEPS[name])
        for _ in range(2):
            optimizer.step()
        found.append(ps)
    for g, w in zip(found[1], found[0], strict=True):
        # Every operation is rounded alike; roots are correctly rounded on both.
        np.testing.assert_array_equal(g.detach().cpu().numpy(), w.detach().numpy())

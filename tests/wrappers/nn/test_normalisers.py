# SPDX-License-Identifier: Apache-2.0
"""Slopes through a softmax whose scores are so large, or have so few bits, that the sum of their
exponentials is lost beside them: a mask's lowest number over a whole row, as in padded batches."""

import pytest

import libdl as torch
from libdl.nn import functional as F


def waves(*shape):
    return (torch.arange(float(torch.Size(shape).numel())) * 0.37).sin().reshape(shape)


def by_definition(q, k, v, mask):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5 + mask
    return F.softmax(scores, -1) @ v


def causal_and_padded(rows, keys, dtype):
    """Sample 0 is causal, the first three keys of sample 1 are padding: three rows see nothing."""
    mask = torch.full((2, 1, rows, keys), torch.finfo(dtype).min, dtype=dtype)
    for i in range(rows):
        mask[0, 0, i, : i + 1] = 0
        mask[1, 0, i, 3 : i + 1] = 0
    return mask


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "steps, features, values", [(8, 4, 4), (8, 5, 3), (70, 8, 16), (300, 4, 4)]
)
def test_rows_that_a_mask_covers_have_equal_weights_in_backward_too(dtype, steps, features, values):
    shapes = ((2, 3, steps, features), (2, 3, steps, features), (2, 3, steps, values))
    mask = causal_and_padded(steps, steps, dtype)
    slopes = waves(2, 3, steps, values).cos().to(dtype)
    found, wanted = [], []
    for attend, grads in ((F.scaled_dot_product_attention, found), (by_definition, wanted)):
        inputs = [waves(*shape).to(dtype).requires_grad_() for shape in shapes]
        y = attend(*inputs, mask)
        grads += [y.detach(), *torch.autograd.grad((y * slopes).sum(), inputs)]
    for mine, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("offset", [-1e30, -1e4, 1e4, 1e30])
def test_a_number_that_is_added_to_all_scores_changes_no_slope(offset):
    q, k, v = (waves(1, 2, 9, 4).double().requires_grad_() for _ in range(3))
    plain = torch.autograd.grad(F.scaled_dot_product_attention(q, k * 0, v).sin().sum(), (q, k, v))
    mask = torch.full((9, 9), offset, dtype=torch.float64)
    moved = torch.autograd.grad(
        F.scaled_dot_product_attention(q, k * 0, v, attn_mask=mask).sin().sum(), (q, k, v)
    )
    for a, b in zip(plain, moved, strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("offset", [-3e4, -100.0, 0.0, 100.0, 3e4, 1e30])
@pytest.mark.parametrize("dim", [0, 1, (0, 1), -1])
def test_slopes_of_logsumexp_are_a_softmax(dtype, offset, dim):
    if dtype is torch.float16 and offset > 6e4:
        offset = 6e4
    x = (torch.tensor([[0.0, 1.0, 2.0], [2.0, 0.0, 0.0]]) + offset).to(dtype).requires_grad_()
    y = torch.logsumexp(x, dim)
    (slope,) = torch.autograd.grad(y.sum(), x)
    dims = dim if isinstance(dim, tuple) else (dim,)
    exact = x.detach().double()
    weights = (exact - exact.amax(dims, keepdim=True)).exp()
    wanted = weights / weights.sum(dims, keepdim=True)
    torch.testing.assert_close(slope.double(), wanted, rtol=2 * torch.finfo(dtype).eps, atol=1e-7)
    _, tangent = torch.func.jvp(
        lambda x: torch.logsumexp(x, dim), (x.detach(),), (torch.ones_like(x),)
    )
    torch.testing.assert_close(tangent, torch.ones_like(tangent))


def test_slopes_of_logsumexp_at_infinities_and_of_complex_numbers():
    def slopes(*numbers):
        x = torch.tensor(numbers, requires_grad=True)
        torch.logsumexp(x, 0).backward()
        return str(x.grad.tolist())

    inf = float("inf")
    assert slopes(inf, 1.0, 2.0) == "[nan, 0.0, 0.0]" and slopes(-inf, -inf) == "[nan, nan]"
    assert slopes(-inf, 0.0) == "[0.0, 1.0]" and slopes(2.0) == "[1.0]"
    x = torch.tensor([[1 + 2j, 0.5j], [3, -1j]], requires_grad=True)
    torch.logsumexp(x, (0, 1)).abs().backward()
    wanted = [-0.03819 - 0.12711j, 0.04565 - 0.01732j, 0.97145 + 0.13427j, 0.02051 + 0.04431j]
    assert x.grad.flatten().tolist() == pytest.approx(wanted, abs=1e-5)


def test_second_slopes():
    x = waves(3, 4).double().requires_grad_()
    assert torch.autograd.gradgradcheck(lambda x: torch.logsumexp(x, (0, 1)), x)
    assert torch.autograd.gradgradcheck(lambda x: torch.logsumexp(x, 1, keepdim=True), x)

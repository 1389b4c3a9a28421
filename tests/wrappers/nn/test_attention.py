# SPDX-License-Identifier: Apache-2.0
"""Attention: what its case in tests/ops does not compare."""

import numpy as np
import pytest

import libdl
from libdl import func
from libdl.nn.functional import dropout, scaled_dot_product_attention as attention


def three(*shape, dtype=libdl.float32, value=None):
    libdl.manual_seed(3)
    made = [libdl.randn(*shape), libdl.randn(*shape), libdl.randn(*shape[:-1], value or shape[-1])]
    return [x.to(dtype).requires_grad_() for x in made]


def results(xs, *args, **options):
    for x in xs:
        x.grad = None
    y = attention(*xs, *args, **options)
    (y * y.detach()).sum().backward()
    return [y.detach(), *(x.grad for x in xs)]


@pytest.fixture
def threads():
    before = libdl.get_num_threads()
    yield libdl.set_num_threads
    libdl.set_num_threads(before)


@pytest.mark.parametrize("dtype", [libdl.float32, libdl.float64, libdl.bfloat16])
@pytest.mark.parametrize("shape", [(1, 1, 500, 16), (2, 3, 130, 40), (5, 4, 64, 8)])
@pytest.mark.parametrize("causal", [False, True])
def test_bits_do_not_depend_on_threads(threads, dtype, shape, causal):
    xs = three(*shape, dtype=dtype)
    threads(1)
    wanted = results(xs, is_causal=causal)
    for n in (2, 3):
        threads(n)
        for found, w in zip(results(xs, is_causal=causal), wanted):
            assert libdl.equal(found, w)


@pytest.mark.parametrize("mask", [None, "bool", "float", "row"])
@pytest.mark.parametrize("dtype", [libdl.float32, libdl.float64, libdl.bfloat16])
@pytest.mark.parametrize("keys, width", [(1, 8), (5, 40), (197, 24), (290, 130)])
def test_a_query_has_the_same_bits_in_any_number(keys, width, dtype, mask):
    """One of them that meets a cache of keys, as with the others at once."""
    drawn = libdl.Generator().manual_seed(5)
    q, k = (libdl.randn(2, n, width, generator=drawn).to(dtype) for n in (19, keys))
    v = libdl.randn(2, keys, 21, generator=drawn).to(dtype)
    scores = libdl.randn(19, keys, generator=drawn)
    masks = {None: None, "bool": scores > -0.5, "float": scores.to(dtype)}
    given = scores[:1].expand(19, keys).to(dtype) if mask == "row" else masks[mask]
    wanted = attention(q, k, v, given)
    for first, count in ((0, 1), (7, 1), (2, 2), (5, 3), (11, 4), (3, 5)):
        part = slice(first, first + count)
        rows = None if given is None else given[part]
        assert libdl.equal(attention(q[:, part], k, v, rows), wanted[:, part])
    few = attention(q[:, :3], k, v, is_causal=True)
    seen = libdl.arange(keys) <= libdl.arange(3)[:, None]
    assert libdl.allclose(few, attention(q[:, :3], k, v, seen), rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"scale": 0.3}])
def test_the_kernel_gives_what_the_composed_form_does(options):
    """A graph of the gradient, and forward mode, are composed."""
    xs = three(2, 100, 7, dtype=libdl.float64, value=5)
    y, *gradients = results(xs, **options)
    composed, _ = func.jvp(lambda q: attention(q, *xs[1:], **options), (xs[0],), (xs[0],))
    np.testing.assert_allclose(y.numpy(), composed.detach().numpy(), rtol=1e-12, atol=1e-14)
    again = libdl.autograd.grad((attention(*xs, **options) * y).sum(), xs, create_graph=True)
    for found, wanted in zip(gradients, again):
        np.testing.assert_allclose(found.numpy(), wanted.detach().numpy(), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(
    "mask",
    [
        libdl.tensor([[False, False], [True, False]]),
        libdl.tensor([[-np.inf, -np.inf], [0.0, -np.inf]]),
    ],
)
def test_a_row_without_keys_is_zero(mask):
    """As in PyTorch 2.15, and so is its gradient."""
    xs = [
        libdl.tensor(x).requires_grad_()
        for x in ([[1.0, 2.0], [3.0, 4.0]], [[0.5, 0.0], [0.0, 0.5]], [[5.0], [7.0]])
    ]
    y = attention(*xs, attn_mask=mask)
    assert y.tolist() == [[0.0], [5.0]]
    y.sum().backward()
    assert [x.grad.tolist() for x in xs] == [[[0.0, 0.0]] * 2, [[0.0, 0.0]] * 2, [[1.0], [0.0]]]


def test_a_mask_has_a_gradient():
    xs = three(2, 4, 3, dtype=libdl.float64)
    mask = libdl.zeros(4, 4, dtype=libdl.float64).requires_grad_()
    attention(*xs, attn_mask=mask)[0, 0].sum().backward()
    assert mask.grad[0].abs().max() > 0 and mask.grad[1:].abs().max() == 0


def test_dropout_zeroes_weights():
    xs = three(2, 5, 3)
    eye = libdl.eye(5).expand(2, 5, 5)
    libdl.manual_seed(1)
    found = attention(xs[0], xs[1], eye, dropout_p=0.4)
    libdl.manual_seed(1)
    kept = dropout(attention(xs[0], xs[1], eye).detach(), 0.4)
    np.testing.assert_allclose(found.detach().numpy(), kept.numpy(), rtol=1e-6)
    assert attention(*xs, dropout_p=1.0).abs().max() == 0
    generator = libdl.Generator().manual_seed(5)
    first = attention(*xs, dropout_p=0.5, generator=generator)
    generator.manual_seed(5)
    assert libdl.equal(first, attention(*xs, dropout_p=0.5, generator=generator))


@pytest.mark.parametrize("dtype", [libdl.float16, libdl.bfloat16])
def test_16_bits_are_computed_in_float32(dtype):
    xs = three(2, 60, 8, dtype=dtype)
    wide = [x.detach().float() for x in xs]
    assert libdl.equal(attention(*xs), attention(*wide).to(dtype))
    mask = libdl.randn(60, 60)
    assert libdl.equal(attention(*xs, attn_mask=mask), attention(*wide, attn_mask=mask).to(dtype))


def test_heads_may_lie_innermost():
    """The usual layout passes through, so that the heads are joined without a copy."""
    xs = three(2, 70, 3, 8)
    turned = [x.transpose(1, 2) for x in xs]
    y = attention(*turned)
    assert y.transpose(1, 2).is_contiguous()
    assert libdl.equal(y, attention(*(x.contiguous() for x in turned)))
    steps = [x[..., ::2] for x in turned]
    assert libdl.equal(attention(*steps), attention(*(x.contiguous() for x in steps)))


def test_heads_that_share_keys():
    q, k, v = three(2, 4, 50, 8)
    few = [x[:, :2].detach().requires_grad_() for x in (k, v)]
    y, dq, dk, dv = results([q, *few], enable_gqa=True)
    every = [x.detach().repeat_interleave(2, 1).requires_grad_() for x in few]
    wanted = results([q, *every])
    assert libdl.equal(y, wanted[0]) and libdl.equal(dq, wanted[1])
    for found, w in zip((dk, dv), wanted[2:]):
        pairs = w.unflatten(1, (2, 2)).sum(2)
        np.testing.assert_allclose(found.numpy(), pairs.numpy(), rtol=1e-4, atol=1e-5)


def test_there_is_no_matrix_of_all_weights():
    """The operands and results of 2,000 rows of 16 floats are 128 kB each, the weights 16 MB."""
    xs = three(1, 2000, 16)
    cpu = libdl.device("cpu")
    libdl._C.memory_reset_peaks(cpu)
    before = libdl._C.memory_statistics(cpu)["allocated"]
    results(xs, is_causal=True)
    assert libdl._C.memory_statistics(cpu)["peak_allocated"] - before < 6 << 20

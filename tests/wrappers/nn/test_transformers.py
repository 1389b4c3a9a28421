# SPDX-License-Identifier: Apache-2.0
"""Attention and transformers do what PyTorch's do: the same programs, and its answers."""

import copy
import math
import pickle

import pytest
from answered import Stored
from wrappers.nn import seen_attention, seen_transformers
from wrappers.answers import bits, filled, numbers

import libdl
from libdl import _functional, nn
from libdl.nn import functional as F

BY_CHANCE = Stored(seen_transformers)
CASES = [
    pytest.param(stored, program, id=program.__name__)
    for stored in (Stored(seen_attention), BY_CHANCE)
    for program in stored.module.PROGRAMS
    if program is not seen_transformers.first_numbers
]


@pytest.mark.parametrize("stored, program", CASES)
def test_as_in_pytorch(stored, program):
    stored.check(program, libdl)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("same", ["all", "key and value", "none"])
@pytest.mark.parametrize("extra", ["", "bias", "zero", "masks", "dropout"])
def test_the_operator_of_the_headers_is_the_same_attention(need_weights, batched, same, extra):
    """Python's is made of functional.linear and its neighbours, which programs replace."""
    query, other, third = (numbers(libdl, 3, 2, 4, shift=i) for i in (1, 2, 3))
    key, value = {"all": (query, query), "none": (other, third)}.get(same, (other, other))
    if not batched:
        query, key, value = (x[:, 0] for x in (query, key, value))
    weight, bias, out = (numbers(libdl, *s, shift=4) for s in ((12, 4), (12,), (4, 4)))
    one = numbers(libdl, 1, 1, 4, shift=5) if extra == "bias" else None
    mask = numbers(libdl, 3, 3, shift=6) if extra == "masks" else None
    padding = None
    if extra == "masks":
        padding = libdl.tensor([[False, False, True]] * 2)[slice(None) if batched else 0]
    p = 0.5 if extra == "dropout" else 0.0
    libdl.manual_seed(1)
    wanted = F.multi_head_attention_forward(
        *(query, key, value, 4, 2, weight, bias, one, one, extra == "zero", p, out, bias[:4]),
        key_padding_mask=padding,
        need_weights=need_weights,
        attn_mask=mask,
        average_attn_weights=False,
    )
    libdl.manual_seed(1)
    operands = (query, key, value, 2, weight, bias, None, None, None, one, one, None, None)
    given = (*operands, extra == "zero", out, bias[:4], padding, mask, p, False)
    if need_weights:
        found = _functional.multi_head_attention_with_weights(*given)
        assert libdl.equal(found[1], wanted[1])
    else:
        found = (_functional.multi_head_attention(*given),)
    assert libdl.equal(found[0], wanted[0])


def test_parameters_are_drawn_from_pytorch_s_laws():
    found, wanted = seen_transformers.first_numbers(libdl), BY_CHANCE["first_numbers"]
    assert list(found) == list(wanted)
    for name, (deviation, largest, normal) in wanted.items():
        assert found[name][0] == pytest.approx(deviation, rel=0.35 if normal else 0.15), name
        if not normal:
            assert found[name][1] == pytest.approx(largest, rel=0.15), name


# -- where PyTorch has no answer, or another one ---------------------------------------------------


def attention(**options):
    return filled(libdl, nn.MultiheadAttention(4, 2, **options))


def test_the_result_does_not_depend_on_the_mode():
    """PyTorch's fast path sets padded steps to 0, in evaluation without recording only."""
    layer = nn.TransformerEncoderLayer(4, 2, 6, 0.0, batch_first=True)
    stack = filled(libdl, nn.TransformerEncoder(layer, 2))
    x = numbers(libdl, 2, 3, 4)
    padding = libdl.tensor([[False, False, True], [False, True, True]])
    wanted = stack(x, src_key_padding_mask=padding)
    stack.eval()
    with libdl.no_grad():
        assert libdl.equal(stack(x, src_key_padding_mask=padding), wanted)
    assert wanted[0, 2].abs().max() > 0
    assert stack.enable_nested_tensor and not stack.use_nested_tensor


def test_a_query_without_keys_has_finite_gradients():
    module, x = attention(), numbers(libdl, 3, 2, 4).requires_grad_()
    module(x, x, x, libdl.ones(2, 3, dtype=libdl.bool), False)[0].sum().backward()
    assert all(libdl.isfinite(p.grad).all() for p in (x, *module.parameters()))


def test_masks_of_other_dtypes_are_added():
    module, x = attention().float(), numbers(libdl, 3, 2, 4).float()
    mask = libdl.full((3, 3), -math.inf, dtype=libdl.float64).triu(1)
    for need in (False, True):
        y, _ = module(x, x, x, attn_mask=mask, need_weights=need)
        assert y.dtype == libdl.float32
        assert libdl.equal(y, module(x, x, x, attn_mask=mask != 0, need_weights=need)[0])


@pytest.mark.parametrize("dtype", [libdl.float16, libdl.bfloat16])
@pytest.mark.parametrize("need", [False, True])
def test_16_bits(dtype, need):
    module, x = attention(add_bias_kv=True), numbers(libdl, 3, 2, 4)
    wanted, _ = module(x, x, x, attn_mask=bits(libdl, 3, 3), need_weights=need)
    y, _ = module.to(dtype)(*[x.to(dtype)] * 3, attn_mask=bits(libdl, 3, 3), need_weights=need)
    assert y.dtype == dtype and libdl.allclose(y.double(), wanted, atol=3e-2)


@pytest.mark.parametrize("need", [False, True])
def test_second_derivatives(need):
    module, x = attention(), numbers(libdl, 2, 1, 4).requires_grad_()
    mask = numbers(libdl, 2, 2).requires_grad_()
    assert libdl.autograd.gradgradcheck(
        lambda x, k: module(x, x, x, attn_mask=k, need_weights=need)[0], (x, mask)
    )


def test_the_weights_of_a_query_add_up_to_one():
    x = numbers(libdl, 3, 2, 4)
    for average in (True, False):
        _, weights = attention(add_zero_attn=True)(x, x, x, average_attn_weights=average)
        assert weights.shape[-1] == 4 and libdl.allclose(weights.sum(-1), libdl.ones(()).double())


@pytest.mark.parametrize("need", [False, True])
def test_dropout_in_training_only(need):
    module, x = attention(dropout=1.0), numbers(libdl, 3, 2, 4)
    y, weights = module(x, x, x, need_weights=need)
    assert libdl.equal(y, module.out_proj.bias.expand(3, 2, 4))
    assert not need or weights.abs().max() == 0
    module.dropout = 0.5
    libdl.manual_seed(1)
    first = module(x, x, x, need_weights=need)[0]
    libdl.manual_seed(1)
    assert libdl.equal(first, module(x, x, x, need_weights=need)[0])
    assert not libdl.equal(first, module(x, x, x, need_weights=need)[0])
    module.eval()
    assert libdl.equal(*(module(x, x, x, need_weights=need)[0] for _ in range(2)))


def test_dropout_of_a_layer_is_everywhere():
    layer = filled(libdl, nn.TransformerDecoderLayer(4, 2, 6, 1.0))
    x = numbers(libdl, 3, 2, 4)
    wanted = layer.norm3(layer.norm2(layer.norm1(x)))
    assert libdl.equal(layer(x, x), wanted)


def test_copies_and_pickles_compute_the_same():
    net = filled(libdl, nn.Transformer(4, 2, 1, 1, 6, 0.0, activation=nn.GELU()))
    x, y = numbers(libdl, 3, 2, 4), numbers(libdl, 2, 2, 4)
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert libdl.equal(net(x, y), other(x, y)) and repr(net) == repr(other)


def test_blocks_may_be_overridden():
    class Gated(nn.TransformerEncoderLayer):
        def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
            return 0 * super()._sa_block(x, attn_mask, key_padding_mask, is_causal=is_causal)

    layer, x = filled(libdl, Gated(4, 2, 6, 0.0)), numbers(libdl, 3, 2, 4)
    y = layer.norm1(x)
    assert libdl.equal(layer(x), layer.norm2(y + layer._ff_block(y)))


def test_it_learns():
    libdl.manual_seed(0)
    net = nn.Transformer(8, 2, 1, 1, 16, 0.0, batch_first=True)
    optimizer = libdl.optim.Adam(net.parameters(), lr=1e-2)
    x = libdl.randn(4, 5, 8)
    mask = net.generate_square_subsequent_mask(5)
    losses = []
    for _ in range(30):
        loss = F.mse_loss(net(x, x, tgt_mask=mask), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]


def test_the_paths_of_pytorch():
    from libdl.nn.modules.activation import MultiheadAttention
    from libdl.nn.modules.linear import Linear, NonDynamicallyQuantizableLinear
    from libdl.nn.modules.transformer import Transformer, _get_activation_fn, _get_clones

    assert MultiheadAttention is nn.MultiheadAttention and Transformer is nn.Transformer
    assert issubclass(NonDynamicallyQuantizableLinear, Linear)
    assert len(_get_clones(nn.ReLU(), 3)) == 3 and _get_activation_fn("gelu") is F.gelu
    assert F._none_or_dtype(None) is None and F._none_or_dtype(libdl.ones(1)) is libdl.float32
    mask = F._canonical_mask(libdl.tensor([True, False]), "mask", None, "", libdl.float64)
    assert mask.dtype == libdl.float64 and mask.tolist() == [-math.inf, 0]


X = numbers(libdl, 3, 2, 4)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: nn.MultiheadAttention(5, 2),
            "MultiheadAttention: embed_dim is 5, wanted a multiple of num_heads, 2",
        ),
        (
            lambda: nn.MultiheadAttention(0, 2),
            "MultiheadAttention: embed_dim is 0, wanted more than 0",
        ),
        (
            lambda: attention()(X[0, 0], X, X),
            "multi_head_attention_forward: argument 1 (query) is 1D, wanted 2D (without a "
            "batch) or 3D",
        ),
        (
            lambda: attention()(X, X[0], X),
            "multi_head_attention_forward: argument 2 (key) is 2D, wanted 3D for a 3D query",
        ),
        (
            lambda: attention()(X, X[:2], X),
            "multi_head_attention_forward: argument 3 (value) has shape [3, 2, 4], wanted the "
            "shape of key, [2, 2, 4]",
        ),
        (
            lambda: attention()(X, X[:, :1], X[:, :1]),
            "multi_head_attention_forward: argument 2 (key) has a batch of 1, wanted 2",
        ),
        (
            lambda: attention()(X, X, X, attn_mask=bits(libdl, 3, 4)),
            "multi_head_attention_forward: argument 17 (attn_mask) has shape [3, 4], wanted [3, 3]",
        ),
        (
            lambda: attention()(X, X, X, bits(libdl, 2, 4)),
            "multi_head_attention_forward: argument 15 (key_padding_mask) has "
            "shape [2, 4], wanted [2, 3]",
        ),
        (
            lambda: attention()(X, X, X, libdl.ones(2, 3).long()),
            "key_padding_mask is libdl.int64, wanted bool or a floating dtype",
        ),
        (
            lambda: attention()(X, X, X, is_causal=True),
            "multi_head_attention_forward: argument 17 (attn_mask) is None, wanted "
            "the causal mask that is_causal promises",
        ),
        (
            lambda: nn.TransformerEncoderLayer(4, 2, activation="tanh"),
            "activation is 'tanh', wanted 'relu', 'gelu' or a function",
        ),
        (
            lambda: nn.Transformer(4, 2, 1, 1)(X, X[:, :1]),
            "Transformer: argument 2 (tgt) has a batch of 1, wanted that of src, 2",
        ),
        (
            lambda: nn.Transformer(6, 2, 1, 1)(X, X),
            "Transformer: argument 1 (src) has 4 features, wanted d_model, 6",
        ),
        (
            lambda: F.scaled_dot_product_attention(X, X, X, bits(libdl, 4, 4)),
            "scaled_dot_product_attention: argument 4 (attn_mask) has shape [4, 4]",
        ),
        (
            lambda: F.scaled_dot_product_attention(X, X.float(), X),
            "scaled_dot_product_attention: argument 2 (key) is",
        ),
    ],
)
def test_errors(call, text):
    with pytest.raises((ValueError, AssertionError, RuntimeError)) as caught:
        call()
    assert str(caught.value).startswith(text)

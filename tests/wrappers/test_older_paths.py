# SPDX-License-Identifier: Apache-2.0
"""Names that packages import by PyTorch's paths, beside those of layers. The numbers are
PyTorch's."""

import importlib
import warnings

import pytest

import libdl
from libdl import nn
from libdl.utils import checkpoint

F = nn.functional


# -- nn.grad ---------------------------------------------------------------------------------------


def numbers(*shape, shift=0.0):
    count = libdl.Size(shape).numel()
    return ((libdl.arange(count, dtype=libdl.float64) + 1) * 1.7 + shift).sin().reshape(shape)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("options", [(1, 0, 1, 1), (2, 1, 1, 2), (1, 2, 2, 1)])
def test_gradients_of_convolutions(dims, options):
    convolve = getattr(F, f"conv{dims}d")
    size = (6 if dims < 3 else 4,) * dims
    x, w = (
        numbers(2, 2, *size).requires_grad_(),
        numbers(4, 2 // options[3], *(3,) * dims).requires_grad_(),
    )
    y = convolve(x, w, None, *options)
    g = numbers(*y.shape, shift=0.3)
    y.backward(g)
    by_input, by_weight = (getattr(nn.grad, f"conv{dims}d_{what}") for what in ("input", "weight"))
    with libdl.no_grad():
        assert libdl.allclose(by_input(x.shape, w, g, *options), x.grad)
        assert libdl.allclose(by_weight(x, w.shape, g, *options), w.grad)
    assert not by_input(x.shape, w.detach(), g, *options).requires_grad
    assert libdl.autograd.gradcheck(
        lambda w, g: by_input(x.shape, w, g, *options), (w, g.requires_grad_()), fast_mode=True
    )


# -- nn.attention.bias -----------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [2, 3])
def test_causal_biases(rows):
    from libdl.nn.attention.bias import (
        CausalBias,
        CausalVariant,
        causal_lower_right,
        causal_upper_left,
    )

    q, k = numbers(1, 2, rows, 4), numbers(1, 2, 3, 4, shift=1.0)
    for make, offset, variant in (
        (causal_upper_left, 0, CausalVariant.UPPER_LEFT),
        (causal_lower_right, 3 - rows, CausalVariant.LOWER_RIGHT),
    ):
        bias, mask = make(rows, 3), libdl.ones(rows, 3, dtype=libdl.bool).tril(offset)
        assert isinstance(bias, CausalBias) and (bias.variant, bias.seq_len_q, bias.seq_len_kv) == (
            variant,
            rows,
            3,
        )
        assert libdl.equal(bias._materialize(), mask) and type(bias._materialize()) is libdl.Tensor
        found = F.scaled_dot_product_attention(q, k, k, attn_mask=bias)
        assert type(found) is libdl.Tensor
        assert libdl.allclose(found, F.scaled_dot_product_attention(q, k, k, attn_mask=mask))
        with pytest.raises(ValueError, match="is_causal"):
            F.scaled_dot_product_attention(q, k, k, attn_mask=bias, is_causal=True)
    with pytest.raises(AssertionError, match="wanted 2"):
        causal_upper_left(2)
    with pytest.raises(AssertionError, match="CausalVariant"):
        CausalBias(1, 2, 3)
    with pytest.warns(UserWarning, match="NaN"):
        causal_lower_right(4, 3)


# -- attention as it is patched --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["scaled_dot_product_attention", "linear"])
def test_multihead_attention_calls_what_a_program_put_in_place(monkeypatch, name):
    before, seen = getattr(F, name), []

    def noting(*args, **kwargs):
        seen.append(name)
        return before(*args, **kwargs)

    monkeypatch.setattr(F, name, noting)
    layer, x = nn.MultiheadAttention(4, 2), libdl.ones(3, 1, 4)
    layer(x, x, x, need_weights=False)
    assert seen


# -- others ----------------------------------------------------------------------------------------


def test_activations_in_place():
    x = libdl.tensor([-1.0, 0.5, 2.0])
    assert F.threshold_(x, 1.0, 9.0) is x and x.tolist() == [9.0, 9.0, 2.0]
    x = libdl.tensor([-4.0, 2.0])
    assert F.rrelu_(x, 0.25, 0.75) is x and x.tolist() == [-2.0, 2.0]


def test_a_convolution_over_steps():
    assert F.conv_tbc is libdl.conv_tbc
    x, w = libdl.arange(6.0).reshape(3, 1, 2), libdl.ones(2, 2, 1)
    assert F.conv_tbc(x, w, libdl.zeros(1)).flatten().tolist() == [6.0, 14.0]


def test_batch_normalisations_without_statistics():
    net = nn.Sequential(
        nn.BatchNorm1d(2),
        nn.Sequential(nn.BatchNorm1d(2, track_running_stats=False)),
        nn.InstanceNorm1d(2),
    )
    assert libdl.func.replace_all_batch_norm_modules_(net) is net
    assert net[0].running_mean is net[0].running_var is net[0].num_batches_tracked is None
    assert not net[0].track_running_stats
    x = libdl.tensor([[0.0, 2.0], [2.0, 6.0]])
    assert libdl.allclose(net[0].eval()(x), libdl.tensor([[-1.0, -1.0], [1.0, 1.0]]), atol=1e-4)


def test_words_of_checkpoints():
    x = libdl.ones(2, requires_grad=True)
    y, z = x * 2, libdl.ones(2)
    a, b, c = checkpoint.detach_variable((y, z, 3))
    assert a.is_leaf and a.requires_grad and not b.requires_grad and c == 3
    with pytest.raises(RuntimeError, match="Only tuple"):
        checkpoint.detach_variable([y])
    with pytest.warns(UserWarning, match="None of the inputs"):
        checkpoint.check_backward_validity((z, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checkpoint.check_backward_validity((z, y))
    checkpoint.CheckpointFunction.apply(lambda v: v * v, True, x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_a_function_in_place():
    from libdl.autograd.function import InplaceFunction

    class Doubled(InplaceFunction):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    assert Doubled(inplace=True).inplace and not Doubled().inplace
    x = libdl.ones(2, requires_grad=True)
    Doubled.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("name", ["replicate", "parallel_apply"])
def test_several_devices_are_refused(name):
    with pytest.raises(NotImplementedError, match=f"nn.parallel.{name}"):
        getattr(nn.parallel, name)(1, 2)


def test_a_batch_is_divided_and_joined_under_both_paths():
    x = libdl.arange(6.0).reshape(3, 2)
    parts = nn.parallel.scatter(x, ["cpu", "cpu"])
    assert [part.tolist() for part in parts] == [[[0, 1], [2, 3]], [[4, 5]]]
    assert libdl.equal(nn.parallel.gather(parts, "cpu"), x)
    assert (
        nn.parallel.scatter is importlib.import_module("libdl.nn.parallel.scatter_gather").scatter
    )


@pytest.mark.parametrize(
    "path, names",
    [
        ("nn.parallel.distributed", "DistributedDataParallel"),
        ("nn.parallel.data_parallel", "DataParallel data_parallel"),
        ("nn.parallel.parallel_apply", "parallel_apply"),
        ("nn.parallel.replicate", "replicate"),
        ("distributed._tensor.experimental", "implicit_replication"),
        ("distributed.optim.zero_redundancy_optimizer", "ZeroRedundancyOptimizer"),
        ("nn.attention.bias", "CausalBias CausalVariant"),
        ("nn.grad", "conv2d_weight"),
        (
            "optim._functional",
            "sgd adam adamw adagrad adadelta adamax asgd nadam radam rmsprop rprop sparse_adam",
        ),
        ("optim.adamw", "AdamW adamw"),
        ("optim._adafactor", "Adafactor"),
        ("optim._muon", "Muon"),
        ("optim.sgd", "SGD sgd"),
        ("optim.rprop", "Rprop rprop"),
    ],
)
def test_paths(path, names):
    module = importlib.import_module(f"libdl.{path}")
    assert [name for name in names.split() if not hasattr(module, name)] == []


# Of every fifth element, by the size of the window.
RESPONSES = {
    2: [
        0.0,
        0.218055015,
        0.510761036,
        0.640180576,
        0.880078768,
        0.737179378,
        0.99073477,
        0.932144391,
        0.787840078,
        0.974606134,
    ],
    3: [
        0.0,
        0.214034661,
        0.398576534,
        0.555612301,
        0.768621697,
        0.757369603,
        1.085501037,
        1.016887299,
        0.848697977,
        0.942321539,
    ],
    4: [
        0.0,
        0.232055925,
        0.435453019,
        0.610121896,
        0.831546448,
        0.83994194,
        1.15143454,
        1.098246599,
        0.94071998,
        1.018288904,
    ],
}


@pytest.mark.parametrize("size", RESPONSES)
def test_responses_across_maps(size):
    x = (
        ((libdl.arange(56.0, dtype=libdl.float64) * 1.3).sin() * 2)
        .reshape(2, 7, 2, 2)
        .requires_grad_()
    )
    layer = nn.CrossMapLRN2d(size, 0.5, 0.75, 1.5)
    found = layer(x).flatten()[::5][:10].tolist()
    assert found == pytest.approx(RESPONSES[size], abs=1e-8)
    assert libdl.autograd.gradcheck(layer, (x,), fast_mode=True)
    with pytest.raises(ValueError, match="wanted 4D"):
        layer(x[0])


def test_an_older_name_of_a_loss():
    with pytest.warns(FutureWarning, match="NLLLoss2d"):
        loss = nn.NLLLoss2d(reduction="sum")
    assert loss(libdl.tensor([[-1.0, -2.0]]), libdl.tensor([1])).item() == 2.0

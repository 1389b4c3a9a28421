# SPDX-License-Identifier: Apache-2.0
"""Normalisation of channels: running statistics, modules as PyTorch prints and saves them, and
forms that nobody sees. The numbers of PyTorch are from version 2.15."""

import math
import warnings

import pytest

import libdl
from libdl import nn
from libdl.nn import functional as F


def drawn(*shape, dtype=libdl.float32):
    return libdl.randn(*shape, generator=libdl.Generator().manual_seed(sum(shape))).to(dtype)


def near(a, b, tolerance=1e-6):
    return a.shape == b.shape and float((a - b).abs().max()) <= tolerance


def test_training_moves_the_running_statistics():
    x = drawn(4, 3, 5, dtype=libdl.float64)
    mean, var = libdl.zeros(3, dtype=x.dtype), libdl.ones(3, dtype=x.dtype)
    before = mean._version, var._version
    F.batch_norm(x, mean, var, training=True, momentum=0.25)
    assert near(mean, 0.25 * x.mean((0, 2)), 1e-15)
    assert near(var, 0.75 + 0.25 * x.var((0, 2)), 1e-15)  # which counts one element less
    assert (mean._version, var._version) == (before[0] + 1, before[1] + 1)
    kept = mean.clone(), var.clone()
    F.batch_norm(x, mean, var)
    F.batch_norm(x[:0], mean, var, training=True)
    assert libdl.equal(mean, kept[0]) and libdl.equal(var, kept[1])


def test_a_failed_call_moves_nothing():
    x, mean, var = libdl.ones(2, 3), libdl.zeros(3), libdl.ones(3)
    with pytest.raises((ValueError, RuntimeError), match=r"argument 5 \(bias\)"):
        F.batch_norm(x, mean, var, None, libdl.ones(2), training=True)
    with pytest.raises(
        (ValueError, RuntimeError), match=r"argument 3 \(running_var\) has elements"
    ):
        F.batch_norm(x, mean, libdl.ones(1).expand(3), training=True)
    with pytest.raises(RuntimeError, match=r"argument 3 \(running_var\) requires grad"):
        F.batch_norm(x, mean, var.clone().requires_grad_(), training=True)
    assert not mean.any() and mean._version == 0


def test_in_evaluation_derivatives_reach_the_statistics():
    x = drawn(2, 3, dtype=libdl.float64)
    mean, var = libdl.zeros(3, dtype=x.dtype).requires_grad_(), libdl.ones(3, dtype=x.dtype)
    F.batch_norm(x, mean, var).sum().backward()
    assert near(mean.grad, libdl.full((3,), -2 / math.sqrt(1 + 1e-5), dtype=x.dtype), 1e-15)


def test_later_training_leaves_gradients_of_evaluation_right():
    """What backward needs of the running statistics was copied; PyTorch raises."""
    x = drawn(4, 3).requires_grad_()
    mean, var = libdl.zeros(3), libdl.ones(3)
    y = F.batch_norm(x, mean, var)
    F.batch_norm(x.detach(), mean, var, training=True, momentum=1.0)
    y.sum().backward()
    assert near(x.grad, libdl.full((4, 3), 1 / math.sqrt(1 + 1e-5)))


def test_without_momentum_the_running_statistics_are_means():
    layer = nn.BatchNorm1d(3, momentum=None)
    batches = [drawn(n, 3) for n in (4, 5, 6)]
    for x in batches:
        layer(x)
    assert layer.num_batches_tracked.item() == 3
    assert near(layer.running_mean, sum(x.mean(0) for x in batches) / 3)
    assert near(layer.running_var, sum(x.var(0) for x in batches) / 3)
    layer.reset_running_stats()
    assert layer.num_batches_tracked.item() == 0 and not layer.running_mean.any()


def test_evaluation_uses_what_was_tracked_or_else_the_batch():
    x = drawn(8, 3, 4, 4)
    tracked, untracked = (
        nn.BatchNorm2d(3, momentum=1.0),
        nn.BatchNorm2d(3, track_running_stats=False),
    )
    assert near(tracked(x), untracked(x))
    assert libdl.equal(untracked.eval()(x), untracked.train()(x))
    tracked.eval()
    count = 8 * 16
    scale = ((x.var((0, 2, 3), correction=0) + 1e-5) / (x.var((0, 2, 3)) + 1e-5)).sqrt()
    assert count and near(tracked(x), untracked(x) * scale.view(1, 3, 1, 1), 1e-5)


def test_instances_are_batches_of_one():
    x, w, b = drawn(3, 4, 5, 2), drawn(4), drawn(4)
    y = F.instance_norm(x, None, None, w, b)
    for k in range(3):
        assert near(y[k : k + 1], F.batch_norm(x[k : k + 1], None, None, w, b, training=True), 1e-5)
    assert near(F.group_norm(x, 4, w, b), y, 1e-5)
    layer = nn.InstanceNorm2d(4, track_running_stats=True, momentum=0.5)
    assert near(layer(x), F.instance_norm(x), 1e-5)
    assert near(layer.running_mean, 0.5 * x.mean((0, 2, 3)))
    assert near(layer.running_var, 0.5 + 0.5 * x.var((2, 3)).mean(0))
    assert layer(x[0]).shape == x[0].shape


def test_half_precision_is_computed_in_single():
    x = drawn(64, 3, 9, dtype=libdl.bfloat16)
    wide = F.batch_norm(x.float(), None, None, training=True)
    for vectors in (libdl.float32, libdl.bfloat16):
        mean, var = libdl.zeros(3, dtype=vectors), libdl.ones(3, dtype=vectors)
        y = F.batch_norm(x, mean, var, libdl.ones(3, dtype=vectors), training=True)
        assert y.dtype is libdl.bfloat16 and mean.dtype is vectors
        assert libdl.equal(y, wide.bfloat16())  # rounded once


def test_equal_bits_for_any_number_of_threads_and_layout():
    x, w, b = drawn(5, 70, 13, 11), drawn(70), drawn(70)
    deep = x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
    g = drawn(5, 70, 13, 11)
    seen = []
    before = libdl.get_num_threads()
    try:
        for threads in (1, 2, 3):
            libdl.set_num_threads(threads)
            for image in (x, deep):
                leaves = [t.clone().requires_grad_() for t in (image, w, b)]
                mean, var = libdl.zeros(70), libdl.ones(70)
                y = F.batch_norm(leaves[0], mean, var, *leaves[1:], training=True)
                y.backward(g)
                seen.append([y.detach(), mean, var, *(leaf.grad for leaf in leaves)])
    finally:
        libdl.set_num_threads(before)
    for other in seen[1:]:
        assert all(libdl.equal(a, b) for a, b in zip(seen[0], other, strict=True))


def test_a_large_mean_does_not_cost_the_variance():
    """Sums of squares would lose it: 4096^2 has no digits for 0.25 beside it in float32."""
    x = drawn(1000, 2).double()
    far = (x * 0.5 + 4096).float()
    wanted = F.batch_norm(far.double(), None, None, training=True)
    # The mean is rounded to float32, here by at most 2^-13; a deviation is about 0.5.
    assert near(F.batch_norm(far, None, None, training=True).double(), wanted, 1e-3)
    mean, var = libdl.zeros(2), libdl.zeros(2)
    F.batch_norm(far, mean, var, training=True, momentum=1.0)
    # Sums of 64 squares in float32: 64 roundings of 2^-24 at most, of about 0.25.
    assert near(var.double(), far.double().var(0), 1e-6)


def test_a_chain_of_convolutions_and_normalisations_stays_in_its_form():
    """Nothing between the layers asks for the plain bytes, so none are made."""
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Conv2d(8, 8, 3),
        nn.BatchNorm2d(8),
    )
    x = drawn(2, 3, 9, 9)
    y = net(x)
    gradient = F.conv2d(x, drawn(8, 3, 3, 3)).detach()  # lies as y does
    with warnings.catch_warnings(record=True) as told, libdl.check_copies():
        warnings.simplefilter("always")
        net(x).backward(gradient)
        assert not told
    assert y.is_contiguous()


@pytest.mark.parametrize(
    "layer, text",
    [
        (
            nn.BatchNorm2d(3),
            "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, "
            "bias=True, track_running_stats=True)",
        ),
        (
            nn.InstanceNorm1d(4, eps=1e-3),
            "InstanceNorm1d(4, eps=0.001, momentum=0.1, affine=False, "
            "bias=False, track_running_stats=False)",
        ),
        (nn.GroupNorm(2, 6), "GroupNorm(2, 6, eps=1e-05, affine=True, bias=True)"),
        (nn.RMSNorm((2, 3)), "RMSNorm((2, 3), eps=None, elementwise_affine=True)"),
    ],
)
def test_layers_print_as_pytorchs(layer, text):
    assert repr(layer) == text


def test_layers_hold_what_pytorchs_do():
    layer = nn.BatchNorm3d(3)
    assert list(layer.state_dict()) == [
        "weight",
        "bias",
        "running_mean",
        "running_var",
        "num_batches_tracked",
    ]
    assert layer.num_batches_tracked.dtype is libdl.int64 and layer.num_batches_tracked.ndim == 0
    assert not list(nn.BatchNorm1d(3, affine=False, track_running_stats=False).state_dict())
    assert list(nn.GroupNorm(1, 3, bias=False).state_dict()) == ["weight"]
    assert list(nn.InstanceNorm1d(3, affine=True).state_dict()) == ["weight", "bias"]


@pytest.mark.parametrize(
    "layer, shape, text",
    [
        (nn.BatchNorm1d(3), (2, 3, 4, 4), r"expected 2D or 3D input \(got 4D input\)"),
        (nn.BatchNorm2d(3), (2, 3), r"expected 4D input \(got 2D input\)"),
        (nn.InstanceNorm2d(3), (2, 3), r"expected 3D or 4D input \(got 2D input\)"),
        (nn.InstanceNorm1d(3, affine=True), (2, 4, 5), r"num_features \(3\), but got: 4"),
    ],
)
def test_inputs_that_do_not_fit_a_layer_are_refused(layer, shape, text):
    with pytest.raises(ValueError, match=text):
        layer(libdl.ones(*shape))


def test_groups_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="must be divisible by num_groups"):
        nn.GroupNorm(4, 6)


def test_rms_norm_of_complex_numbers():
    x = libdl.tensor([1 + 2j, 3 - 1j, 0.5 + 0j], requires_grad=True)
    y = F.rms_norm(x, (3,))
    assert near(
        y,
        libdl.tensor([0.45416912 + 1.5696162j, 2.2882965 - 0.32191354j, 0.35934012 + 0.06612779j]),
    )
    y.abs().sum().backward()
    assert near(
        x.grad,
        libdl.tensor([0.15609932 + 2.3606131j, -1.7307082 - 0.1286622j, 0.37227574 + 0.13656095j]),
    )
    y = F.rms_norm(x.detach().to(libdl.complex128), (3,), libdl.tensor([1j, 2, 3]), 0.1)
    assert near(
        y,
        libdl.tensor(
            [-1.52766066 + 0.45705550j, 4.46027204 - 0.66869113j, 1.05371304 + 0.18406489j],
            dtype=libdl.complex128,
        ),
    )
    with pytest.raises(TypeError, match=r"argument 3 \(weight\) is complex64"):
        F.rms_norm(libdl.ones(3), (3,), x)


def test_one_value_a_group():
    """Accepted by the name in the top namespace alone; torch.group_norm has a rounding beside
    bias."""
    x, weight = libdl.tensor([[1.0, 2, 3]], requires_grad=True), libdl.ones(3, requires_grad=True)
    bias = libdl.tensor([0.5, 1, 2])
    y = libdl.group_norm(x, 3, weight, bias)
    assert y.tolist() == [bias.tolist()]
    y.sum().backward()
    assert not x.grad.any() and not weight.grad.any()
    with pytest.raises(ValueError, match="more than one value per group"):
        F.group_norm(x, 3)
    with pytest.raises(ValueError, match="more than one value per group"):
        F.group_norm(x, 2)  # PyTorch rounds the quotient down


def test_too_few_values_are_told_before_their_dtype():
    x = libdl.ones(1, 3, dtype=libdl.int32)
    for call in (
        lambda: F.batch_norm(x, None, None, training=True),
        lambda: F.instance_norm(x),
        lambda: F.group_norm(x, 3),
        lambda: F.multi_margin_loss(x, libdl.tensor([0]), p=3),
        lambda: F.local_response_norm(x, 1),
    ):
        with pytest.raises(ValueError):
            call()


def test_running_statistics_of_infinite_numbers():
    x = libdl.tensor([[1.0, 2], [math.inf, 3], [4, -5]]).repeat(50, 1)
    mean, var = libdl.zeros(2), libdl.ones(2)
    F.batch_norm(x, mean, var, training=True, momentum=1.0)
    assert mean[0] == math.inf and abs(mean[1]) < 1e-7 and math.isnan(var[0])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize(
    "shape", [(5, 1, 100), (1, 3, 87), (4, 3, 40, 41), (3, 20, 3, 11), (2, 70, 5, 5, 5)]
)
@pytest.mark.parametrize("training", [True, False])
def test_planes_and_innermost_channels_have_the_same_bits(dtype, shape, training):
    """Runs of 64 pixels cross the ends of these planes; channels-last tensors go another way."""
    x, g = (drawn(*shape, dtype=getattr(libdl, dtype)) * s + 1 for s in (2, 3))

    def run(x, g, threads):
        libdl.set_num_threads(threads)
        x = x.requires_grad_()
        weight, bias, mean = (drawn(shape[1], dtype=x.dtype) + k for k in range(3))
        var = (drawn(shape[1], dtype=x.dtype).abs() + 0.5).contiguous()
        weight.requires_grad_()
        bias.requires_grad_()
        y = F.batch_norm(x, mean, var, weight, bias, training)
        y.backward(g)
        return [
            t.contiguous().double().flatten().tolist()
            for t in (y, x.grad, weight.grad, bias.grad, mean, var)
        ]

    def last(t):
        return t.movedim(1, -1).contiguous().movedim(-1, 1)

    before = libdl.get_num_threads()
    try:
        wanted = run(x.clone(), g, 1)
        assert run(last(x), last(g), 1) == wanted
        assert run(x.clone(), last(g), 3) == wanted
        assert run(last(x), g.clone(), 3) == wanted
    finally:
        libdl.set_num_threads(before)
    z = x.double().movedim(1, -1)
    if training:
        z = (z - z.flatten(0, -2).mean(0)) / (z.flatten(0, -2).var(0, correction=0) + 1e-5).sqrt()
        far = libdl.tensor(wanted[0], dtype=libdl.float64).reshape(x.shape).movedim(1, -1)
        bias, weight = (drawn(shape[1], dtype=x.dtype).double() + k for k in (1, 0))
        digits = {"float64": 1e-12, "float32": 1e-5, "float16": 1e-2, "bfloat16": 1e-1}
        assert float((z * weight + bias - far).abs().max()) < digits[dtype]

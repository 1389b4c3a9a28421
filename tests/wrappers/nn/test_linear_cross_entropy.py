# SPDX-License-Identifier: Apache-2.0
"""linear_cross_entropy against PyTorch's answers, at once and in chunks of the batch."""

import gc

import pytest

import libdl as torch
from libdl import nn
from libdl.nn import LinearCrossEntropyOptions as Options, functional as F


def waves(*shape):
    return (torch.arange(float(torch.Size(shape).numel())).reshape(shape) * 0.37).sin()


X, W, B, SCALES = waves(6, 5), waves(10, 5), waves(10), waves(10).abs()
CLASSES = torch.tensor([1, 2, 3, 9, 0, -100])
SHARES = waves(6, 10).softmax(1)
ALL = {"linear_bias": B, "weight": SCALES, "label_smoothing": 0.1}
OPTIONS = [
    None,
    Options(),
    Options(batch_chunk_size=2, chunking_method=None),
    Options(batch_chunk_size=4),
    Options(chunking_method="aspect_ratio:2"),
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(
    "target, more, mean, total, each",
    [
        (CLASSES, {}, 3.52405, 17.62027, [3.08657, 4.95786, 4.90459, 2.48478, 2.18647, 0.0]),
        (CLASSES, ALL, 4.3551, 9.22801, [1.27524, 3.16798, 3.84182, 0.69075, 0.25222, 0.0]),
        (SHARES, ALL, 1.9334, 11.60042, [2.34147, 1.52035, 2.33396, 1.28901, 2.09457, 2.02105]),
    ],
    ids=["classes", "all", "probabilities"],
)
def test_losses_are_pytorchs(options, target, more, mean, total, each):
    for reduction, wanted in (("mean", mean), ("sum", total), ("none", each)):
        loss = F.linear_cross_entropy(X, W, target, reduction=reduction, options=options, **more)
        assert loss.tolist() == pytest.approx(wanted, abs=2e-5)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_other_shapes_are_pytorchs(options):
    loss = F.linear_cross_entropy(X, W, CLASSES.clamp(min=0), ignore_index=0, options=options)
    assert loss.item() == pytest.approx(3.85845, abs=1e-5)
    one = F.linear_cross_entropy(X[0], W, CLASSES[0], options=options)
    assert (one.item(), one.shape) == (pytest.approx(3.08657, abs=1e-5), ())
    shares = F.linear_cross_entropy(X[0], W, SHARES[0], options=options)
    assert shares.item() == pytest.approx(3.68945, abs=2e-5)
    places = torch.arange(72).remainder(10).reshape(6, 4, 3)
    many = F.linear_cross_entropy(
        X, waves(10, 4, 3, 5), places, linear_bias=waves(10, 4, 3), options=options
    )
    assert many.item() == pytest.approx(3.65361, abs=1e-5)
    two = F.linear_cross_entropy(X, waves(10, 2, 5), waves(6, 10, 2).softmax(1), options=options)
    assert two.item() == pytest.approx(3.66447, abs=1e-5)
    for nothing in (
        F.linear_cross_entropy(X, W, torch.full((6,), -100), options=options),
        F.linear_cross_entropy(X[:0], W, CLASSES[:0], options=options),
    ):
        assert nothing.isnan()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_gradients_of_any_order(options):
    x, w = X.clone().requires_grad_(), W.clone().requires_grad_()
    F.linear_cross_entropy(x, w, CLASSES, options=options).backward()
    assert x.grad.sum().item() == pytest.approx(1.83236, abs=1e-5)
    wanted = [0.06345, -0.00996, -0.08202, -0.14298, -0.18459]
    assert w.grad[1].tolist() == pytest.approx(wanted, abs=1e-5)

    def loss(x, w):
        return F.linear_cross_entropy(x, w, CLASSES, options=options)

    x, w = (t.detach().double().requires_grad_() for t in (X, W))
    assert torch.autograd.gradcheck(loss, (x, w))
    few = torch.tensor([1, 2, -100])
    pair = [waves(3, 2).double().requires_grad_(), waves(4, 2).double().requires_grad_()]
    assert torch.autograd.gradgradcheck(
        lambda x, w: F.linear_cross_entropy(x, w, few, options=options), pair
    )


def test_sixteen_bits_are_summed_in_float32():
    n = 3000
    x, w = torch.ones(n, 4, dtype=torch.bfloat16), torch.zeros(8, 4, dtype=torch.bfloat16)
    y = torch.zeros(n, dtype=torch.int64)
    for options in (None, Options(batch_chunk_size=7)):
        for reduction, wanted in (("mean", 2.0794), ("sum", 6238.3)):
            loss = F.linear_cross_entropy(x, w, y, reduction=reduction, options=options)
            assert loss.dtype is torch.bfloat16
            assert loss.item() == pytest.approx(wanted, rel=2**-8)


@pytest.mark.parametrize("options", [None, Options(batch_chunk_size=2)], ids=["once", "chunks"])
def test_probabilities_of_another_dtype_promote(options):
    for x, y, wanted in (
        (torch.float32, torch.float64, torch.float64),
        (torch.bfloat16, torch.float32, torch.float32),
        (torch.float64, torch.float32, torch.float64),
    ):
        loss = F.linear_cross_entropy(X.to(x), W.to(x), SHARES.to(y), options=options)
        assert loss.dtype is wanted and loss.item() == pytest.approx(2.9, abs=1)


def test_the_scores_of_the_whole_batch_are_not_kept():
    x = torch.ones(512, 16, requires_grad=True)
    w = torch.ones(4096, 16, requires_grad=True)
    y = torch.zeros(512, dtype=torch.int64)

    def kept(options):
        gc.collect()
        before = torch._C.memory_statistics(None)["allocated"]
        loss = F.linear_cross_entropy(x, w, y, options=options)
        after = torch._C.memory_statistics(None)["allocated"]
        loss.backward()
        return after - before

    scores = 512 * 4096 * 4
    assert kept(None) >= scores
    assert kept(Options()) < scores // 8


def test_the_module_holds_its_layer():
    module = nn.LinearCrossEntropyLoss(5, 10, out_features=(2,), bias=True, weight=SCALES)
    assert list(module.state_dict()) == ["weight", "linear.weight", "linear.bias"]
    assert module.linear.weight.shape == (20, 5)
    assert repr(module).splitlines()[1] == (
        "  in_features=5, num_classes=10, out_features=(2,), bias=True, reduction=mean, "
        "ignore_index=None, label_smoothing=0.0, options=None"
    )
    y = torch.arange(12).remainder(10).reshape(6, 2)
    with torch.no_grad():
        module.linear.weight.copy_(waves(10, 2, 5).reshape(20, 5))
        module.linear.bias.zero_()
        module.weight.fill_(1.0)
    each = F.linear_cross_entropy(X, waves(10, 2, 5), y, reduction="none")
    wanted = [1.38068, 2.71107, 1.18375, 1.84072, 4.85509, 7.22358]
    assert each.flatten()[:6].tolist() == pytest.approx(wanted, abs=1e-5)
    assert module(X, y).item() == pytest.approx(each.mean().item(), rel=1e-6)


@pytest.mark.parametrize(
    "arguments, told",
    [
        ((waves(2, 3, 5), W, CLASSES, {}), r"argument 1 \(input\) has 3 dimensions, wanted 1 or 2"),
        (
            (X, W[0], CLASSES, {}),
            r"argument 2 \(linear_weight\) has 1 dimensions, wanted 2 or more",
        ),
        ((waves(6, 4), W, CLASSES, {}), r"has shape \[10, 5\], wanted \[classes, ..., 4\]"),
        (
            (X, W, CLASSES, {"linear_bias": waves(9)}),
            r"\(linear_bias\) has shape \[9\], wanted \[10\]",
        ),
        ((X[0], waves(10, 4, 5), CLASSES, {}), r"has shape \[5\], wanted \[n, features\]"),
        ((X, W, CLASSES[:3], {}), r"argument 3 \(target\) has shape \[3\], wanted \[6\]"),
        (
            (X, W, SHARES, {"ignore_index": -100}),
            r"\(ignore_index\) is -100 and target has probabilities",
        ),
        ((X, W, CLASSES, {"reduction": "avg"}), "is .avg., wanted .mean., .sum. or .none."),
        ((X, W, CLASSES, {"weight": waves(3)}), r"\(weight\) has shape \[3\], wanted \[10\]"),
    ],
)
@pytest.mark.parametrize("options", [None, Options(batch_chunk_size=2)], ids=["once", "chunks"])
def test_wrong_arguments_are_refused(options, arguments, told):
    *tensors, more = arguments
    with pytest.raises(RuntimeError, match=told):
        F.linear_cross_entropy(*tensors, options=options, **more)


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({"acc_policy": "x"}, "acc_policy is 'x'"),
        ({"chunking_method": "x"}, "chunking_method is 'x'"),
        ({"chunking_method": "aspect_ratio:0"}, "wanted 'auto'"),
        ({"batch_chunk_size": 0}, "is 0"),
        ({"chunking_method": "auto:2"}, "wanted 'auto'"),
        ({"acc_dtype": torch.int32}, "int32, wanted"),
    ],
)
def test_wrong_options_are_refused(wrong, told):
    with pytest.raises(ValueError, match=told):
        Options(**wrong)


def test_other_refusals():
    both = Options(batch_chunk_size=3, chunking_method="aspect_ratio")
    with pytest.raises(
        ValueError, match="batch_chunk_size=3, and chunking_method='aspect_ratio' gives 4"
    ):
        F.linear_cross_entropy(X, W, CLASSES, options=both)
    with pytest.raises(RuntimeError, match=r"weight has shape \[3\], wanted \[10\]"):
        nn.LinearCrossEntropyLoss(5, 10, weight=torch.ones(3))
    with pytest.raises(RuntimeError, match="label_smoothing is 2, wanted a number from 0 to 1"):
        nn.LinearCrossEntropyLoss(5, 10, label_smoothing=2)

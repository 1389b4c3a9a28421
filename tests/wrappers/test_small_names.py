# SPDX-License-Identifier: Apache-2.0
"""Names of PyTorch that programs reach for now and then. Expected values are PyTorch's."""

import math

import pytest

import libdl as torch
from libdl import masked, nn
from libdl.testing import make_tensor

NAN = float("nan")
X = torch.tensor([[3.0, 1, 2, 5], [4, NAN, 6, 0], [1, 2, 3, 4]])
SOME = torch.tensor([[1, 1, 1, 0], [1, 0, 1, 0], [0, 0, 0, 1]]).bool()
NONE = torch.tensor([[1, 1, 1, 0], [1, 0, 1, 0], [0, 0, 0, 0]]).bool()


def test_places_of_the_extrema_that_a_mask_leaves():
    found = masked.argmax(X, 1, mask=SOME)
    assert found.dtype is torch.float32 and found.tolist() == [0, 2, 3]
    assert masked.argmin(X, 1, mask=SOME).tolist() == [1, 0, 3]
    assert masked.argmax(X, mask=SOME).tolist() == 6
    assert masked.argmax(X, 1).tolist() == [3, 1, 3]
    assert masked.argmin(X, 1, keepdim=True, dtype=torch.int32, mask=NONE).tolist() == [
        [1],
        [0],
        [0],
    ]
    whole = torch.nan_to_num(X, 9).long()
    assert masked.argmax(whole, 1, mask=SOME).dtype is torch.int64
    assert (
        masked.argmax(
            torch.tensor([-128, -3], dtype=torch.int8), 0, mask=torch.tensor([True, False])
        ).item()
        == 0
    )
    with pytest.raises(NotImplementedError, match="masked.argmax: the input is bool"):
        masked.argmax(X > 1, 1)


def test_the_median_of_what_a_mask_leaves():
    assert masked.median(X, 1, mask=SOME).tolist() == [2, 4, 4]
    assert masked.median(X, 1).tolist() == [2, 4, 2]
    assert math.isnan(masked.median(X, mask=NONE)[2])
    large = torch.tensor([[2**60 + 1, 2**60 + 3, 2**60 + 2]])
    assert masked.median(large, 1, mask=torch.tensor([True, True, False])).tolist() == [2**60 + 1]
    small = torch.nan_to_num(X, 9).to(torch.uint8)
    found = masked.median(small, 1, keepdim=True, mask=SOME)
    assert found.dtype is torch.uint8 and found.tolist() == [[2], [4], [4]]
    with pytest.raises(ValueError, match="masked.median: the mask leaves nothing of a row"):
        masked.median(small, 1, mask=NONE)
    with pytest.raises(
        TypeError, match="masked.median: the input is libdl.complex64|torch.complex64"
    ):
        masked.median(X.to(torch.complex64), 1)
    x = torch.nan_to_num(X, 9).requires_grad_()
    masked.median(x, 1, mask=SOME).sum().backward()
    assert x.grad.tolist() == [[0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]]


def test_masked_logaddexp():
    found = masked.logaddexp(X[:1], X[:1] * 2, input_mask=SOME[:1], other_mask=~SOME[:1])
    assert found.tolist() == [[3, 1, 2, 10]]
    assert masked.logaddexp(X, X, dtype=torch.float64).dtype is torch.float64


KINDS = [
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int64,
    torch.float16,
    torch.float64,
    torch.complex64,
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_make_tensor(kind):
    def numbers(*shape, **how):
        x = make_tensor(*shape, dtype=kind, device="cpu", **how)
        assert x.dtype is kind
        return torch.view_as_real(x.detach()) if kind.is_complex else x.detach()

    ends = {torch.bool: (0, 1), torch.uint8: (0, 9), torch.int8: (-9, 9), torch.int64: (-9, 9)}
    drawn = numbers(50, 40).double()
    least, most = drawn.min().item(), drawn.max().item()
    if kind in ends:
        assert (least, most) == ends[kind]
    else:
        assert -9 <= least < -8.5 and 8.5 < most <= 9
        wide = numbers((50, 40), low=-math.inf, high=math.inf)
        assert wide.isfinite().all() and wide.abs().max() > torch.finfo(kind).max / 2
        with pytest.warns(FutureWarning, match="low and high are equal"):
            assert (numbers(3, low=2, high=2) == 2).all()
        assert make_tensor(3, dtype=kind, device="cpu", requires_grad=True).is_leaf
        assert not (
            make_tensor(2000, dtype=kind, device="cpu", low=0, high=1e-30, exclude_zero=True) == 0
        ).any()
    apart = make_tensor(3, 4, dtype=kind, device="cpu", noncontiguous=True)
    assert apart.shape == (3, 4) and apart.stride() == (8, 2)
    assert numbers([2, 2]).shape[:2] == (2, 2)
    if kind is not torch.bool:
        one = make_tensor(500, dtype=kind, device="cpu", low=0, high=2, exclude_zero=True)
        assert not (one == 0).any()
        with pytest.raises(
            ValueError, match="make_tensor: low is 5, wanted less than high, which is 2"
        ):
            make_tensor(2, dtype=kind, device="cpu", low=5, high=2)


def test_what_make_tensor_refuses():
    def make(**how):
        return make_tensor(2, device="cpu", **{"dtype": torch.int8, **how})

    with pytest.raises(ValueError, match="low is nan and high is 10, wanted no NaN"):
        make(low=NAN)
    with pytest.raises(ValueError, match=r"found \[200, 300\), but .*int8 has \[-128, 128\)"):
        make(low=200, high=300)
    with pytest.raises(ValueError, match="requires_grad is True, and .*int8 has no gradients"):
        make(requires_grad=True)
    with pytest.raises(ValueError, match="noncontiguous and memory_format, wanted one of them"):
        make(noncontiguous=True, memory_format=torch.contiguous_format)
    assert make(low=-1000, high=-127).tolist() == [-128, -128]


def test_views_tell_that_they_are():
    x = torch.ones(3, 3)
    assert [y._is_view() for y in (x[0], x.view(-1), x.t(), x[:])] == [True] * 4
    assert [y._is_view() for y in (x, x.detach(), x.contiguous(), x.clone(), x[[0]])] == [False] * 5
    assert x.name is None


def test_the_settings_of_layers():
    assert nn.Linear.__constants__ == nn.LazyLinear.__constants__ == ["in_features", "out_features"]
    assert nn.GELU.__constants__ == ["approximate"] and nn.Dropout.__constants__ == ["p", "inplace"]
    assert nn.BatchNorm2d.__constants__ == [
        "track_running_stats",
        "momentum",
        "eps",
        "num_features",
        "affine",
    ]
    assert not hasattr(nn.Module, "__constants__") and not hasattr(nn.Sequential, "__constants__")
    for layer in (
        nn.Conv2d(2, 3, 1),
        nn.LSTM(2, 3),
        nn.MaxPool2d(2),
        nn.GroupNorm(1, 2),
        nn.Fold(2, 1),
        nn.Softplus(),
    ):
        assert all(hasattr(layer, name) for name in layer.__constants__)


def test_the_setting_for_new_memory():
    deterministic = torch.utils.deterministic
    assert deterministic.fill_uninitialized_memory is True
    with pytest.raises(RuntimeError, match="fill_uninitialized_memory: found a int, wanted a bool"):
        deterministic.fill_uninitialized_memory = 3
    deterministic.fill_uninitialized_memory = False
    assert deterministic.fill_uninitialized_memory is False
    deterministic.fill_uninitialized_memory = True


def test_the_order_of_dimensions_in_memory():
    def orders(*tensors):
        return [x.dim_order() for x in tensors]

    ones = torch.ones
    assert orders(
        ones(3, 1).expand(3, 2), ones(1, 2).expand(3, 2), ones(2, 3).t(), ones(2, 1, 3)
    ) == [(0, 1), (0, 1), (1, 0), (0, 1, 2)]
    assert orders(ones(4, 1, 1).expand(4, 5, 1), ones(2, 3, 4).permute(2, 0, 1), ones(2, 0, 3)) == [
        (0, 1, 2),
        (1, 2, 0),
        (0, 1, 2),
    ]
    assert orders(ones(2, 4, 5, 3).permute(0, 3, 1, 2), ones(()), ones(3)) == [
        (0, 2, 3, 1),
        (),
        (0,),
    ]
    assert ones(2, 3).dim_order(ambiguity_check=True) == (0, 1)
    assert ones(2, 1).dim_order(ambiguity_check=[torch.contiguous_format]) == (0, 1)
    for x in (ones(2, 1), ones(1).expand(2, 3)):
        with pytest.raises(RuntimeError, match="dim_order: the tensor does not have one order"):
            x.dim_order(ambiguity_check=True)
    with pytest.raises(RuntimeError, match="dim_order: the tensor does not have one order"):
        torch.ones(3).expand(2, 3).dim_order(ambiguity_check=True)


def test_how_distributions_describe_themselves():
    D = torch.distributions
    mixed = D.MixtureSameFamily(
        D.Categorical(torch.ones(3)), D.Normal(torch.zeros(3), torch.ones(3))
    )
    assert "Categorical(probs: torch.Size([3]), logits: torch.Size([3]))" in repr(mixed).replace(
        "libdl", "torch"
    )
    wishart = D.Wishart(torch.tensor([3.0, 4.0]), torch.eye(3))
    assert repr(wishart.arg_constraints["df"]) == "GreaterThan(lower_bound=2)"
    assert repr(wishart.expand((5, 2)).arg_constraints["df"]) == "GreaterThan(lower_bound=2)"


def test_dimensions_that_there_are_not():
    nothing, empty = torch.tensor(3.0), torch.ones(0, 2)
    with pytest.raises(
        ValueError, match=r"^diag_embed: argument 4 \(dim2\) is -1, the dimension of dim1"
    ):
        nothing.diag_embed(dim1=-1)
    with pytest.raises(IndexError, match=r"^diag_embed: argument 3 \(dim1\) is -2, wanted -1 to 0"):
        nothing.diag_embed()
    for name in ("trapezoid", "cumulative_trapezoid"):
        with pytest.raises(
            IndexError, match=rf"^{name}: argument 1 \(y\) has no dimensions, wanted 1 or more"
        ):
            getattr(torch, name)(nothing)
        with pytest.raises(IndexError, match=rf"^{name}: argument 4 \(dim\) is 3, wanted -2 to 1"):
            getattr(torch, name)(empty, dim=3)
    for name in ("median", "nanmedian"):
        with pytest.raises(IndexError, match=rf"^{name}: argument 2 \(dim\) is 5, wanted -2 to 1"):
            getattr(torch, name)(empty, 5)


def test_masked_functions_keep_the_dtype():
    whole = torch.tensor([100, 0, 100, 50], dtype=torch.int8)
    for function, wanted in (
        (masked.cumsum, [100, 100, -56, -6]),
        (masked.cumprod, [100, 100, 16, 32]),
    ):
        found = function(whole, 0, mask=whole > 0)
        assert found.dtype is torch.int8 and found.tolist() == wanted
        assert function(whole, 0, dtype=torch.int64).dtype is torch.int64
        assert function(whole.to(torch.int32), 0).dtype is torch.int32
        assert function(whole > 0, 0).dtype is torch.int64
    count = torch.tensor([1, 0, 1, 1])
    for dtype in (torch.int64, torch.int8, torch.uint8):
        found = masked.logsumexp(count.to(dtype), 0, mask=count > 0)
        assert found.dtype is dtype and found.item() == 2  # of 2.0986
        found = masked.logsumexp(count.to(dtype), 0, dtype=torch.float32, mask=count > 0)
        assert found.item() == pytest.approx(2.0986123)
    assert masked.logsumexp(count, 0, mask=count > 1).item() == -(2**63)


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float64, torch.complex64, torch.complex128]
)
def test_masked_deviations_have_the_dtype_of_the_elements(dtype):
    x = torch.tensor([[1.0, 3.0, 9.0], [2.0, 2.0, 7.0]]).to(dtype)
    mask = torch.tensor([True, True, False])
    for function, wanted in ((masked.var, [2, 0]), (masked.std, [2**0.5, 0])):
        for given in ({}, {"unbiased": True}, {"correction": 1.0}):
            found = function(x, 1, mask=mask, **given)
            assert found.dtype is dtype
            assert found.real.tolist() == pytest.approx(wanted, rel=1e-2)
        assert function(x, 1, correction=1.3).dtype is function(x).dtype is dtype
    assert masked.var(torch.tensor([1, 3]), 0).dtype is torch.float32
    parts = masked.var(
        torch.tensor([1 + 1j, 0, 2 - 1j, 1]), 0, mask=torch.tensor([True, False, True, True])
    )
    assert parts.dtype is torch.complex64 and parts.item() == pytest.approx(4 / 3)


def test_masked_reductions_say_their_dimensions():
    x = torch.tensor([[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]])
    assert torch.masked.prod(x, ()).item() == torch.masked.prod(x).item() == 720
    with pytest.raises(IndexError, match="masked.prod: argument 2 .dim. is 5, wanted -2 to 1"):
        torch.masked.prod(x, 5)
    with pytest.raises(RuntimeError, match="wanted each dimension once"):
        torch.masked.prod(x, (0, -2))
    assert torch.masked.median(x, None).tolist() == [1, 2, 3]  # None is the first one
    assert torch.masked.median(x.to(torch.int64), None).tolist() == [1, 2, 3]

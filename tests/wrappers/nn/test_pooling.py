# SPDX-License-Identifier: Apache-2.0
"""Pooling beyond what each operator's case asks: indices, memory order, forms, layers. The numbers
are PyTorch 2.15's."""

import itertools
import warnings

import pytest

import libdl
from libdl import nn
from libdl.nn import functional as F

NAN = float("nan")


def test_of_equals_the_first_counts_and_of_nans_the_last():
    x = libdl.tensor([[[1.0, NAN, 2], [NAN, 0, 1], [5, 5, 5]]])
    values, indices = F.max_pool2d(x, 2, 1, return_indices=True)
    assert str(values.tolist()) == "[[[nan, nan], [nan, 5.0]]]"
    assert indices.tolist() == [[[3, 1], [3, 7]]] and indices.dtype is libdl.int64
    lowest = libdl.full((1, 1, 2, 2), -float("inf"))
    assert F.max_pool2d(lowest, 2, return_indices=True)[1].tolist() == [[[[0]]]]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64", "uint8"])
@pytest.mark.parametrize("channels", [3, 5, 70])
def test_channels_innermost_give_the_same_elements(dtype, channels):
    x = libdl.arange(2 * channels * 7 * 6).view(2, channels, 7, 6)
    x = ((x * 7919) % 251).to(getattr(libdl, dtype))
    deep = x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
    for how in ({}, {"stride": 1, "padding": 1}, {"dilation": 2}):
        plain = F.max_pool2d(x, 3, return_indices=True, **how)
        found = F.max_pool2d(deep, 3, return_indices=True, **how)
        assert all(a.equal(b) for a, b in zip(plain, found, strict=True))
        assert plain[0].is_contiguous()
        n, c, h, w = found[0].shape
        assert found[0].stride() == found[1].stride() == (h * w * c, 1, w * c, c)
        assert F.max_pool2d(deep, 3, **how).equal(plain[0])


def test_windows_without_elements_are_refused():
    # PyTorch gives -inf there, and an index behind the end.
    with pytest.raises(ValueError, match=r"max_pool2d: argument 5 \(dilation\) is 2"):
        F.max_pool2d(libdl.ones(1, 1, 1), 2, 1, 1, 2)
    with pytest.raises(ValueError, match="dimension 2, of size 3"):
        F.max_pool2d(libdl.ones(1, 4, 3), (1, 2), 1, (0, 1), (1, 4))
    assert F.max_pool2d(libdl.ones(1, 1, 1), 3, 1, 1, 1).tolist() == [[[1.0]]]
    for size, kernel, stride, padding, dilation in itertools.product(
        (1, 2, 3), (2, 3), (1, 2), (1, 2, 3), (1, 2, 3, 4)
    ):
        reach = dilation * (kernel - 1) + 1
        if padding > kernel // 2 or size + 2 * padding < reach:
            continue
        starts = range(-padding, size + padding - reach + 1, stride)
        empty = any(all(not 0 <= s + k * dilation < size for k in range(kernel)) for s in starts)
        x = libdl.arange(float(size)).view(1, 1, size)
        how = {"stride": stride, "padding": (0, padding), "dilation": (1, dilation)}
        if empty:
            with pytest.raises(ValueError, match="every window has an element"):
                F.max_pool2d(x, (1, kernel), **how)
        else:
            wanted = [
                max(s + k * dilation for k in range(kernel) if 0 <= s + k * dilation < size)
                for s in starts
            ]
            assert F.max_pool2d(x, (1, kernel), **how).tolist() == [[wanted]]


def test_a_gradient_is_added_as_often_as_an_element_was_taken():
    x = libdl.tensor([[[1.0, 2, 3], [4, 9, 6], [7, 8, 5]]], requires_grad=True)
    F.max_pool2d(x, 2, 1).sum().backward()
    assert x.grad.tolist() == [[[0, 0, 0], [0, 4, 0], [0, 0, 0]]]


def test_the_layer():
    pool = nn.MaxPool2d(3, 2, padding=1, return_indices=True)
    values, indices = pool(libdl.arange(16.0).view(1, 4, 4))
    assert values.tolist() == [[[5, 7], [13, 15]]] and indices.tolist() == [[[5, 7], [13, 15]]]
    assert (
        repr(pool) == "MaxPool2d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=False)"
    )
    assert repr(nn.MaxPool2d(2)).startswith("MaxPool2d(kernel_size=2, stride=2")


# -- forms -----------------------------------------------------------------------------------------


def in_form(x):
    """The same elements, with their channels innermost in memory only."""
    c = x.shape[1]
    convolve = getattr(F, f"conv{x.ndim - 2}d")
    return convolve(x, libdl.eye(c, dtype=x.dtype).view(c, c, *[1] * (x.ndim - 2)))


@pytest.mark.parametrize(
    "pool",
    [
        nn.MaxPool2d(3, 2, padding=1),
        nn.AvgPool2d(3, 2, padding=1),
        nn.AdaptiveAvgPool2d((2, None)),
        nn.AdaptiveMaxPool2d(3),
    ],
)
def test_a_chain_of_layers_stays_in_its_form(pool):
    """Nothing between the layers asks for the plain bytes, so none are made."""
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), pool, nn.Conv2d(8, 5, 2)
    )
    x = libdl.randn(2, 3, 9, 9)
    y = net(x)
    gradient = in_form(libdl.randn(y.shape))  # lies as y does
    with warnings.catch_warnings(record=True) as told, libdl.check_copies():
        warnings.simplefilter("always")
        net(x).backward(gradient)
        assert not told
    assert y.is_contiguous()


@pytest.mark.parametrize("dtype", [libdl.float32, libdl.float64, libdl.float16, libdl.bfloat16])
@pytest.mark.parametrize("channels", [2, 16, 67])
@pytest.mark.parametrize(
    "pool",
    [
        lambda x: F.max_pool2d(x, 3, 2, 1),
        lambda x: F.max_pool2d(x, 2, 1, 1, 2, True),
        lambda x: F.avg_pool2d(x, 3, 2, 1),
        lambda x: F.avg_pool2d(x, 3, 2, 1, True, False),
        lambda x: F.avg_pool2d(x, 2, divisor_override=-3),
        lambda x: F.adaptive_avg_pool2d(x, (3, 1)),
        lambda x: F.adaptive_avg_pool2d(x, (9, 4)),
        lambda x: F.adaptive_max_pool2d(x, (2, 9)),
    ],
)
def test_both_orders_give_the_same_bits(pool, channels, dtype):
    libdl.manual_seed(channels)
    x = libdl.randint(-9, 9, (2, channels, 7, 5)).to(dtype) / 8
    plain, formed = x.clone().requires_grad_(), in_form(x).detach().requires_grad_()
    assert formed.equal(x)
    formed = in_form(x).detach().requires_grad_()  # whose plain bytes nobody has asked for
    y, z = pool(plain), pool(formed)
    gradient = libdl.randn(y.shape).to(dtype)
    y.backward(gradient)
    z.backward(gradient)
    assert y.equal(z) and plain.grad.equal(formed.grad)
    assert z.is_contiguous() and formed.grad.is_contiguous()


@pytest.mark.parametrize("dims", [1, 3])
def test_indices_of_forms_are_those_of_plain_bytes(dims):
    x = libdl.randint(0, 5, (2, 9, *[5] * dims)).float()
    pool = getattr(F, f"max_pool{dims}d")
    for plain, formed in zip(
        pool(x, 3, 2, 1, return_indices=True),
        pool(in_form(x), 3, 2, 1, return_indices=True),
        strict=True,
    ):
        assert plain.equal(formed)


def test_threads_change_no_bit():
    x = libdl.randn(3, 33, 23, 21)
    found = []
    for threads in (1, 3):
        before = libdl.get_num_threads()
        libdl.set_num_threads(threads)
        try:
            given = in_form(x).detach().requires_grad_()
            y = F.avg_pool2d(F.max_pool2d(given, 3, 2, 1), 3, 1, 1)
            y.backward(y.detach())
            found.append((y.detach(), given.grad))
        finally:
            libdl.set_num_threads(before)
    assert all(a.equal(b) for a, b in zip(*found, strict=True))


# -- means -----------------------------------------------------------------------------------------


def test_means_of_integers_are_rounded_towards_zero():
    x = libdl.tensor([[-7, 0, 0, 7, 1, 0]])
    assert F.avg_pool1d(x, 2).tolist() == [[-3, 3, 0]]
    assert F.avg_pool2d(libdl.tensor([[[2**63 - 1, 1]]]), (1, 2), divisor_override=-1).tolist() == [
        [[-(2**63)]]
    ]
    assert F.avg_pool2d(libdl.tensor([[[200, 201]]], dtype=libdl.uint8), (1, 2)).tolist() == [
        [[200]]
    ]


def test_what_lies_in_the_padding_counts_or_not():
    x = libdl.ones(1, 1, 4)
    assert F.avg_pool1d(x, 2, 2, 1).tolist() == [[[0.5, 1.0, 0.5]]]
    assert F.avg_pool1d(x, 2, 2, 1, count_include_pad=False).tolist() == [[[1.0, 1.0, 1.0]]]
    # Beyond the padding nothing counts.
    assert F.avg_pool1d(x, 3, 3, 1, ceil_mode=True).tolist() == [
        [[pytest.approx(2 / 3), pytest.approx(2 / 3)]]
    ]


def test_adaptive_windows_overlap():
    x = libdl.arange(5.0).view(1, 1, 5)
    assert F.adaptive_avg_pool1d(x, 3).tolist() == [[[0.5, 2.0, 3.5]]]
    assert F.adaptive_max_pool1d(x, 3, return_indices=True)[1].tolist() == [[[1, 3, 4]]]
    assert F.adaptive_avg_pool1d(x, 0).shape == (1, 1, 0)
    image = libdl.randn(2, 3, 4, 6)
    assert F.adaptive_avg_pool2d(image, (None, 2)).shape == (2, 3, 4, 2)
    assert F.adaptive_avg_pool2d(image, 1).allclose(image.mean((2, 3), keepdim=True))
    with pytest.raises(ValueError, match="adaptive_avg_pool2d: output_size is"):
        F.adaptive_avg_pool2d(image, (None,))


def test_powers():
    x = libdl.tensor([[3.0, -4.0, 0.0, 5.0]])
    assert F.lp_pool1d(x, 2, 2).tolist() == [[5.0, 5.0]]
    assert F.lp_pool1d(x, float("inf"), 2).tolist() == [[4.0, 5.0]]
    assert F.lp_pool1d(x, -float("inf"), 2).tolist() == [[3.0, 0.0]]
    assert F.lp_pool1d(x.long(), 2, 2).dtype is libdl.float32
    # The last window has one element, whose mean counts for both.
    assert F.lp_pool1d(x[:, :3] + 3, 1, 2, ceil_mode=True).tolist() == [[5.0, 6.0]]


# -- the reverse -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_unpooling_reverses_pooling(dims):
    x = libdl.randn(2, 3, *[6] * dims)
    y, places = getattr(F, f"max_pool{dims}d")(x, 2, return_indices=True)
    back = getattr(F, f"max_unpool{dims}d")(y, places, 2)
    assert back.equal(libdl.where(back != 0, x, 0)) and (back != 0).sum() == y.numel()
    wide = getattr(F, f"max_unpool{dims}d")(y, places, 2, output_size=[7] * dims)
    assert wide.shape[2:] == (7,) * dims
    same = getattr(F, f"max_unpool{dims}d")(y, places, 2, output_size=x.shape)
    assert same.equal(back)


def test_random_windows():
    x = libdl.arange(36.0).view(1, 1, 6, 6)
    shifts = libdl.tensor([[[0.2, 0.9]]])
    values, places = F.fractional_max_pool2d(x, 2, 3, return_indices=True, _random_samples=shifts)
    # Columns of 2 from 0, 2, 4, rows of 2 from 0, 2, 4 or shifted by the second sample.
    assert values.tolist() == [[[[7.0, 9.0, 11.0], [19.0, 21.0, 23.0], [31.0, 33.0, 35.0]]]]
    assert places.equal(values.long())
    libdl.manual_seed(3)
    first = F.fractional_max_pool2d(x, 2, output_ratio=0.5)
    libdl.manual_seed(3)
    assert first.equal(F.fractional_max_pool2d(x, 2, output_ratio=(0.5, 0.5)))
    with pytest.raises(ValueError, match="neither output_size nor output_ratio"):
        F.fractional_max_pool2d(x, 2)
    # Samples that are none move no window out of the image.
    wild = libdl.tensor([[[NAN, 1e30]]])
    assert F.fractional_max_pool2d(x, 2, 3, _random_samples=wild).shape == (1, 1, 3, 3)


# -- layers ----------------------------------------------------------------------------------------


LAYERS = """
MaxPool1d(2) of 1 2 6
    # 1 2 3: MaxPool1d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
MaxPool3d(2, 1) of 2 3 3 3
    # 2 2 2 2: MaxPool3d(kernel_size=2, stride=1, padding=0, dilation=1, ceil_mode=False)
AvgPool1d(3, 2, 1) of 2 5
    # 2 3: AvgPool1d(kernel_size=(3,), stride=(2,), padding=(1,))
AvgPool2d((2, 3)) of 1 1 4 6
    # 1 1 2 2: AvgPool2d(kernel_size=(2, 3), stride=(2, 3), padding=0)
AvgPool3d(2) of 1 1 4 4 4
    # 1 1 2 2 2: AvgPool3d(kernel_size=2, stride=2, padding=0)
AdaptiveAvgPool1d(2) of 1 1 5
    # 1 1 2: AdaptiveAvgPool1d(output_size=2)
AdaptiveAvgPool3d((1, None, 2)) of 1 2 3 4 5
    # 1 2 1 4 2: AdaptiveAvgPool3d(output_size=(1, None, 2))
AdaptiveMaxPool1d(1) of 1 1 5
    # 1 1 1: AdaptiveMaxPool1d(output_size=1)
AdaptiveMaxPool3d(1) of 1 1 2 2 2
    # 1 1 1 1 1: AdaptiveMaxPool3d(output_size=1)
LPPool1d(2, 3) of 1 1 6
    # 1 1 2: LPPool1d(norm_type=2, kernel_size=3, stride=None, ceil_mode=False)
LPPool2d(1.5, 2, 1) of 1 1 3 3
    # 1 1 2 2: LPPool2d(norm_type=1.5, kernel_size=2, stride=1, ceil_mode=False)
LPPool3d(2, 2) of 1 1 2 2 2
    # 1 1 1 1 1: LPPool3d(norm_type=2, kernel_size=2, stride=None, ceil_mode=False)
FractionalMaxPool2d(2, output_size=2) of 1 1 5 5
    # 1 1 2 2: FractionalMaxPool2d()
FractionalMaxPool3d(2, output_ratio=0.5) of 1 1 5 5 5
    # 1 1 2 2 2: FractionalMaxPool3d()
"""


@pytest.mark.parametrize(("line", "told"), list(zip(*[iter(LAYERS.strip().splitlines())] * 2)))
def test_layers(line, told):
    made, shape = line.split(" of ")
    layer = eval(f"nn.{made}", {"nn": nn})
    size = list(layer(libdl.rand(*map(int, shape.split()))).shape)
    assert told.strip() == f"# {' '.join(map(str, size))}: {layer!r}"


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_layers_that_reverse(dims):
    x = libdl.randn(2, 3, *[4] * dims)
    pool = getattr(nn, f"MaxPool{dims}d")(2, return_indices=True)
    back = getattr(nn, f"MaxUnpool{dims}d")(2)
    assert back(*pool(x), output_size=x.shape).shape == x.shape
    twos = str((2,) * dims)
    none = str((0,) * dims)
    assert repr(back) == f"MaxUnpool{dims}d(kernel_size={twos}, stride={twos}, padding={none})"
    adaptive = getattr(nn, f"AdaptiveMaxPool{dims}d")(2, return_indices=True)
    assert [r.shape for r in adaptive(x)] == [(2, 3, *[2] * dims)] * 2


def test_layers_that_are_refused():
    with pytest.raises(ValueError, match="neither of output_size and output_ratio"):
        nn.FractionalMaxPool2d(2)
    with pytest.raises(ValueError, match="both of output_size and output_ratio"):
        nn.FractionalMaxPool2d(2, 2, 0.5)
    with pytest.raises(ValueError, match="between 0 and 1"):
        nn.FractionalMaxPool3d(2, output_ratio=(0.5, 0.5, 1.0))


ROWS = [
    (1, (70,), {"kernel_size": 2}),
    (1, (1100,), {"kernel_size": 3, "stride": 1, "padding": 1}),
    (1, (65,), {"kernel_size": 5, "stride": 4, "padding": 2, "ceil_mode": True}),
    (1, (9,), {"kernel_size": 2, "stride": 7}),
    (1, (4000,), {"kernel_size": 3, "stride": 900}),
    (2, (6, 33), {"kernel_size": 3, "stride": 3}),
    (2, (5, 40), {"kernel_size": (3, 5), "stride": 2}),
    (2, (7, 19), {"kernel_size": (2, 4), "stride": (1, 3), "padding": (1, 2)}),
    (2, (9, 130), {"kernel_size": 8, "stride": 1, "padding": 4}),
    (2, (40, 5), {"kernel_size": (3, 1), "padding": (1, 0)}),
    (3, (4, 5, 18), {"kernel_size": 2}),
    (3, (5, 4, 17), {"kernel_size": 3, "stride": (2, 1, 2), "padding": 1, "ceil_mode": True}),
]


def in_both_orders(function, shape, dtype):
    """function(x) of a tensor in the order of its dimensions and with its channels innermost, of
    each the result's tensors and the gradient."""
    x = (libdl.arange(2 * 3 * libdl.Size(shape).numel()).view(2, 3, *shape) * 7919 % 251 - 90) / 8
    x = libdl.where(x == 2.5, NAN, libdl.where(x < -9, -float("inf"), x)).to(dtype)
    found = []
    for image in (x, x.movedim(1, -1).contiguous().movedim(-1, 1)):
        leaf = image.detach().requires_grad_()
        y = function(leaf)
        y, *more = y if isinstance(y, tuple) else (y,)
        arriving = (libdl.arange(y.numel()).view(y.shape) * 31 % 17 - 8) / 3
        y.backward(arriving.to(dtype))
        found.append([y, *more, leaf.grad])
    return zip(*found, strict=True)


def are_equal(a, b):
    return bool(libdl.where(a != a, b != b, a == b).all())


@pytest.mark.parametrize("dtype", [libdl.float32, libdl.float64, libdl.float16, libdl.bfloat16])
@pytest.mark.parametrize(("dims", "shape", "how"), ROWS)
def test_rows_give_what_innermost_channels_give(dims, shape, how, dtype):
    functions = [
        lambda x: getattr(F, f"max_pool{dims}d")(x, **how),
        lambda x: getattr(F, f"max_pool{dims}d")(x, **how, return_indices=True),
        lambda x: getattr(F, f"avg_pool{dims}d")(x, **how),
        lambda x: getattr(F, f"avg_pool{dims}d")(x, **how, count_include_pad=False),
    ]
    if dims > 1:
        functions.append(lambda x: getattr(F, f"avg_pool{dims}d")(x, **how, divisor_override=-3))
    for function in functions:
        assert all(are_equal(a, b) for a, b in in_both_orders(function, shape, dtype))


@pytest.mark.parametrize("dtype", [libdl.float32, libdl.bfloat16])
@pytest.mark.parametrize(
    ("size", "out"),
    [
        ((28, 28), (7, 7)),
        ((12, 40), (3, 20)),
        ((6, 9), (6, 3)),
        ((7, 7), (1, 1)),
        ((3, 10), (3, 10)),
        ((9, 31), (4, 5)),
        ((1, 60), (1, 12)),
    ],
)
def test_adaptive_rows_give_what_innermost_channels_give(size, out, dtype):
    for function in (F.adaptive_avg_pool2d, F.adaptive_max_pool2d):
        equal = in_both_orders(lambda x, f=function: f(x, out), size, dtype)
        assert all(are_equal(a, b) for a, b in equal)


@pytest.mark.parametrize("dilation", [1, 2, 3, 4])
@pytest.mark.parametrize("stride", [1, 2, 3, 6])
def test_dilated_rows_give_what_innermost_channels_give(stride, dilation):
    how = {"stride": stride, "padding": 2, "dilation": dilation, "return_indices": True}
    equal = in_both_orders(lambda x: F.max_pool2d(x, (4, 5), **how), (22, 75), libdl.float32)
    assert all(are_equal(a, b) for a, b in equal)


@pytest.mark.parametrize(
    "how", [{"stride": 1, "padding": 1}, {"stride": 3, "padding": 2, "dilation": 2}]
)
def test_of_nothing_but_the_lowest_the_first_inside_counts(how):
    x = libdl.full((1, 2, 9, 40), -float("inf"))
    found = F.max_pool2d(x, (4, 4), **how, return_indices=True)[1]
    deep = x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
    assert found.equal(F.max_pool2d(deep, (4, 4), **how, return_indices=True)[1])
    assert found[0, 0, 0, 0] == 0

# SPDX-License-Identifier: Apache-2.0
"""Convolutions as PyTorch's programs call them: words for padding, images without a batch, layers,
and forms that nobody sees."""

import itertools
import re
import warnings

import pytest

import libdl
from libdl import nn
from libdl.nn import functional as F


def drawn(*shape, dtype=libdl.float32):
    return libdl.randn(*shape, generator=libdl.Generator().manual_seed(sum(shape))).to(dtype)


def near(a, b, tolerance=1e-5):
    return a.shape == b.shape and float((a - b).abs().max()) <= tolerance


def test_same_keeps_the_sizes_and_pads_more_at_the_end():
    x, w = libdl.ones(1, 1, 3, 4), libdl.ones(1, 1, 2, 3)
    y = F.conv2d(x, w, padding="same")
    assert y.tolist() == [[[[4, 6, 6, 4], [4, 6, 6, 4], [2, 3, 3, 2]]]]  # as PyTorch's
    assert F.conv1d(libdl.ones(1, 1, 5), libdl.ones(1, 1, 4), padding="same").tolist() == [
        [[3, 4, 4, 3, 2]]
    ]
    assert F.conv2d(x, w, padding="valid").shape == (1, 1, 2, 2)
    assert F.conv3d(
        libdl.ones(1, 1, 3, 3, 3), libdl.ones(1, 1, 3, 1, 2), padding="same", dilation=(1, 2, 1)
    ).shape == (1, 1, 3, 3, 3)


@pytest.mark.parametrize("function, name", [(libdl.conv2d, "conv2d"), (F.conv2d, "conv2d")])
def test_words_that_are_no_padding_are_refused(function, name):
    x, w = libdl.ones(1, 1, 3, 4), libdl.ones(1, 1, 2, 3)
    with pytest.raises(ValueError, match=rf"{name}: argument 5 \(padding\) is 'full'"):
        function(x, w, padding="full")
    with pytest.raises(ValueError, match="'same', wanted numbers where the stride is not 1"):
        function(x, w, padding="same", stride=(1, 2))


def test_an_image_without_a_batch_has_a_result_without_one():
    x, w, b = drawn(3, 5, 6).requires_grad_(), drawn(4, 3, 3, 2), drawn(4)
    y = F.conv2d(x, w, b, stride=2, padding=1)
    assert y.shape == (4, 3, 4)
    assert y.grad_fn.name() == "Conv2dBackward0"
    assert near(y, F.conv2d(x[None], w, b, stride=2, padding=1)[0])
    y.sum().backward()
    assert x.grad.shape == x.shape


def test_groups_are_convolutions_of_their_own():
    x, w = drawn(2, 6, 7, 5), drawn(9, 2, 3, 3)
    parts = [F.conv2d(x[:, 2 * g : 2 * g + 2], w[3 * g : 3 * g + 3], padding=1) for g in range(3)]
    assert near(F.conv2d(x, w, padding=1, groups=3), libdl.cat(parts, 1))


def test_a_transposed_convolution_is_the_gradient_of_a_convolution():
    x, w = drawn(2, 3, 8, 7).requires_grad_(), drawn(5, 3, 3, 2)
    y = F.conv2d(x, w, stride=(2, 3), padding=(1, 0), dilation=(1, 2))
    g = drawn(*y.shape)
    (dx,) = libdl.autograd.grad(y, x, g)
    again = F.conv_transpose2d(
        g, w, stride=(2, 3), padding=(1, 0), dilation=(1, 2), output_padding=(1, 1)
    )
    assert near(dx, again)


@pytest.mark.parametrize("dtype, tolerance", [(libdl.float16, 2e-3), (libdl.bfloat16, 2e-2)])
def test_16_bits_are_summed_in_float32(dtype, tolerance):
    """One rounding at the end: of sums of about 10, half a unit in the last place each."""
    x, w, b = (drawn(*s, dtype=dtype) for s in ((2, 16, 6, 6), (8, 16, 3, 3), (8,)))
    y = F.conv2d(x, w, b, padding=1)
    wanted = F.conv2d(x.double(), w.double(), b.double(), padding=1)
    assert y.dtype == dtype
    assert float((y.double() - wanted).abs().max()) <= tolerance * float(wanted.abs().max())


def test_integers_wrap_and_complex_numbers_multiply():
    x = libdl.full((1, 1, 2), 100, dtype=libdl.uint8)
    assert F.conv1d(x, libdl.full((1, 1, 2), 2, dtype=libdl.uint8)).tolist() == [[[400 % 256]]]
    i = libdl.full((1, 1, 1), 1j)
    assert F.conv1d(i, i).item() == -1


@pytest.mark.parametrize(
    "shape, weight, groups",
    [
        ((3, 40, 30, 29), (70, 40, 3, 3), 1),
        ((3, 37, 60, 59), (37, 1, 3, 3), 37),
        ((3, 20, 60, 59), (40, 1, 5, 5), 20),
    ],
)
def test_the_bits_do_not_depend_on_the_number_of_threads(shape, weight, groups):
    x, w = drawn(*shape), drawn(*weight).requires_grad_()
    before, seen = libdl.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            libdl.set_num_threads(threads)
            leaf = x.clone().requires_grad_()
            y = F.conv2d(leaf, w, padding=1, groups=groups)
            y.backward(y.detach())
            seen.append((y.detach().clone(), leaf.grad, w.grad))
            w.grad = None
    finally:
        libdl.set_num_threads(before)
    for other in seen[1:]:
        assert all(libdl.equal(a, b) for a, b in zip(seen[0], other))


def whole(*shape):
    """From -3 to 3: sums of thousands of products are exact in float32."""
    return (drawn(*shape) * 2).clamp(-3, 3).to(libdl.int64)


# Channels that are no multiple of a vector, fewer than one, and more than a block of them; rows of
# every number of tiles and pixels beside them.
DEPTHWISE = [
    *(
        ((2, 37, 9, 7 + n), (37, 1, 3, 3), {"padding": 1, "stride": 1 + n % 2, "groups": 37})
        for n in range(16)
    ),
    ((3, 20, 31, 29), (20, 1, 5, 5), {"padding": 2, "groups": 20}),
    ((3, 20, 31, 30), (20, 1, 5, 5), {"padding": (2, 1), "stride": 2, "groups": 20}),
    ((2, 515, 14, 15), (515, 1, 3, 3), {"padding": 1, "groups": 515}),
    ((2, 3, 40, 41), (3, 1, 7, 5), {"padding": 3, "groups": 3}),  # fewer channels than a vector
    ((2, 24, 19, 23), (72, 1, 3, 3), {"padding": 1, "groups": 24}),  # three outputs for each
    ((2, 12, 30, 9), (24, 1, 3, 4), {"stride": (2, 5), "padding": (0, 2), "groups": 12}),
    ((2, 16, 21, 40), (16, 1, 3, 3), {"dilation": (2, 3), "padding": 4, "groups": 16}),
    ((2, 16, 3, 4), (16, 1, 7, 9), {"padding": (3, 6), "groups": 16}),  # larger than the image
    ((4, 70, 5000), (70, 1, 31), {"padding": 15, "groups": 70}),
    ((2, 10, 9, 12, 13), (10, 1, 3, 3, 3), {"padding": 1, "stride": (2, 1, 2), "groups": 10}),
]


@pytest.mark.parametrize(
    "shape, weight, how",
    [
        ((3, 48, 30, 29), (70, 48, 3, 3), {"padding": 1}),  # several blocks of k, tiles and parts
        (
            (2, 40, 33, 31),
            (1100, 40, 1, 1),
            {"stride": 2},
        ),  # many columns, inputs that nothing reaches
        ((5, 24, 35, 34), (36, 12, 3, 2), {"stride": (2, 3), "dilation": (1, 2), "groups": 2}),
        ((2, 9, 9001), (33, 9, 50), {"stride": 3, "padding": 7}),  # a bias over several parts
        ((1, 6, 12, 13, 14), (8, 6, 3, 3, 3), {"stride": (1, 2, 4), "padding": (2, 0, 1)}),
        *DEPTHWISE,
    ],
)
def test_large_ones_are_exact(shape, weight, how):
    """Integers go another way, by patches that are copied and products of matrices, so what the
    kernel cuts into tiles, and sums in parts, is compared with what is not cut."""
    x, w = whole(*shape), whole(*weight)
    b = whole(weight[0])
    function = getattr(F, f"conv{len(shape) - 2}d")
    back = getattr(F, f"conv_transpose{len(shape) - 2}d")
    leaves = [t.float().requires_grad_() for t in (x, w, b)]
    y = function(*leaves, **how)
    assert libdl.equal(y.to(libdl.int64), function(x, w, b, **how))
    g = whole(*y.shape)
    y.backward(g.float())
    dx, dw, db = (leaf.grad.to(libdl.int64) for leaf in leaves)
    # The input's: a transposed convolution, in which a stride leaves sizes open.
    turned = {"padding": 0} | how
    without = back(g, w, **turned).shape
    more = [a - b for a, b in zip(shape[2:], without[2:])]
    assert libdl.equal(dx, back(g, w, output_padding=more, **turned))
    # The weight's, tap by tap: products of g with what lies under the tap.
    assert libdl.equal(db, g.sum([d for d in range(g.ndim) if d != 1]))
    assert libdl.equal(dw, weight_gradient(x, g, weight, how))


def weight_gradient(x, g, weight, how):
    dims, groups = len(weight) - 2, how.get("groups", 1)
    stride, padding, dilation = (
        n if isinstance(n, tuple) else (n,) * dims
        for n in (how.get("stride", 1), how.get("padding", 0), how.get("dilation", 1))
    )
    around = libdl.zeros(
        *x.shape[:2], *(n + 2 * p for n, p in zip(x.shape[2:], padding)), dtype=x.dtype
    )
    around[(..., *(slice(p, p + n) for n, p in zip(x.shape[2:], padding)))] = x
    made = libdl.zeros(*weight, dtype=x.dtype)
    rows = g.transpose(0, 1).reshape(groups, weight[0] // groups, -1)
    for tap in itertools.product(*map(range, weight[2:])):
        under = around[
            (
                ...,
                *(
                    slice(t * d, t * d + (n - 1) * s + 1, s)
                    for t, d, n, s in zip(tap, dilation, g.shape[2:], stride)
                ),
            )
        ]
        columns = under.transpose(0, 1).reshape(groups, weight[1], -1)
        made[(..., *tap)] = (rows @ columns.mT).reshape(weight[0], weight[1])
    return made


def test_what_no_tap_reaches_is_zero():
    """In memory that held something else: the allocator gives out first what came back last."""
    x, w = drawn(2, 3, 20, 20), drawn(3, 4, 1, 1)
    for size in range(4):
        old = [libdl.full((2, 4, 58, 58 + k), libdl.nan) for k in range(size)]
        del old
        y = F.conv_transpose2d(x, w, stride=3)
        assert y.shape == (2, 4, 58, 58)
        y[:, :, ::3, ::3] = 0
        assert not y.any()


def test_without_channels_the_result_is_the_bias():
    b = drawn(3)
    y = F.conv2d(libdl.ones(2, 0, 4, 4), libdl.ones(3, 0, 2, 2), b)
    assert libdl.equal(y, b.view(1, 3, 1, 1).expand(2, 3, 3, 3))


def test_a_chain_stays_in_its_form():
    """Nothing between the layers asks for the plain bytes, so none are made."""
    net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3))
    x = drawn(2, 3, 9, 9)
    y = net(x)
    gradient = F.conv2d(x, drawn(8, 3, 3, 3)).detach()  # lies as y does
    with warnings.catch_warnings(record=True) as told, libdl.check_copies():
        warnings.simplefilter("always")
        net(x).backward(gradient)
        assert not told
        sum(gradient.tolist()[0][0][0])
        assert [str(w.message).startswith("plain") for w in told] == [True]
    assert y.is_contiguous() and y.stride() == (392, 49, 7, 1)


def test_a_view_of_a_result_is_row_major():
    x, w = drawn(2, 3, 5, 4), drawn(6, 3, 3, 3)
    y = F.conv2d(x, w)
    flat = y.view(2, -1)
    assert flat[1, 7].item() == y[1, 1, 0, 1].item()
    assert libdl.equal(y.flatten(), libdl.cat([part.flatten() for part in y]))


def test_layers_print_and_hold_what_pytorchs_do():
    layer = nn.Conv2d(4, 6, (3, 2), stride=2, padding="valid", groups=2, bias=False, dilation=2)
    assert repr(layer) == (
        "Conv2d(4, 6, kernel_size=(3, 2), stride=(2, 2), padding=valid, "
        "dilation=(2, 2), groups=2, bias=False)"
    )
    assert layer.weight.shape == (6, 2, 3, 2) and layer.bias is None
    assert repr(nn.Conv2d(3, 4, 3)) == "Conv2d(3, 4, kernel_size=(3, 3), stride=(1, 1))"
    turned = nn.ConvTranspose1d(4, 6, 3, stride=2, output_padding=1, groups=2)
    assert repr(turned) == (
        "ConvTranspose1d(4, 6, kernel_size=(3,), stride=(2,), output_padding=(1,), groups=2)"
    )
    assert turned.weight.shape == (4, 3, 3) and turned.bias.shape == (6,)
    assert list(turned.state_dict()) == ["weight", "bias"]
    bound = 1 / (4 * 3 * 3) ** 0.5
    assert all(p.abs().max() <= bound for p in nn.Conv2d(4, 5, 3).parameters())


def test_output_size_chooses_among_the_sizes_that_a_stride_leaves_open():
    layer = nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1)
    x = drawn(1, 2, 4, 4)
    assert layer(x).shape == (1, 3, 7, 7)
    assert layer(x, output_size=[8, 7]).shape == (1, 3, 8, 7)
    assert layer(x, output_size=[1, 3, 7, 8]).shape == (1, 3, 7, 8)
    with pytest.raises(
        ValueError, match=re.escape("output_size is (9, 7), wanted [7, 7] to [8, 8]")
    ):
        layer(x, output_size=[9, 7])
    with pytest.raises(ValueError, match="has 3 entries, wanted 2 or 4"):
        layer(x, output_size=[3, 7, 7])


@pytest.mark.parametrize(
    "wrong, error, message",
    [
        ({"groups": 2}, ValueError, "groups is 2, wanted a divisor of in_channels, 3"),
        ({"padding": "full"}, ValueError, "padding is 'full'"),
        ({"padding": "same", "stride": 2}, ValueError, "wants a stride of 1"),
        ({"padding_mode": "mirror"}, ValueError, "padding_mode is 'mirror'"),
    ],
)
def test_layers_refuse_what_they_cannot_do(wrong, error, message):
    with pytest.raises(error, match=message):
        nn.Conv2d(3, 4, 3, **wrong)


def test_a_network_of_convolutions_learns():
    """Which half of a signal is louder; a window over the whole signal can tell."""
    libdl.manual_seed(0)
    net = nn.Sequential(nn.Conv1d(1, 8, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 14, 2))
    optimizer = libdl.optim.Adam(net.parameters(), lr=0.01)
    x = libdl.randn(64, 1, 32)
    target = (x[:, 0, :16].square().sum(1) > x[:, 0, 16:].square().sum(1)).to(libdl.int64)
    first = None
    for _ in range(60):
        loss = F.cross_entropy(net(x), target)
        first = first or loss.item()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1 * first

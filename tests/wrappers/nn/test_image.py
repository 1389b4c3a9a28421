# SPDX-License-Identifier: Apache-2.0
"""Pixels moved and resampled as PyTorch's programs ask for it: words and numbers that stand for
several, layers, uint8 images, bits that do not depend on threads."""

import re

import pytest

import libdl
from libdl import nn
from libdl.nn import functional as F


def drawn(*shape, dtype=libdl.float32):
    return libdl.randn(*shape, generator=libdl.Generator().manual_seed(sum(shape))).to(dtype)


def near(a, b, tolerance=1e-5):
    return a.shape == b.shape and float((a - b).abs().max()) <= tolerance


def row(*numbers):
    return libdl.tensor([[list(map(float, numbers))]])


# -- pad -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mode, wanted",
    [
        ("constant", [0, 0, 1, 2, 3, 4, 0]),
        ("reflect", [3, 2, 1, 2, 3, 4, 3]),
        ("replicate", [1, 1, 1, 2, 3, 4, 4]),
        ("circular", [3, 4, 1, 2, 3, 4, 1]),
    ],
)
def test_modes_differ_in_what_they_add(mode, wanted):
    assert F.pad(row(1, 2, 3, 4), (2, 1), mode).tolist() == [[wanted]]


def test_numbers_below_0_leave_out():
    x = libdl.arange(12).reshape(3, 4)
    assert F.pad(x, (-1, -1, 0, -2)).tolist() == [[1, 2]]
    assert F.pad(x, (-1, 2), value=9).tolist()[0] == [1, 2, 3, 9, 9]
    # Edges are the whole input's; what is wrapped around is what was left.
    assert F.pad(row(1, 2, 3, 4), (-2, 1), "reflect").tolist() == [[[3, 4, 3]]]
    assert F.pad(row(1, 2, 3, 4), (-2, 1), "circular").tolist() == [[[3, 4, 3]]]


def test_a_result_is_a_new_tensor_and_keeps_the_dtype():
    x = libdl.arange(4)
    y = F.pad(x, (0, 0))
    y[0] = 7
    assert x[0] == 0 and y.dtype == libdl.int64 and F.pad(x, (-1, 0)).data_ptr() != x.data_ptr()
    assert F.pad(libdl.tensor([True]), (1, 0)).tolist() == [False, True]
    assert F.pad(libdl.tensor([1]), (1, 0), value=2.9).tolist() == [2, 1]  # as fill does


def test_a_pad_bears_its_name_in_graphs():
    x = row(1, 2, 3).requires_grad_()
    assert F.pad(x, (1, 1), "reflect").grad_fn.name() == "PadBackward0"
    assert F.interpolate(x, 6).grad_fn.name() == "InterpolateBackward0"
    assert F.pixel_shuffle(drawn(4, 1, 1).requires_grad_(), 2).grad_fn.name() == (
        "PixelShuffleBackward0"
    )


def test_gradients_in_16_bits_are_summed_in_float32():
    """An edge of 1 takes up 2048 times 1; in float16 the sum would stop there."""
    x = libdl.ones(1, 1, 2, dtype=libdl.float16).requires_grad_()
    F.pad(x, (2100, 0), "replicate").sum().backward()
    assert x.grad.tolist() == [[[2100, 1]]]  # 2101, rounded once


PADS = [
    (nn.ConstantPad1d, 1, (2.5,)),
    (nn.ConstantPad2d, 2, (2.5,)),
    (nn.ConstantPad3d, 3, (2.5,)),
    (nn.ZeroPad1d, 1, ()),
    (nn.ZeroPad2d, 2, ()),
    (nn.ZeroPad3d, 3, ()),
    (nn.ReflectionPad1d, 1, ()),
    (nn.ReflectionPad2d, 2, ()),
    (nn.ReflectionPad3d, 3, ()),
    (nn.ReplicationPad1d, 1, ()),
    (nn.ReplicationPad2d, 2, ()),
    (nn.ReplicationPad3d, 3, ()),
    (nn.CircularPad1d, 1, ()),
    (nn.CircularPad2d, 2, ()),
    (nn.CircularPad3d, 3, ()),
]


@pytest.mark.parametrize("layer, dims, more", PADS)
def test_layers_pad_one_to_three_dimensions(layer, dims, more):
    mode = {"C": "circular", "Z": "constant"}.get(layer.__name__[0])
    mode = {"Con": "constant", "Ref": "reflect", "Rep": "replicate"}.get(layer.__name__[:3], mode)
    x = drawn(2, 3, *[4] * dims)
    sides = tuple(range(1, 2 * dims + 1))[::-1] if mode == "constant" else (2, 1) * dims
    wanted = F.pad(x, sides, mode, *more) if more else F.pad(x, sides, mode)
    assert libdl.equal(layer(sides, *more)(x), wanted)
    assert layer(2, *more)(x).shape == (2, 3, *[8] * dims)
    with pytest.raises(ValueError, match=f"padding has 1 entries, wanted one or {2 * dims}"):
        layer((1,), *more)


def test_pads_print_as_pytorchs():
    assert repr(nn.ConstantPad1d(2, 3.5)) == "ConstantPad1d(padding=(2, 2), value=3.5)"
    assert repr(nn.ZeroPad2d(1)) == "ZeroPad2d((1, 1, 1, 1))"
    assert repr(nn.ReflectionPad1d((3, 1))) == "ReflectionPad1d((3, 1))"


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_a_convolution_pads_in_any_mode(mode, dims):
    make = getattr(nn, f"Conv{dims}d")
    layer = make(2, 3, 3, padding=2, dilation=2, padding_mode=mode)
    x = drawn(2, 2, *[6] * dims)
    wanted = getattr(F, f"conv{dims}d")(
        F.pad(x, (2,) * 2 * dims, mode), layer.weight, layer.bias, dilation=2
    )
    assert libdl.equal(layer(x), wanted)
    assert f"padding_mode={mode}" in repr(layer)
    assert make(2, 3, 4, padding="same", padding_mode=mode)(x).shape == (2, 3, *[6] * dims)
    assert make(2, 3, 3, padding="valid", padding_mode=mode)(x).shape == (2, 3, *[4] * dims)


def test_the_larger_half_of_same_comes_after():
    layer = nn.Conv1d(1, 1, 2, padding="same", padding_mode="circular", bias=False)
    layer.weight.data = libdl.tensor([[[1.0, 10.0]]])
    assert layer(row(1, 2, 3)).tolist() == [[[21, 32, 13]]]


# -- channels, windows -----------------------------------------------------------------------------


def test_channels_become_space_and_back():
    x = libdl.arange(8).reshape(1, 4, 1, 2)
    y = F.pixel_shuffle(x, 2)
    assert y.tolist() == [[[[0, 2, 1, 3], [4, 6, 5, 7]]]]
    assert libdl.equal(F.pixel_unshuffle(y, 2), x)
    assert libdl.equal(nn.PixelUnshuffle(2)(nn.PixelShuffle(2)(x)), x)
    assert nn.ChannelShuffle(2)(x)[0, :, 0, 0].tolist() == [0, 4, 2, 6]
    assert repr(nn.PixelShuffle(3)) == "PixelShuffle(upscale_factor=3)"
    assert repr(nn.PixelUnshuffle(3)) == "PixelUnshuffle(downscale_factor=3)"
    assert repr(nn.ChannelShuffle(2)) == "ChannelShuffle(groups=2)"
    assert F.pixel_unshuffle(libdl.ones(2, 0, 4, 4), 2).shape == (2, 0, 2, 2)


def test_a_convolution_is_a_product_with_unfolded_windows():
    x, w = drawn(2, 3, 7, 6), drawn(4, 3, 3, 2)
    how = {"dilation": (1, 2), "padding": (1, 0), "stride": 2}
    columns = F.unfold(x, (3, 2), **how)
    y = w.view(4, -1) @ columns
    assert near(y.view(2, 4, 4, 2), F.conv2d(x, w, stride=2, padding=(1, 0), dilation=(1, 2)))
    assert libdl.equal(nn.Unfold((3, 2), **how)(x), columns)


def test_fold_sums_what_unfold_repeats():
    x = drawn(2, 3, 5, 4)
    how = {"kernel_size": 3, "padding": 1}
    times = F.fold(F.unfold(libdl.ones_like(x), **how), (5, 4), **how)
    assert times[0, 0].tolist()[1] == [6, 9, 9, 6]
    assert near(F.fold(F.unfold(x, **how), (5, 4), **how), x * times)
    assert near(nn.Fold((5, 4), **how)(F.unfold(x, **how)), x * times)
    assert (
        repr(nn.Fold(4, 2)) == "Fold(output_size=4, kernel_size=2, dilation=1, padding=0, stride=1)"
    )
    assert repr(nn.Unfold(2)) == "Unfold(kernel_size=2, dilation=1, padding=0, stride=1)"


# -- other sizes -----------------------------------------------------------------------------------


def test_nearest_repeats_and_picks():
    assert F.interpolate(row(1, 2, 3), scale_factor=2).tolist() == [[[1, 1, 2, 2, 3, 3]]]
    assert F.interpolate(row(1, 2, 3, 4, 5), 2).tolist() == [[[1, 3]]]
    assert F.interpolate(row(1, 2, 3, 4, 5), 2, mode="nearest-exact").tolist() == [[[2, 4]]]


def test_nearest_moves_bits_as_they_are():
    x = libdl.tensor([[[float("nan"), float("inf"), -0.0]]])
    y = F.interpolate(x, 6)
    assert y.view(dtype=libdl.int32).tolist()[0][0][::2] == x.view(dtype=libdl.int32).tolist()[0][0]


def test_linear_as_pytorch():
    x = row(0, 4)
    assert F.interpolate(x, 4, mode="linear").tolist() == [[[0, 1, 3, 4]]]
    assert near(F.interpolate(x, 4, mode="linear", align_corners=True), row(0, 4 / 3, 8 / 3, 4))
    assert F.interpolate(row(0, 1, 2, 3), 2, mode="area").tolist() == [[[0.5, 2.5]]]


def test_a_factor_says_where_pixels_lie_unless_it_is_recomputed():
    x = row(*range(5))
    kept = F.interpolate(x, scale_factor=1.5, mode="linear")
    again = F.interpolate(x, scale_factor=1.5, mode="linear", recompute_scale_factor=True)
    assert kept.shape == again.shape == (1, 1, 7)
    assert abs(float(kept[0, 0, 1]) - 0.5) < 1e-6  # 1.5 / 1.5 - 0.5
    assert abs(float(again[0, 0, 1]) - (1.5 * 5 / 7 - 0.5)) < 1e-6


def test_uint8_images_are_weighted_in_integers():
    """Values of PyTorch 2.15."""
    x = libdl.tensor([[[[0, 255, 0, 100]]]], dtype=libdl.uint8)
    wide = F.interpolate(x, (1, 8), mode="bilinear")
    assert wide.dtype == libdl.uint8
    assert wide.tolist() == [[[[0, 64, 191, 191, 64, 25, 75, 100]]]]
    exact = F.interpolate(x.double(), (1, 8), mode="bicubic").clamp(0, 255)
    assert (F.interpolate(x, (1, 8), mode="bicubic").double() - exact).abs()[..., 2:6].max() <= 1


def test_layers_that_upsample():
    x = drawn(1, 2, 3, 4)
    assert libdl.equal(nn.Upsample(scale_factor=2)(x), F.interpolate(x, scale_factor=2.0))
    assert libdl.equal(
        nn.Upsample((5, 6), mode="bilinear", align_corners=True)(x),
        F.interpolate(x, (5, 6), mode="bilinear", align_corners=True),
    )
    assert libdl.equal(
        nn.UpsamplingNearest2d(scale_factor=2)(x), F.upsample_nearest(x, scale_factor=2)
    )
    assert libdl.equal(nn.UpsamplingBilinear2d(7)(x), F.upsample_bilinear(x, 7))
    assert libdl.equal(F.upsample(x, 7, mode="bicubic"), F.interpolate(x, 7, mode="bicubic"))
    assert repr(nn.Upsample(scale_factor=2)) == "Upsample(scale_factor=2.0, mode='nearest')"
    assert repr(nn.UpsamplingBilinear2d(7)) == "UpsamplingBilinear2d(size=7, mode='bilinear')"


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_the_bits_do_not_depend_on_the_number_of_threads(mode):
    x = drawn(2, 3, 90, 70)
    grid = F.affine_grid(drawn(2, 2, 3), (2, 3, 80, 60))
    before, seen = libdl.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            libdl.set_num_threads(threads)
            a, b = x.clone().requires_grad_(), grid.clone().requires_grad_()
            wide = F.interpolate(a, (130, 110), mode=mode)
            taken = F.grid_sample(a, b, mode)
            (wide.square().sum() + taken.square().sum()).backward()
            seen.append((wide, taken, a.grad, b.grad))
    finally:
        libdl.set_num_threads(before)
    for other in seen[1:]:
        assert all(libdl.equal(p, q) for p, q in zip(seen[0], other))


# -- grids -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("align", [False, True])
def test_the_identity_map_gives_the_image_back(align):
    x = drawn(2, 3, 5, 4)
    theta = libdl.tensor([[1.0, 0, 0], [0, 1, 0]]).expand(2, 2, 3)
    grid = F.affine_grid(theta, x.shape, align)
    for mode in ("bilinear", "nearest", "bicubic"):
        assert near(F.grid_sample(x, grid, mode, align_corners=align), x)


def test_what_lies_outside():
    x = row(1, 2, 3).unsqueeze(2)
    grid = libdl.tensor([[[[-2.0, 0.0], [0.0, 0.0], [2.0, 0.0]]]])
    for padding, wanted in (("zeros", [0, 2, 0]), ("border", [1, 2, 3]), ("reflection", [2, 2, 2])):
        taken = F.grid_sample(x, grid, "bilinear", padding, True)
        assert taken.flatten().tolist() == wanted, padding


def test_the_composition_has_the_kernels_gradient():
    """Under create_graph gradients are computed by other operators."""
    for dims, mode in (
        (2, "bilinear"),
        (2, "bicubic"),
        (2, "nearest"),
        (3, "bilinear"),
        (3, "bicubic"),
    ):
        x = drawn(2, 3, *[4] * dims, dtype=libdl.float64).requires_grad_()
        grid = (drawn(2, *[3] * dims, dims, dtype=libdl.float64) * 0.7).requires_grad_()
        for padding in ("zeros", "border", "reflection"):
            y = F.grid_sample(x, grid, mode, padding)
            g = drawn(*y.shape, dtype=libdl.float64)
            once = libdl.autograd.grad(y, (x, grid), g, retain_graph=True)
            again = libdl.autograd.grad(y, (x, grid), g, create_graph=True)
            assert all(near(a, b.detach(), 1e-12) for a, b in zip(once, again)), (mode, padding)


def test_no_alignment_is_no_alignment():
    x, grid = drawn(1, 1, 3, 3), drawn(1, 2, 2, 2)
    assert libdl.equal(F.grid_sample(x, grid), F.grid_sample(x, grid, align_corners=None))
    with pytest.raises(ValueError, match=re.escape("align_corners) is False, wanted None in mode")):
        F.interpolate(x, 2, align_corners=False)

# SPDX-License-Identifier: Apache-2.0
"""max_pool2d beyond what each operator's case asks: indices, memory order, layers. The numbers are
PyTorch 2.15's."""

import itertools

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


@pytest.mark.parametrize(("size", "how", "shape"), [
    (2, {}, (1, 2, 2, 2)), ((2, 3), {}, (1, 2, 2, 1)), (3, {"stride": 1, "padding": 1}, (1, 2, 5, 5)),
    (3, {"stride": 1, "padding": 1, "dilation": 2}, (1, 2, 3, 3)), (2, {"stride": []}, (1, 2, 2, 2)),
    (2, {"stride": 2, "ceil_mode": True}, (1, 2, 3, 3)),
    (3, {"stride": 4, "padding": 1, "ceil_mode": True}, (1, 2, 2, 2)),
])  # fmt: skip
def test_shapes(size, how, shape):
    assert F.max_pool2d(libdl.ones(1, 2, 5, 5), size, **how).shape == shape


@pytest.mark.parametrize(("size", "how"), [
    ((1, 2, 3), {}), (0, {}), (2, {"stride": 0}), (2, {"padding": 2}), (6, {}), (2, {"padding": -1}),
    (2, {"dilation": 0}), (2**31, {}),
])  # fmt: skip
def test_what_pytorch_refuses(size, how):
    with pytest.raises((ValueError, RuntimeError), match="max_pool2d: argument"):
        F.max_pool2d(libdl.ones(1, 2, 5, 5), size, **how)


@pytest.mark.parametrize("shape", [(5, 5), (1, 0, 5, 5), (1, 2, 0, 5), (1, 1, 2, 5, 5)])
def test_shapes_that_are_refused(shape):
    with pytest.raises(ValueError, match=r"max_pool2d: argument 1 \(input\) has shape"):
        F.max_pool2d(libdl.ones(shape), 2)


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
            (1, 2, 3), (2, 3), (1, 2), (1, 2, 3), (1, 2, 3, 4)):  # fmt: skip
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
            wanted = [max(s + k * dilation for k in range(kernel) if 0 <= s + k * dilation < size)
                      for s in starts]  # fmt: skip
            assert F.max_pool2d(x, (1, kernel), **how).tolist() == [[wanted]]


def test_a_gradient_is_added_as_often_as_an_element_was_taken():
    x = libdl.tensor([[[1.0, 2, 3], [4, 9, 6], [7, 8, 5]]], requires_grad=True)
    F.max_pool2d(x, 2, 1).sum().backward()
    assert x.grad.tolist() == [[[0, 0, 0], [0, 4, 0], [0, 0, 0]]]


def test_the_layer():
    pool = nn.MaxPool2d(3, 2, padding=1, return_indices=True)
    values, indices = pool(libdl.arange(16.0).view(1, 4, 4))
    assert values.tolist() == [[[5, 7], [13, 15]]] and indices.tolist() == [[[5, 7], [13, 15]]]
    assert repr(pool) == "MaxPool2d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=False)"
    assert repr(nn.MaxPool2d(2)).startswith("MaxPool2d(kernel_size=2, stride=2")

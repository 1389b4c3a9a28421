# SPDX-License-Identifier: Apache-2.0
"""Convolutions with all of their results, and memory between pages that nobody may touch."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any, NamedTuple

import numpy as np

import libdl
import libdl.nn.functional as F
from cases_conv import convolved, spread


class Layer(NamedTuple):
    n: int
    c: int
    image: tuple[int, ...]
    k: int
    window: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int = 1

    def operands(self, dtype: Any) -> list[Any]:
        """Input, weights and bias."""
        libdl.manual_seed(self.c)
        each = self.c // self.groups
        x = libdl.randn(self.n, self.c, *self.image)
        w = libdl.randn(self.k, each, *self.window) / each**0.5
        return [t.to(dtype) for t in (x, w, libdl.randn(self.k))]

    def convolve(self, x: Any, w: Any, b: Any) -> Any:
        function = (F.conv1d, F.conv2d, F.conv3d)[x.ndim - 3]
        return function(x, w, b, self.stride, self.padding, self.dilation, self.groups)

    def results(self, tensors: list[Any], dy: Any) -> list[Any]:
        """Output and gradients; dy is a function of the output that gives its gradient."""
        x, w, b = (t.detach().requires_grad_() for t in tensors)
        y = self.convolve(x, w, b)
        y.backward(dy(y))
        return [y.detach(), x.grad, w.grad, b.grad]


def ones_and_twos(y: Any) -> Any:
    return 1.0 + (libdl.arange(y.numel()) % 2).reshape(y.shape).to(y.dtype)


def check_threads(layer: Layer, tensors: list[Any]) -> None:
    """The bits depend neither on the number of threads nor on how the operands lie in memory."""
    wanted = layer.results(tensors, ones_and_twos)
    other = [t.transpose(0, -1).contiguous().transpose(0, -1) for t in tensors[:2]] + tensors[2:]
    before = libdl.get_num_threads()
    try:
        for threads in (1, 2, 3):
            libdl.set_num_threads(threads)
            found = layer.results(other, ones_and_twos)
            assert all(libdl.equal(y, e) for y, e in zip(found, wanted, strict=True))
    finally:
        libdl.set_num_threads(before)


class Guarded:
    """Memory between two pages that nobody may touch."""

    PAGE = mmap.PAGESIZE

    def __init__(self, size):
        self.room = -(-size // self.PAGE) * self.PAGE
        self.map = mmap.mmap(-1, self.room + 2 * self.PAGE)
        first = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        for page in (first, first + self.PAGE + self.room):
            assert protect(ctypes.c_void_p(page), self.PAGE, 0) == 0

    def holding(self, x, at_end):
        """x, its channels innermost, at the very beginning or end."""
        inner = x.movedim(1, -1).contiguous()
        size = x.numel() * x.element_size()
        begin = self.PAGE + (self.room - size if at_end else 0)
        bytes_ = memoryview(self.map)[begin : begin + size]
        held = libdl.frombuffer(bytes_, dtype=x.dtype).reshape(inner.shape)
        return held.copy_(inner).movedim(-1, 1)


def check_guarded(layer: Layer, tensors: list[Any], at_end: bool) -> None:
    """Nothing around input, weights and the output's gradient is read."""
    wanted = layer.results(tensors, ones_and_twos)
    x, w, b = tensors
    dy = ones_and_twos(wanted[0])
    guards = [Guarded(t.numel() * t.element_size()) for t in (x, w, dy)]
    held_x, held_w, held_dy = (
        guard.holding(t, at_end) for guard, t in zip(guards, (x, w, dy), strict=True)
    )
    found = layer.results([held_x, held_w, b], lambda y: held_dy)
    assert all(libdl.equal(y, e) for y, e in zip(found, wanted, strict=True))


# How far a sum in float may be from the exact one is told by its dtype's last place, and by how
# its terms, of both signs, add up: by 1,000 of them at most sqrt(1000) of these places are met.
PLACES = {
    libdl.float64: 2**-52,
    libdl.float32: 2**-23,
    libdl.bfloat16: 2**-8,
    libdl.float16: 2**-11,
}


def exact(layer, tensors, dy):
    """Output and the gradients of input and weights, tap by tap in float64."""
    x, w, b = (t.double().numpy() for t in tensors)
    how = (layer.stride, layer.padding, layer.dilation, layer.groups)
    y = convolved(x, w, b, *how)
    dy = dy.double().numpy()
    rest = [
        size + 2 * p - d * (t - 1) - 1 - s * (out - 1)
        for size, p, d, t, s, out in zip(
            layer.image,
            layer.padding,
            layer.dilation,
            layer.window,
            layer.stride,
            y.shape[2:],
            strict=True,
        )
    ]
    dx = spread(dy, w, None, layer.stride, layer.padding, rest, layer.groups, layer.dilation)
    return y, dx, weights_gradient(layer, x, dy)


def weights_gradient(layer, x, dy):
    """The rows of a batch are summed over: inputs convolved with the output's gradient."""
    n, g = layer.n, layer.groups
    x = x.reshape(n, g, -1, *layer.image).swapaxes(0, 2)  # [c, g, n]
    dy = dy.reshape(n, g, -1, *dy.shape[2:]).swapaxes(0, 1)  # [g, n, k]
    parts = [
        convolved(x[:, i], dy[i].swapaxes(0, 1), None, layer.dilation, layer.padding, layer.stride)
        for i in range(g)
    ]
    dw = np.stack(parts, 1).transpose(1, 2, 0, *range(3, x.ndim))  # [c, g, k] to [g, k, c]
    dw = dw.reshape(layer.k, layer.c // g, *dw.shape[3:])
    return dw[(..., *(slice(size) for size in layer.window))]


def check_exact(layer: Layer, dtype: Any) -> None:
    """Output and gradients are those of sums tap by tap."""
    tensors = layer.operands(dtype)
    y, dx, dw, _ = layer.results(tensors, ones_and_twos)
    place = PLACES[dtype]
    for found, wanted in zip((y, dx, dw), exact(layer, tensors, ones_and_twos(y)), strict=True):
        # 16-bit results are sums in float32, rounded once.
        limit = abs(wanted) * place + abs(wanted).max() * min(place, 2**-23) * 32
        assert found.dtype == dtype and found.shape == wanted.shape
        assert (abs(found.double().numpy() - wanted) <= limit).all()

# SPDX-License-Identifier: Apache-2.0
"""Convolutions with all of their results, and memory between pages that nobody may touch."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any, NamedTuple

import libdl
import libdl.nn.functional as F


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

# SPDX-License-Identifier: Apache-2.0
"""Convolutions of bfloat16, which have ways of their own on processors with a matrix unit: windows
that are gathered, single pixels that are rows of a matrix, steps of 32 values that taps share."""

import ctypes
import mmap
import os
import subprocess
import sys

import pytest

import libdl
import libdl.nn.functional as F

# n, c, image, k, window, stride, padding, dilation, groups
SHAPES = {
    "one pixel a window": (2, 64, (7, 9), 40, (1, 1), (1, 1), (0, 0), (1, 1), 1),
    "every second pixel": (2, 33, (8, 9), 32, (1, 1), (2, 2), (0, 0), (1, 1), 1),
    "three channels": (3, 3, (20, 21), 64, (7, 7), (2, 2), (3, 3), (1, 1), 1),
    "taps share steps": (1, 24, (12, 17), 48, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    "k in three parts": (2, 160, (8, 7), 72, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    "columns in three parts": (1, 40, (5, 6), 600, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    "groups": (2, 96, (7, 7), 64, (3, 3), (1, 1), (1, 1), (1, 1), 2),
    "dilated": (1, 32, (11, 12), 32, (3, 3), (1, 1), (2, 2), (2, 2), 1),
    "dilated and strided": (1, 16, (13, 12), 24, (3, 2), (2, 3), (2, 1), (2, 1), 1),
    "wider than high": (1, 32, (3, 50), 16, (1, 5), (1, 2), (0, 2), (1, 1), 1),
    "a line": (3, 48, (70,), 40, (4,), (3,), (2,), (1,), 1),
    "a volume": (1, 20, (5, 6, 7), 33, (3, 2, 3), (1, 2, 1), (1, 0, 1), (1, 1, 1), 1),
    "more pixels than are gathered at once": (2, 32, (40, 41), 32, (3, 3), (1, 1), (1, 1), (1, 1), 1),
}  # fmt: skip


def operands(name):
    n, c, image, k, window, *_, groups = SHAPES[name]
    libdl.manual_seed(len(name))
    each = c // groups
    x, w = libdl.randn(n, c, *image), libdl.randn(k, each, *window) / each**0.5
    return [t.to(libdl.bfloat16) for t in (x, w, libdl.randn(k))]


def all_of(name, tensors, dy):
    """Output and gradients; dy is the output's gradient, made of its shape."""
    *_, stride, padding, dilation, groups = SHAPES[name]
    x, w, b = (t.detach().requires_grad_() for t in tensors)
    convolve = (F.conv1d, F.conv2d, F.conv3d)[x.ndim - 3]
    y = convolve(x, w, b, stride, padding, dilation, groups)
    y.backward(dy(y))
    return y.detach(), x.grad, w.grad, b.grad


def ones_and_twos(y):
    return 1.0 + (libdl.arange(y.numel()) % 2).reshape(y.shape).to(y.dtype)


@pytest.mark.parametrize("name", SHAPES)
def test_sums_are_in_float32_and_rounded_once(name):
    tensors = operands(name)
    found = all_of(name, tensors, ones_and_twos)
    exact = all_of(name, [t.double() for t in tensors], ones_and_twos)
    for y, e in zip(found, exact, strict=True):
        assert y.dtype == libdl.bfloat16
        # Half a unit in the last place of bfloat16 is at most 2^-8 of a number; sums of float32, of which the
        # longest has some 10,000 terms, err by less than 2^-16 of the largest.
        limit = e.abs() * (2**-8 + 2**-16) + e.abs().max() * 2**-16
        assert bool(((y.double() - e).abs() <= limit).all())


@pytest.mark.parametrize("name", SHAPES)
def test_bits_do_not_depend_on_threads_or_on_how_operands_lie(name):
    tensors = operands(name)
    wanted = all_of(name, tensors, ones_and_twos)
    other = [t.transpose(0, -1).contiguous().transpose(0, -1) for t in tensors[:2]] + tensors[2:]
    before = libdl.get_num_threads()
    try:
        for threads in (1, 2, 3):
            libdl.set_num_threads(threads)
            found = all_of(name, other, ones_and_twos)
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
        size = x.numel() * 2
        begin = self.PAGE + (self.room - size if at_end else 0)
        bytes_ = memoryview(self.map)[begin : begin + size]
        held = libdl.frombuffer(bytes_, dtype=libdl.bfloat16).reshape(inner.shape)
        return held.copy_(inner).movedim(-1, 1)


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("name", SHAPES)
def test_nothing_around_the_operands_is_read(name, at_end):
    tensors = operands(name)
    wanted = all_of(name, tensors, ones_and_twos)
    x, w, b = tensors
    dy = ones_and_twos(wanted[0])
    guards = [Guarded(t.numel() * 2) for t in (x, w, dy)]
    held_x, held_w, held_dy = (
        guard.holding(t, at_end) for guard, t in zip(guards, (x, w, dy), strict=True)
    )
    found = all_of(name, [held_x, held_w, b], lambda y: held_dy)
    assert all(libdl.equal(y, e) for y, e in zip(found, wanted, strict=True))


def test_without_the_matrix_unit_they_are_the_same_but_for_rounding():
    """LIBDL_CPU=avx512 leaves the unit unused; on machines without one, both ways are the same."""
    code = (
        "import sys, libdl; sys.path.insert(0, sys.argv[1]); import test_bfloat_convolutions as t\n"
        "name = 'k in three parts'\n"
        "print([y.float().sum().item() for y in t.all_of(name, t.operands(name), t.ones_and_twos)])"
    )
    sums = []
    for cpu in ("", "avx512"):
        environment = {**os.environ, **({"LIBDL_CPU": cpu} if cpu else {})}
        command = [sys.executable, "-B", "-c", code, os.path.dirname(__file__)]
        told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        sums.append([float(x) for x in told.stdout.strip()[1:-1].split(",")])
    # Each sum has some 10,000 elements of size 1 to 100, each within half of 2^-8 of itself.
    assert sums[0] == pytest.approx(sums[1], rel=2e-3, abs=10)

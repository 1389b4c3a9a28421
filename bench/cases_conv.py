# SPDX-License-Identifier: Apache-2.0
"""Convolutions of ResNet-50, a batch of 8: forward, and with both gradients. PyTorch's tensors have
their channels innermost, which is its faster way; libdl has no such argument."""

from typing import Any

from registry import Call, case, ramp

SHAPES = [  # name, channels, size, channels of the result, window, stride, padding
    ("3x3, 64 at 56", 64, 56, 64, 3, 1, 1),
    ("1x1, 64 to 256 at 56", 64, 56, 256, 1, 1, 0),
    ("3x3 / 2, 128 at 56", 128, 56, 128, 3, 2, 1),
    ("3x3, 256 at 14", 256, 14, 256, 3, 1, 1),
    ("1x1, 2,048 to 512 at 7", 2048, 7, 512, 1, 1, 0),
    ("7x7 / 2, 3 at 224", 3, 224, 64, 7, 2, 3),
]


def operands(m: Any, c: int, size: int, k: int, window: int) -> tuple[Any, Any]:
    x, w = ramp(m, 8, c, size, size), ramp(m, k, c, window, window)
    return tuple(t.contiguous(memory_format=m.channels_last) if m.channels_last else t
                 for t in (x, w))  # fmt: skip


for name, c, size, k, window, stride, padding in SHAPES:

    @case(f"conv2d {name}")
    def _(m: Any, c: int = c, size: int = size, k: int = k, window: int = window,
          stride: int = stride, padding: int = padding) -> Call:  # fmt: skip
        x, w = operands(m, c, size, k, window)
        return lambda: m.conv2d(x, w, None, stride, padding)

    @case(f"conv2d {name}, and backward")
    def _(m: Any, c: int = c, size: int = size, k: int = k, window: int = window,
          stride: int = stride, padding: int = padding) -> Call:  # fmt: skip
        x, w = (t.requires_grad_() for t in operands(m, c, size, k, window))

        def run() -> Any:
            x.grad = w.grad = None
            y = m.conv2d(x, w, None, stride, padding)
            y.backward(y.detach())
            return w.grad

        return run

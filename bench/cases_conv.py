# SPDX-License-Identifier: Apache-2.0
"""Convolutions of ResNet-50, of MobileNet and to a picture, a batch of 8: forward, and with both
gradients. PyTorch's tensors have their channels innermost, which is its faster way; libdl has no
such argument."""

from typing import Any

from registry import Call, case, ramp

SHAPES = [  # name, channels, size, channels of the result, window, stride, padding
    ("3x3, 64 at 56", 64, 56, 64, 3, 1, 1),
    ("1x1, 64 to 256 at 56", 64, 56, 256, 1, 1, 0),
    ("3x3 / 2, 128 at 56", 128, 56, 128, 3, 2, 1),
    ("3x3, 256 at 14", 256, 14, 256, 3, 1, 1),
    ("1x1, 2,048 to 512 at 7", 2048, 7, 512, 1, 1, 0),
    ("7x7 / 2, 3 at 224", 3, 224, 64, 7, 2, 3),
    ("3x3, 64 to 3 at 128", 64, 128, 3, 3, 1, 1),
]

DEPTHWISE = [  # name, channels, size, window, stride
    ("3x3, 32 at 112", 32, 112, 3, 1),
    ("3x3 / 2, 64 at 112", 64, 112, 3, 2),
    ("3x3, 128 at 56", 128, 56, 3, 1),
    ("3x3, 512 at 14", 512, 14, 3, 1),
    ("3x3, 1,024 at 7", 1024, 7, 3, 1),
    ("5x5, 128 at 28", 128, 28, 5, 1),
]


def operands(
    m: Any, c: int, size: int, k: int, window: int, groups: int, dtype: str = "float32"
) -> tuple[Any, Any]:
    """c: the channels of a group."""
    x = ramp(m, 8, c * groups, size, size, dtype=dtype)
    w = ramp(m, k, c, window, window, dtype=dtype)
    return tuple(
        t.contiguous(memory_format=m.channels_last) if m.channels_last else t for t in (x, w)
    )


CASES = [
    (name, "float32", (c, size, k, window), (stride, padding, 1, 1))
    for name, c, size, k, window, stride, padding in SHAPES
]
# One filter a group.
CASES += [
    (f"depthwise {name}", "float32", (1, size, c, window), (stride, window // 2, 1, c))
    for name, c, size, window, stride in DEPTHWISE
]
# Groups of a few channels.
CASES += [("3x3, 128 at 56 in 32 groups", "float32", (4, 56, 128, 3), (1, 1, 1, 32))]
CASES += [(f"bfloat16 {name}", "bfloat16", *rest) for name, _, *rest in CASES[: len(SHAPES)]]

for name, dtype, sizes, how in CASES:

    @case(f"conv2d {name}")
    def _(m: Any, dtype: Any = dtype, sizes: Any = sizes, how: Any = how) -> Call:
        x, w = operands(m, *sizes, groups=how[-1], dtype=dtype)
        return lambda: m.conv2d(x, w, None, *how)

    @case(f"conv2d {name}, and backward")
    def _(m: Any, dtype: Any = dtype, sizes: Any = sizes, how: Any = how) -> Call:
        x, w = (t.requires_grad_() for t in operands(m, *sizes, groups=how[-1], dtype=dtype))

        def run() -> Any:
            x.grad = w.grad = None
            y = m.conv2d(x, w, None, *how)
            y.backward(y.detach())
            return w.grad

        return run

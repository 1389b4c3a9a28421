# SPDX-License-Identifier: Apache-2.0
"""Layers and functions of shapes that the six networks do not have: few channels, one window, a
long dimension, 16 bits, whole images of one number."""

import functools
from collections.abc import Callable
from typing import Any, cast

from registry import Call, case, drawn, ramp

F32, F16, BF16 = "float32", "float16", "bfloat16"


def row(
    name: str,
    call: Callable[..., Any],
    *shapes: tuple[int, ...],
    dtype: str = F32,
    backward: bool = False,
) -> None:
    """A row of call(m, *tensors) of these shapes; its backward pass is a row of its own."""

    def make(m: Any) -> Call:
        tensors = [drawn(m, shape, dtype, i) for i, shape in enumerate(shapes)]
        return lambda: call(m, *tensors)

    def make_backward(m: Any) -> Call:
        tensors = [drawn(m, shape, dtype, i).requires_grad_() for i, shape in enumerate(shapes)]
        gradient = drawn(m, tuple(call(m, *tensors).shape), dtype, len(shapes))

        def step() -> Any:
            for t in tensors:
                t.grad = None
            call(m, *tensors).backward(gradient)
            return tensors[0].grad

        return step

    kind = "" if dtype == F32 else f" {dtype}"
    case(name + kind)(make)
    if backward:
        case(f"{name}{kind} and backward")(make_backward)


@functools.cache  # to look for what is not there takes longer than many a call
def found(m: Any, name: str) -> Callable[..., Any]:
    function = getattr(m.nn.functional, name, None) or getattr(m, name)
    return cast(Callable[..., Any], function)


def f(name: str, *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """A function of torch.nn.functional, or of torch."""

    def call(m: Any, *tensors: Any) -> Any:
        return found(m, name)(*tensors, *args, **kwargs)

    return call


# Distances.
row("cdist 100 x 3", f("cdist"), (100, 3), (100, 3), backward=True)
row("cdist 500 x 16, manhattan", f("cdist", p=1.0), (500, 16), (500, 16))
row("cdist 1000 x 20", f("cdist"), (1000, 20), (1000, 20), backward=True)
row("cdist 1000 x 128", f("cdist"), (1000, 128), (1000, 128), backward=True)
row("pdist 500 x 32", f("pdist"), (500, 32), backward=True)

# Pools.
row("max_pool1d 16 x 32 x 1024, 2", f("max_pool1d", 2), (16, 32, 1024), backward=True)
row("max_pool1d 16 x 32 x 1024, 3 by 1", f("max_pool1d", 3, 1, 1), (16, 32, 1024))
for dtype in (F32, F16, BF16):
    row(
        "adaptive_avg_pool1d 16 x 64 x 1024, 1",
        f("adaptive_avg_pool1d", 1),
        (16, 64, 1024),
        dtype=dtype,
    )
    row(
        "adaptive_avg_pool2d 32 x 512 x 7 x 7, 1",
        f("adaptive_avg_pool2d", 1),
        (32, 512, 7, 7),
        dtype=dtype,
        backward=True,
    )
    row(
        "adaptive_avg_pool2d 16 x 64 x 56 x 56, 1",
        f("adaptive_avg_pool2d", 1),
        (16, 64, 56, 56),
        dtype=dtype,
        backward=True,
    )
    row(
        "max_pool2d 16 x 64 x 56 x 56, 2",
        f("max_pool2d", 2),
        (16, 64, 56, 56),
        dtype=dtype,
        backward=True,
    )
row(
    "adaptive_avg_pool2d 16 x 64 x 28 x 28, 7",
    f("adaptive_avg_pool2d", 7),
    (16, 64, 28, 28),
    backward=True,
)
row(
    "adaptive_avg_pool3d 4 x 32 x 8 x 16 x 16, 1",
    f("adaptive_avg_pool3d", 1),
    (4, 32, 8, 16, 16),
    backward=True,
)
row(
    "mean of images 16 x 64 x 56 x 56", lambda m, x: x.mean((2, 3)), (16, 64, 56, 56), backward=True
)
row("avg_pool1d 16 x 32 x 1024, 4", f("avg_pool1d", 4), (16, 32, 1024), backward=True)
row("avg_pool2d 16 x 64 x 56 x 56, 2", f("avg_pool2d", 2), (16, 64, 56, 56), backward=True)
row(
    "avg_pool2d 16 x 64 x 56 x 56, 3 by 1",
    f("avg_pool2d", 3, 1, 1),
    (16, 64, 56, 56),
    backward=True,
)
row("avg_pool3d 4 x 16 x 16 x 16 x 16, 2", f("avg_pool3d", 2), (4, 16, 16, 16, 16), backward=True)
row("lp_pool2d 16 x 32 x 28 x 28, 2", f("lp_pool2d", 2.0, 2), (16, 32, 28, 28))


def fractional(m: Any, x: Any) -> Any:
    samples = m.full((x.shape[0], x.shape[1], 2), 0.3)
    return m.nn.functional.fractional_max_pool2d(x, 2, (14, 14), _random_samples=samples)


row("fractional_max_pool2d 16 x 32 x 28 x 28", fractional, (16, 32, 28, 28), backward=True)

# Convolutions.
conv1d, conv2d, conv3d = f("conv1d"), f("conv2d"), f("conv3d")
row("conv2d 256 to 1, 1 x 1, 8 x 32 x 32", conv2d, (8, 256, 32, 32), (1, 256, 1, 1), backward=True)
row("conv2d 1 to 1, 11 x 11, 8 x 64 x 64", conv2d, (8, 1, 64, 64), (1, 1, 11, 11), backward=True)
row("conv2d 3 to 3, 3 x 3, 8 x 64 x 64", conv2d, (8, 3, 64, 64), (3, 3, 3, 3), backward=True)
row("conv2d 1 to 16, 5 x 5, 32 x 28 x 28", conv2d, (32, 1, 28, 28), (16, 1, 5, 5), backward=True)
row("conv2d 3 to 16, 3 x 3, 8 x 64 x 64", conv2d, (8, 3, 64, 64), (16, 3, 3, 3), backward=True)
row(
    "conv2d depthwise 7 x 7, 4 x 96 x 28 x 28",
    f("conv2d", None, 1, 3, 1, 96),
    (4, 96, 28, 28),
    (96, 1, 7, 7),
    backward=True,
)
for dtype in (F32, BF16):
    row(
        "conv2d 32 groups of 4, 4 x 128 x 28 x 28",
        f("conv2d", None, 1, 1, 1, 32),
        (4, 128, 28, 28),
        (128, 4, 3, 3),
        dtype=dtype,
        backward=True,
    )
row(
    "conv1d 1 to 64, 400 by 160, 4 x 16000",
    f("conv1d", None, 160),
    (4, 1, 16000),
    (64, 1, 400),
    backward=True,
)
row(
    "conv1d 64 to 64, 3, 8 x 512", f("conv1d", None, 1, 1), (8, 64, 512), (64, 64, 3), backward=True
)
row(
    "conv3d 3 to 16, 3 x 3 x 3, 2 x 8 x 32 x 32",
    conv3d,
    (2, 3, 8, 32, 32),
    (16, 3, 3, 3, 3),
    backward=True,
)
row(
    "conv_transpose2d 100 to 256, 1 x 1 to 4 x 4, 32",
    f("conv_transpose2d"),
    (32, 100, 1, 1),
    (100, 256, 4, 4),
    backward=True,
)
row(
    "conv_transpose2d 128 to 64, 4 by 2, 16 x 8 x 8",
    f("conv_transpose2d", None, 2, 1),
    (16, 128, 8, 8),
    (128, 64, 4, 4),
    backward=True,
)

# Normalisations.


def batch_norm(training: bool) -> Callable[..., Any]:
    def call(m: Any, x: Any, w: Any, b: Any) -> Any:
        c = x.shape[1]
        mean, var = m.zeros(c, dtype=x.dtype), m.ones(c, dtype=x.dtype)
        return m.nn.functional.batch_norm(x, mean, var, w, b, training)

    return call


row("batch_norm 32 x 3 x 64 x 64", batch_norm(True), (32, 3, 64, 64), (3,), (3,), backward=True)
row("batch_norm 16 x 64 x 28 x 28", batch_norm(True), (16, 64, 28, 28), (64,), (64,), backward=True)
row("batch_norm 128 x 256", batch_norm(True), (128, 256), (256,), (256,), backward=True)
for dtype in (F32, F16, BF16):
    row(
        "batch_norm in evaluation 16 x 64 x 28 x 28",
        batch_norm(False),
        (16, 64, 28, 28),
        (64,),
        (64,),
        dtype=dtype,
    )
    row("layer_norm 64 x 768", f("layer_norm", (768,)), (64, 768), dtype=dtype, backward=True)
    row(
        "group_norm 8 x 64 x 28 x 28",
        f("group_norm", 8),
        (8, 64, 28, 28),
        dtype=dtype,
        backward=True,
    )
    row("instance_norm 8 x 64 x 28 x 28", f("instance_norm"), (8, 64, 28, 28), dtype=dtype)
    row("rms_norm 64 x 768", f("rms_norm", (768,)), (64, 768), dtype=dtype, backward=True)

# Rows and channels.
for name in ("softmax", "log_softmax"):
    row(f"{name} of channels, 8 x 21 x 64 x 64", f(name, 1), (8, 21, 64, 64), backward=True)
    row(f"{name} of rows, 256 x 1000", f(name, 1), (256, 1000), backward=True)
    row(f"{name} along 0, 1000 x 256", f(name, 0), (1000, 256), dtype=BF16)
row("silu 1,000,000", f("silu"), (1_000_000,), dtype=BF16)
row("prelu of channels, 8 x 64 x 28 x 28", f("prelu"), (8, 64, 28, 28), (64,), backward=True)
row("dropout in evaluation 1,000,000", f("dropout", 0.5, False), (1_000_000,))

# Places in between.


def sampled(m: Any, x: Any, grid: Any) -> Any:
    return m.nn.functional.grid_sample(x, grid, align_corners=False)


row("grid_sample 8 x 16 x 32 x 32", sampled, (8, 16, 32, 32), (8, 32, 32, 2), backward=True)
row(
    "interpolate linear 8 x 16 x 512 to 1024",
    f("interpolate", scale_factor=2.0, mode="linear"),
    (8, 16, 512),
    backward=True,
)
row(
    "interpolate bilinear 8 x 16 x 32 x 32 to 64",
    f("interpolate", scale_factor=2.0, mode="bilinear"),
    (8, 16, 32, 32),
    backward=True,
)
row(
    "interpolate bicubic 8 x 3 x 32 x 32 to 64",
    f("interpolate", scale_factor=2.0, mode="bicubic"),
    (8, 3, 32, 32),
)
row(
    "interpolate nearest 8 x 16 x 32 x 32 to 64",
    f("interpolate", scale_factor=2.0),
    (8, 16, 32, 32),
    backward=True,
)
row("fold 8 x 144 x 784, 3 x 3", f("fold", (28, 28), 3, 1, 1), (8, 144, 784), backward=True)
row("unfold 8 x 16 x 28 x 28, 3 x 3", f("unfold", 3, 1, 1), (8, 16, 28, 28), backward=True)

# Attention and embeddings.


def attended(m: Any, q: Any, k: Any, v: Any) -> Any:
    return m.nn.functional.scaled_dot_product_attention(q, k, v)


row(
    "attention of 1 query, 1 x 12 x 1024 x 64",
    attended,
    (1, 12, 1, 64),
    (1, 12, 1024, 64),
    (1, 12, 1024, 64),
)
row(
    "attention of 1 query, 8 x 8 x 256 x 64",
    attended,
    (8, 8, 1, 64),
    (8, 8, 256, 64),
    (8, 8, 256, 64),
)


@case("EmbeddingBag, 4096 bags of one")
def _(m: Any) -> Call:
    w, i, o = ramp(m, 10_000, 64), m.arange(4096) * 7 % 10_000, m.arange(4096)
    return lambda: m.nn.functional.embedding_bag(i, w, o, mode="sum")


# Products.
for n in (64, 128, 256, 512):
    row(f"matmul {n} x {n}", f("matmul"), (n, n), (n, n), dtype=BF16)


@case("Muon of four 512 x 512")
def _(m: Any) -> Call:
    weights = [ramp(m, 512, 512).requires_grad_() for _ in range(4)]
    for w in weights:
        w.grad = ramp(m, 512, 512, scale=1e-4)
    optimizer = m.optim.Muon(weights, lr=1e-4)

    def step() -> Any:
        optimizer.step()
        return weights[0]

    return step


# Reductions off the contiguous road.
row("sum of a transposed 1000 x 1000", lambda m, x: x.t().sum(), (1000, 1000))
for size, dtype in ((1024, F32), (1000, BF16)):
    row(
        f"sum of a transposed {size} x {size}",
        lambda m, x: x.t().sum(),
        (size, size),
        dtype=dtype,
    )
row("norm of a transposed 1000 x 1000", lambda m, x: x.t().norm(), (1000, 1000))
row("var of a transposed 1000 x 1000", lambda m, x: x.t().var(), (1000, 1000))
row("sum along 0 of a transposed 1000 x 1000", lambda m, x: x.t().sum(0), (1000, 1000))
row("sum along 1 of a transposed 1000 x 1000", lambda m, x: x.t().sum(1), (1000, 1000))
row("amax along 1 of a transposed 1000 x 1000", lambda m, x: x.t().amax(1), (1000, 1000))
row(
    "mean of channels-last images 16 x 28 x 28 x 64",
    lambda m, x: x.permute(0, 3, 1, 2).mean((2, 3)),
    (16, 28, 28, 64),
)
row(
    "mean of channels-last channels 16 x 28 x 28 x 64",
    lambda m, x: x.permute(0, 3, 1, 2).mean((0, 2, 3)),
    (16, 28, 28, 64),
)
row("std of channels 32 x 3 x 64 x 64", lambda m, x: x.std((0, 2, 3)), (32, 3, 64, 64))
for dim in (0, 1):
    row(f"cummax along {dim} of 1000 x 1000", lambda m, x, dim=dim: x.cummax(dim)[0], (1000, 1000))
    row(f"cummin along {dim} of 1000 x 1000", lambda m, x, dim=dim: x.cummin(dim)[1], (1000, 1000))


def integers(m: Any, count: int, below: int, dtype: str = "int64") -> Any:
    return ((m.arange(count) * 7919 + 17) % below).to(getattr(m, dtype))


for count in (10, 1000, 100_000):

    @case(f"searchsorted of 100,000 in {count:,}")
    def _(m: Any, count: int = count) -> Call:
        edges, x = m.arange(count, dtype=m.float32) / count, ramp(m, 100_000) + 0.5
        return lambda: m.searchsorted(edges, x)


for dtype, below in (("bool", 2), ("int64", 1000), ("int64", 1_000_000), ("float32", 100_000)):

    @case(f"unique of 100,000, {below:,} different, {dtype}")
    def _(m: Any, dtype: str = dtype, below: int = below) -> Call:
        x = integers(m, 100_000, below, dtype)
        return lambda: m.unique(x)


for dtype in ("int64", "int32", "uint8", "float32"):

    @case(f"topk 10 of 100 x 10,000 {dtype}")
    def _(m: Any, dtype: str = dtype) -> Call:
        x = integers(m, 1_000_000, 251, dtype).reshape(100, 10_000)
        return lambda: m.topk(x, 10)[0]


for dtype in ("int64", "int32", "uint8"):
    for name in ("sort", "argsort"):

        @case(f"{name} along 0 of 1000 x 100 {dtype}")
        def _(m: Any, name: str = name, dtype: str = dtype) -> Call:
            x = integers(m, 100_000, 251, dtype).reshape(1000, 100)
            f = getattr(m, name)
            pick = (lambda y: y) if name == "argsort" else (lambda y: y[0])
            return lambda: pick(f(x, dim=0, stable=True))


# Elementwise.
for name in ("asin", "acos", "sinh", "cosh", "lgamma", "atanh", "acosh"):
    for dtype in (F32, F16, BF16):

        @case(f"{name} 100,000 {dtype}")
        def _(m: Any, name: str = name, dtype: str = dtype) -> Call:
            x = ramp(m, 100_000, dtype=dtype)
            x = x.abs() + 1.5 if name in ("acosh", "lgamma") else x
            f = getattr(m, name)
            return lambda: f(x)


@case("clamp 1,000,000 uint8")
def _(m: Any) -> Call:
    x = integers(m, 1_000_000, 251, "uint8")
    return lambda: m.clamp(x, 10, 100)


for dtype in ("uint8", "int8", "int16", "int32"):

    @case(f"shift 1,000,000 {dtype}")
    def _(m: Any, dtype: str = dtype) -> Call:
        x, n = integers(m, 1_000_000, 100, dtype), integers(m, 1_000_000, 7, dtype)
        return lambda: x << n


@case("count_nonzero 1,000,000")
def _(m: Any) -> Call:
    x = integers(m, 1_000_000, 5, "float32")
    return lambda: m.count_nonzero(x)


@case("reciprocal 1,000,000 complex64")
def _(m: Any) -> Call:
    x = ramp(m, 1_000_000) + 1.5
    x = x * (1 + 0.5j)
    return lambda: m.view_as_real(m.reciprocal(x))

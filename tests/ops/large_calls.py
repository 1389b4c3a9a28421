# SPDX-License-Identifier: Apache-2.0
"""Calls that are large enough to be shared by threads, a few of every kind of operator, each with
the gradients of its inputs: what the rules for equal bits are tried on.

As a program it prints a digest of each call's results as JSON, for other instruction sets."""

import hashlib
import json
from collections.abc import Callable

import libdl
from libdl.nn import functional as F

ROWS, COLUMNS = 301, 403  # 121,303 elements; no multiple of a vector or a tile

UNARY = """
    abs neg exp expm1 log log1p sqrt rsqrt reciprocal sin cos tanh sigmoid erf square floor round
    sign relu
""".split()
REDUCED = """
    sum mean prod amax amin var std logsumexp softmax log_softmax cumsum norm sort argmax
""".split()
# What the baseline, which has no fused multiply-add, rounds as the others do.
EXACT = {
    "add",
    "sub",
    "mul",
    "div",
    "number",
    "row",
    "column",
    "transposed",
    "abs",
    "neg",
    "sqrt",
    "floor",
    "round",
    "sign",
    "relu",
    "cat",
    "gather",
    "index_select",
    "flip",
    "masked_select",
    "nonzero",
    "where",
    "sort 0",
    "sort 1",
    "amax 0",
    "amin 1",
    "argmax 0",
    "randperm",
    "integers",
    "to half",
    "bernoulli",
    "addcmul",
    "index_add narrow",
}

Call = Callable[[], list[libdl.Tensor]]


def numbers(*shape: int, seed: int = 1, positive: bool = False, **options) -> libdl.Tensor:
    x = libdl.randn(*shape, generator=libdl.Generator().manual_seed(seed), **options)
    return x.abs() + 0.5 if positive else x


def indices(size: int, *shape: int) -> libdl.Tensor:
    return libdl.randint(0, size, shape, generator=libdl.Generator().manual_seed(9))


def with_gradients(f: Callable[..., libdl.Tensor], *inputs: libdl.Tensor) -> list[libdl.Tensor]:
    leaves = [x.detach().requires_grad_() if x.is_floating_point() else x for x in inputs]
    out = f(*leaves)
    if isinstance(out, tuple):
        out = out[0]
    results = [out.detach()]
    if out.requires_grad:
        (out * numbers(*out.shape, seed=5, dtype=out.dtype)).sum().backward()
        results += [x.grad for x in leaves if x.grad is not None]
    return results


def calls() -> dict[str, Call]:
    found: dict[str, Call] = {}

    def call(name: str, f: Callable[..., libdl.Tensor], *inputs: libdl.Tensor) -> None:
        assert name not in found
        found[name] = lambda: with_gradients(f, *inputs)

    x, y = numbers(ROWS, COLUMNS), numbers(ROWS, COLUMNS, seed=2, positive=True)
    row, column = numbers(COLUMNS, seed=3), numbers(ROWS, 1, seed=4)
    for name in ("add", "sub", "mul", "div", "maximum", "pow"):
        call(name, getattr(libdl, name), y if name == "pow" else x, y)
    for name in UNARY:
        call(name, getattr(libdl, name), y)
        call(name + " float64", getattr(libdl, name), y.to(libdl.float64))
    for name in ("gelu", "silu"):
        call(name, getattr(F, name), x)
    for name in ("lgamma", "sinh", "erfc"):
        call(name, getattr(libdl, name), y)
    call("asinh complex", lambda a: libdl.asinh(libdl.complex(a, a)).abs(), y)
    call("hypot", libdl.hypot, x, y)
    call("atan2 of a row", libdl.atan2, x.t(), column.t())
    call("number", lambda a: a * 1.5, x)
    call("row", libdl.add, x, row)
    call("column", libdl.mul, x, column)
    call("transposed", lambda a, b: a + b.t(), x, y.t().contiguous())
    call("where", lambda a, b: libdl.where(a > 0, a, b), x, y)
    call("integers", lambda a: (a.to(libdl.int64) * 3 // 2) ^ 5, x * 100)
    call("to half", lambda a: a.to(libdl.float16).to(libdl.bfloat16), x)
    for name in REDUCED:
        for dim in (0, 1):
            call(f"{name} {dim}", lambda a, f=getattr(libdl, name), d=dim: f(a, dim=d), x * 0.1 + 1)
    for name in ("sum", "mean", "norm", "logsumexp"):
        axes = {"dim": (0, 1)} if name == "logsumexp" else {}
        call(name + " of all", lambda a, f=getattr(libdl, name), o=axes: f(a, **o), x)
    for name in ("sum", "norm", "var"):
        for dtype in (libdl.float32, libdl.float64, libdl.bfloat16):
            call(
                f"{name} of all columns {dtype}",
                lambda a, f=getattr(libdl, name): f(a.t()),
                numbers(403, 301).to(dtype),
            )
    call("long sum", libdl.sum, numbers(1_000_003))
    call("long cumsum", lambda a: libdl.cumsum(a, 0), numbers(100_003))
    call("topk", lambda a: libdl.topk(a, 20, 1), x)
    for dtype in (libdl.float32, libdl.float64, libdl.float16):
        for m, k, n in (
            (1, 3000, 700),
            (1, 300, 4500),
            (700, 3000, 1),
            (8, 500, 900),
            (130, 170, 190),
        ):
            call(
                f"matmul {m} {k} {n} {dtype}",
                libdl.matmul,
                numbers(m, k).to(dtype),
                numbers(k, n, seed=2).to(dtype),
            )
    call("bmm", libdl.bmm, numbers(40, 30, 50), numbers(40, 50, 20))
    call("dot", libdl.dot, numbers(100_003), numbers(100_003, seed=2))
    call("linear", F.linear, x, numbers(200, COLUMNS), numbers(200))
    for window, stride in ((3, 1), (3, 2), (5, 1), (4, 1)):
        call(
            f"depthwise {window} {stride}",
            lambda a, w, b, n=window, s=stride: F.conv2d(a, w, b, s, n // 2, 1, 37),
            numbers(2, 37, 55, 54),
            numbers(37, 1, window, window),
            numbers(37),
        )
    for padding in ("zeros", "border", "reflection"):
        call(
            f"grid_sample {padding}",
            lambda a, g, p=padding: F.grid_sample(a, g, padding_mode=p, align_corners=False),
            numbers(3, 11, 30, 29),
            numbers(3, 70, 71, 2, seed=6),
        )
    call("layer_norm", lambda a, w, b: F.layer_norm(a, (COLUMNS,), w, b), x, row, row * 2)
    call("cross_entropy", lambda a: F.cross_entropy(a, indices(COLUMNS, ROWS)), x)
    call("mse_loss", F.mse_loss, x, y)
    call("embedding", lambda w: F.embedding(indices(500, 3000), w), numbers(500, 64))
    for mode in ("sum", "mean", "max"):
        call(
            f"embedding_bag {mode}",
            lambda w, m=mode: F.embedding_bag(indices(500, 600, 7), w, mode=m),
            numbers(500, 64),
        )
    call(
        "embedding_bag weights",
        lambda w, s: F.embedding_bag(indices(500, 600, 7), w, mode="sum", per_sample_weights=s),
        numbers(500, 64),
        numbers(600, 7),
    )
    call(
        "embedding sparse",
        lambda w: F.embedding(indices(500, 3000), w, sparse=True),
        numbers(500, 64),
    )
    call("gather", lambda a: libdl.gather(a, 0, indices(ROWS, 400, COLUMNS)), x)
    call("index_select", lambda a: libdl.index_select(a, 0, indices(ROWS, 500)), x)
    call(
        "index_add narrow",
        lambda a, b: libdl.index_add(a, 0, indices(ROWS, ROWS), b),
        x.to(libdl.bfloat16),
        y.to(libdl.bfloat16),
    )
    call("addcmul", libdl.addcmul, x, y, x)
    call("index_add", lambda a, b: libdl.index_add(a, 0, indices(ROWS, ROWS), b), x, y)
    call(
        "scatter_add",
        lambda a, b: libdl.scatter_add(a, 1, indices(COLUMNS, ROWS, COLUMNS), b),
        x,
        y,
    )
    call("masked_select", lambda a: libdl.masked_select(a, a > 0), x)
    call("nonzero", lambda a: libdl.nonzero(a > 0), x)
    call("cat", lambda a, b: libdl.cat([a, b, a], 1), x, y)
    call("flip", lambda a: libdl.flip(a, (0, 1)), x)
    generator = lambda: libdl.Generator().manual_seed(3)  # noqa: E731
    found["randn"] = lambda: [numbers(ROWS, COLUMNS)]
    found["randperm"] = lambda: [libdl.randperm(100_003, generator=generator())]
    found["bernoulli"] = lambda: [
        libdl.bernoulli(libdl.full((ROWS, COLUMNS), 0.3), generator=generator())
    ]
    for name in ("SGD", "Adam", "AdamW"):
        found[name] = lambda kind=getattr(libdl.optim, name): step(kind)
    return found


def step(kind: Callable) -> list[libdl.Tensor]:
    parameters = [libdl.nn.Parameter(numbers(ROWS, COLUMNS, seed=s)) for s in (1, 2)]
    optimizer = kind(parameters, lr=0.1)
    for seed in (3, 4):
        for p in parameters:
            p.grad = numbers(ROWS, COLUMNS, seed=seed)
        optimizer.step()
    return [p.detach() for p in parameters]


def digest(results: list[libdl.Tensor]) -> str:
    h = hashlib.sha256()
    for x in results:
        if x.dtype == libdl.bfloat16:
            x = x.view(libdl.int16)
        h.update(f"{tuple(x.shape)} {x.dtype}".encode() + x.contiguous().numpy().tobytes())
    return h.hexdigest()


if __name__ == "__main__":
    print(json.dumps({name: digest(call()) for name, call in calls().items()}))

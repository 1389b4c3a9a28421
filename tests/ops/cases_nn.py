# SPDX-License-Identifier: Apache-2.0
"""softmax and the losses, layer_norm, embedding and dropout."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import libdl
from libdl.nn import functional as F
from samples import Case, Fixed, Sample, integers, numbers

SHAPES = [(1,), (5,), (2, 3), (3, 1, 2), (2, 3, 4), (2, 0, 3), (7, 65)]


def along() -> list[Sample]:
    made = [
        Sample((numbers(s, 20 * i + n, -3, 3), d))
        for i, s in enumerate(SHAPES)
        for n in (1, 2)
        for d in range(-1, len(s))
    ]
    made.append(Sample((np.array([1e4, 0.0, -1e4]), 0), smooth=False))
    made.append(Sample((np.full(3, -np.inf), 0), smooth=False))  # NaN, as the definition says
    made.append(Sample((np.array([[1.0, -np.inf], [np.nan, 1.0], [0.0, 800.0]]), 1), smooth=False))
    return made


def softmax(x: Any, dim: int) -> Any:
    if x.size == 0:
        return x
    e = np.exp(x - np.max(x, axis=dim, keepdims=True))
    return e / np.sum(e, axis=dim, keepdims=True)


def log_softmax(x: Any, dim: int) -> Any:
    if x.size == 0:
        return x
    z = x - np.max(x, axis=dim, keepdims=True)
    return z - np.log(np.sum(np.exp(z), axis=dim, keepdims=True))


def reduced(loss: Any, how: str, total: Any = None) -> Any:
    return np.asarray(
        {
            "none": loss,
            "sum": loss.sum(),
            "mean": loss.sum() / (loss.size if total is None else total),
        }[how]
    )


def nll(
    x: Any, t: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean"
) -> Any:
    w = np.ones(x.shape[1]) if weight is None else weight
    keep = t != ignore_index
    at = np.where(keep, t, 0)
    each = w[at] * keep
    return reduced(-x[np.arange(len(t)), at] * each, reduction, each.sum())


def class_samples(low: float) -> Any:
    def make() -> list[Sample]:
        made = []
        for i, (n, c) in enumerate([(1, 2), (3, 4), (5, 3), (2, 7)]):
            for r in ("mean", "sum", "none"):
                x, t = numbers((n, c), i, low, 0.0), integers((n,), i, 0, c)
                weight = numbers((c,), i + 9, 0.5, 2.0).view(Fixed)
                made += [Sample((x, t), {"reduction": r}), Sample((x, t, weight), {"reduction": r})]
        x, t = numbers((4, 3), 8, low, 0.0), np.array([0, -100, 2, 1])
        return made + [Sample((x, t)), Sample((x, np.array([1, 1, 2, 0])), {"ignore_index": 1})]

    return make


def linear_samples() -> list[Sample]:
    """Rows, the layer's weight, targets and the layer's bias."""
    made = []
    for i, (n, d, c) in enumerate([(1, 2, 2), (3, 2, 4), (4, 3, 3), (2, 1, 5)]):
        x, weight = numbers((n, d), i), numbers((c, d), i + 20)
        t, bias = integers((n,), i, 0, c), numbers((c,), i + 40)
        for r in ("mean", "sum", "none"):
            made += [
                Sample((x, weight, t), {"reduction": r}),
                Sample((x, weight, t, bias), {"reduction": r}),
            ]
        made.append(Sample((x, weight, t), {"ignore_index": c}))
    return made


def linear_cross_entropy(x: Any, weight: Any, t: Any, bias: Any = 0.0, **options: Any) -> Any:
    return nll(log_softmax(x @ weight.T + bias, 1), t, **options)


def mse_samples() -> list[Sample]:
    return [
        Sample((numbers(s, i), numbers(s, i + 50)), {"reduction": r})
        for i, s in enumerate([(), (1,), (5,), (2, 3), (3, 1, 2), (4, 33), (2, 2)])
        for r in ("mean", "sum", "none")
    ]


def norm_samples() -> list[Sample]:
    made = []
    for i, (s, k) in enumerate(
        [
            ((5,), 1),
            ((2, 3), 1),
            ((2, 3), 2),
            ((3, 1, 4), 1),
            ((4, 65), 1),
            ((2, 2, 3), 2),
            ((0, 3), 1),
        ]
    ):
        x, n = numbers(s, i), s[-k:]
        made += [
            Sample((x, n)),
            Sample((x, n, numbers(n, i + 5), numbers(n, i + 6))),
            Sample((x, n, numbers(n, i + 7)), {"eps": 1e-3}),
        ]
    return made


def layer_norm(x: Any, shape: Any, weight: Any = 1.0, bias: Any = 0.0, eps: float = 1e-5) -> Any:
    axes = tuple(range(-len(shape), 0))
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(var + eps) * weight + bias


def embedding_samples() -> list[Sample]:
    return [
        Sample((integers(s, 3 * i + n, 0, 4), numbers((4, d), i + n)))
        for i, s in enumerate([(), (1,), (5,), (2, 3), (0,)])
        for n in (1, 2)
        for d in (2, 3)
    ]


def pool_samples() -> list[Sample]:
    """Distinct elements, so that the largest of a window is one also where it is moved a little."""
    some = [
        ((2, 4, 4), (2,), {}),
        ((1, 2, 5, 6), (3, 2), {"stride": (1, 2), "padding": 1}),
        ((2, 1, 7, 3), (2,), {"stride": 2, "ceil_mode": True}),
        ((1, 5, 6, 5), (3,), {"stride": 1, "padding": 1, "dilation": 2}),
        ((0, 2, 3, 3), (3,), {}),
        ((1, 1, 1, 1), (1,), {}),
    ]
    made = [
        Sample(
            (
                np.random.default_rng(n).permutation(math.prod(shape)).reshape(shape) / 7 - 3,
                size[0] if len(size) == 1 else size,
            ),
            how,
        )
        for n, (shape, size, how) in enumerate(5 * some)
    ]
    special = np.array([[[1.0, np.nan, -np.inf], [-np.inf, 0.0, 0.0], [np.inf, 5.0, 5.0]]])
    return [*made, Sample((special, 2), {"stride": 1}, smooth=False)]


def pooled(
    x: Any,
    size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:
    def pair(n: Any) -> tuple[int, int]:
        return (n, n) if isinstance(n, int) else n

    size, padding, dilation = pair(size), pair(padding), pair(dilation)
    stride = size if stride is None else pair(stride)
    places = []  # of both dimensions: the elements of each window
    for n, k, s, p, d in zip(x.shape[-2:], size, stride, padding, dilation, strict=True):
        first = range(-p, n + (0 if ceil_mode else p - d * (k - 1)), s)
        places.append([[i for i in range(f, f + k * d, d) if 0 <= i < n] for f in first])
    return np.stack(
        [
            np.stack([x[..., rows, :][..., columns].max((-1, -2)) for columns in places[1]], -1)
            for rows in places[0]
        ],
        -2,
    )


rows = {"dtypes": "f", "scale": 32}
CASES = [
    Case(
        "softmax",
        libdl.softmax,
        softmax,
        along,
        rejects="""
            libdl.softmax(libdl.ones(2, 2), 2)
                # IndexError: softmax: argument 2 (dim) is 2, wanted -2 to 1
            libdl.softmax(libdl.arange(3), 0)
                # TypeError | ValueError | RuntimeError: softmax ... input ... int64
        """,
        **rows,
    ),
    Case(
        "softmin",
        F.softmin,
        lambda x, dim: softmax(-x, dim),
        along,
        rejects="""
            F.softmin(libdl.ones(2, 2), 2)
                # IndexError: softmin: argument 2 (dim) is 2, wanted -2 to 1
            F.softmin(libdl.arange(3), 0)
                # TypeError | ValueError | RuntimeError: softmin ... input ... int64
        """,
        **rows,
    ),
    Case(
        "log_softmax",
        libdl.log_softmax,
        log_softmax,
        along,
        rejects="""
            libdl.log_softmax(libdl.ones(2, 2), -3)
                # IndexError: log_softmax ... dim
        """,
        **rows,
    ),
    Case(
        "nll_loss",
        F.nll_loss,
        nll,
        class_samples(-3.0),
        roundings=3,
        rejects="""
            F.nll_loss(libdl.ones(1, 2), libdl.tensor([2]))
                # IndexError | ValueError: nll_loss ... target
        """,
        **rows,
    ),
    Case(
        "cross_entropy",
        F.cross_entropy,
        lambda x, *a, **k: nll(log_softmax(x, 1), *a, **k),
        class_samples(-3.0),
        roundings=4,
        terms=6.0,
        rejects="""
            F.cross_entropy(libdl.ones(1, 2), libdl.tensor([-1]))
                # IndexError | ValueError: cross_entropy ... target
        """,
        **rows,
    ),
    Case(
        "linear_cross_entropy",
        lambda x, weight, t, bias=None, **options: F.linear_cross_entropy(
            x, weight, t, linear_bias=bias, **options
        ),
        linear_cross_entropy,
        linear_samples,
        roundings=6,
        terms=16.0,
        rejects="""
            F.linear_cross_entropy(libdl.ones(2, 4), libdl.ones(3, 5), libdl.tensor([0, 1]))
                # ValueError: linear_cross_entropy: argument 2 (linear_weight) has shape [3, 5] ...
                #    4]
            F.linear_cross_entropy(
                libdl.ones(2, 4),
                libdl.ones(3, 4),
                libdl.tensor([0, 1]),
                linear_bias=libdl.ones(2),
            )
                # ValueError: linear_cross_entropy: argument 4 (linear_bias) has shape [2], wanted
                #    [3]
            F.linear_cross_entropy(libdl.ones(2, 3, 4), libdl.ones(3, 4), libdl.tensor([0, 1]))
                # ValueError: linear_cross_entropy: argument 1 (input) has 3 dimensions, wanted 1 or
                #    2
            F.linear_cross_entropy(libdl.ones(2, 4), libdl.ones(4), libdl.tensor([0, 1]))
                # ValueError: linear_cross_entropy: argument 2 (linear_weight) has 1 dimensions
            F.linear_cross_entropy(libdl.ones(4), libdl.ones(3, 2, 4), libdl.tensor([0, 1]))
                # ValueError: linear_cross_entropy: argument 1 (input) has shape [4] ... more than 2
            F.linear_cross_entropy(
                libdl.ones(2, 4), libdl.ones(3, 4), libdl.ones(2, 3), ignore_index=1
            )
                # ValueError: linear_cross_entropy ... (ignore_index) is 1 ... probabilities
            F.linear_cross_entropy(libdl.ones(2, 4), libdl.ones(3, 4), libdl.tensor([0, 7]))
                # IndexError | ValueError: linear_cross_entropy: argument 3 (target) holds 7
        """,
        **rows,
    ),
    Case(
        "mse_loss",
        F.mse_loss,
        lambda x, t, reduction: reduced((x - t) ** 2, reduction),
        mse_samples,
        roundings=3,
        rejects="""
            F.mse_loss(libdl.ones(2), libdl.ones(3))
                # ValueError | RuntimeError: mse_loss ... target
        """,
        **rows,
    ),
    Case(
        "layer_norm",
        F.layer_norm,
        layer_norm,
        norm_samples,
        rejects="""
            F.layer_norm(libdl.ones(2, 3), ())
                # ValueError | RuntimeError: layer_norm: argument 2 (normalized_shape) is []
            F.layer_norm(libdl.ones(2, 3), (2,))
                # ValueError | RuntimeError: layer_norm: argument 1 (input) has shape [2, 3] ...
                #    wanted [2], which is normalized_shape
        """,
        dtypes="f",
        scale=200,
    ),
    Case(
        "max_pool2d",
        libdl.max_pool2d,
        pooled,
        pool_samples,
        exact=True,
        rejects="""
            F.max_pool2d(libdl.ones(1, 4, 4), 2, padding=2)
                # ValueError: max_pool2d: argument 4 (padding) is 2, wanted at most half
            F.max_pool2d(libdl.ones(1, 4, 4), (1, 2, 3))
                # ValueError: max_pool2d: argument 2 (kernel_size) has 3 entries
            F.max_pool2d(libdl.ones(1, 4, 4), 5)
                # ValueError | RuntimeError: max_pool2d: argument 1 (input) has shape [1, 4, 4] ...
                #    room for a window that reaches over 5
            F.max_pool2d(libdl.ones(1, 4, 4, dtype=libdl.bool), 2)
                # TypeError | RuntimeError: max_pool2d ... input ... bool
        """,
        dtypes="fiu",
    ),
    Case(
        "max_pool2d_with_indices",
        lambda *args, **how: F.max_pool2d_with_indices(*args, **how)[0],
        pooled,
        pool_samples,
        exact=True,
        dtypes="fiu",
        rejects="""
            F.max_pool2d_with_indices(libdl.ones(1, 4, 4), 2, 0)
                # ValueError: max_pool2d_with_indices: argument 3 (stride) is [0], wanted 1 to
        """,
    ),
    Case(
        "embedding",
        F.embedding,
        lambda i, w: w[i],
        embedding_samples,
        exact=True,
        rejects="""
            F.embedding(libdl.tensor([4]), libdl.ones(4, 2))
                # IndexError: embedding ... input
            F.embedding(libdl.tensor([0]), libdl.ones(4))
                # ValueError: embedding ... weight ... two dimensions
        """,
        dtypes="fiuc",
    ),
]

# SPDX-License-Identifier: Apache-2.0
"""The losses of loss.h; softmax, nll_loss, cross_entropy and mse_loss are in cases_nn."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import libdl
from libdl import _functional as C  # the operators themselves: no warnings about sizes
from refusals import refusals
from samples import Case, Fixed, Reject, Sample, integers, numbers

WORDS = ("mean", "sum", "none")
PAIRS = [
    ((), ()),
    ((1,), (1,)),
    ((5,), (5,)),
    ((2, 3), (2, 3)),
    ((3, 1, 2), (3, 1, 2)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((4, 33), (4, 33)),
    ((2, 2), (2, 2)),
]
REFUSED = (ValueError, RuntimeError, TypeError)


def reduced(losses: Any, how: str) -> Any:
    losses = np.asarray(losses)
    return np.asarray(
        {"none": losses, "sum": losses.sum(), "mean": losses.sum() / losses.size}[how]
    )


def pairs(
    low: float = -2.0,
    high: float = 2.0,
    low2: float | None = None,
    high2: float | None = None,
    alike: bool = False,
    **options: Any,
) -> Any:
    """Inputs and targets, with every reduction."""
    low2, high2 = low if low2 is None else low2, high if high2 is None else high2

    def make() -> list[Sample]:
        return [
            Sample(
                (numbers(a, i, low, high), numbers(b, i + 50, low2, high2)),
                {"reduction": r, **options},
            )
            for i, (a, b) in enumerate(PAIRS)
            for r in WORDS
            if a == b or not alike
        ]

    return make


def together(*made: Any) -> Any:
    return lambda: [sample for make in made for sample in make()]


def signs(shape: tuple[int, ...], seed: int) -> Any:
    return np.asarray(np.random.default_rng(seed).choice([-1.0, 1.0], shape)).view(Fixed)


def loss(each: Callable[..., Any]) -> Callable[..., Any]:
    """The reference of a loss, from that of its elements."""

    def reference(*args: Any, reduction: str = "mean", **options: Any) -> Any:
        return reduced(each(*args, **options), reduction)

    return reference


def log_sigmoid(x: Any) -> Any:
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


def of_every_loss(name: str, *args: Any, **options: Any) -> list[Reject]:
    function, ones = getattr(C, name), libdl.ones
    return refusals(
        f"""
            function(ones(2), ones(2), *args, reduction="no", **options)
                # ValueError | RuntimeError: {name} ... (reduction) is "no" ... "mean", "
            function(ones(2), ones(3), *args, **options)
                # REFUSED: {name}
        """,
        globals() | locals(),
    )


# -- of a difference -------------------------------------------------------------------------------


def smooth_l1(x: Any, t: Any, beta: float = 1.0) -> Any:
    d = np.abs(x - t)
    return np.where(d < beta, d * d / 2 / (beta or 1), d - beta / 2)


def huber(x: Any, t: Any, delta: float = 1.0) -> Any:
    d = np.abs(x - t)
    return np.where(d <= delta, d * d / 2, delta * (d - delta / 2))


DIFFERENCES = [
    Case(
        "l1_loss",
        C.l1_loss,
        loss(lambda x, t: np.abs(x - t)),
        pairs(),
        roundings=3,
        dtypes="f",
        rejects=[
            *of_every_loss("l1_loss"),
            """
            C.l1_loss(libdl.ones(3), libdl.ones(3), weight=libdl.ones(2))
                # REFUSED: l1_loss: argument 4 (weight) has shape [2], wanted [3]
            C.l1_loss(libdl.arange(3), libdl.arange(3))
                # REFUSED: l1_loss ... int64
            """,
        ],
        scale=4,
    ),
    Case(
        "smooth_l1_loss",
        C.smooth_l1_loss,
        loss(smooth_l1),
        together(pairs(), pairs(beta=0.3), pairs(beta=0.0)),
        roundings=3,
        dtypes="f",
        scale=4,
        rejects=[
            *of_every_loss("smooth_l1_loss"),
            """
            C.smooth_l1_loss(libdl.ones(2), libdl.ones(2), beta=-1.0)
                # ValueError: smooth_l1_loss: argument 4 (beta) is -1 ... 0 or more
            C.smooth_l1_loss(libdl.ones(2), libdl.ones(2), beta=1e300)
                # OverflowError: smooth_l1_loss ... beta
            C.smooth_l1_loss(libdl.arange(3), libdl.arange(3))
                # REFUSED: smooth_l1_loss: argument 1 (input) is int64
            """,
        ],
    ),
    Case(
        "huber_loss",
        C.huber_loss,
        loss(huber),
        together(pairs(), pairs(delta=0.3)),
        roundings=3,
        dtypes="f",
        scale=4,
        rejects=[
            *of_every_loss("huber_loss"),
            """
            C.huber_loss(libdl.ones(2), libdl.ones(2), delta=0.0)
                # ValueError: huber_loss: argument 4 (delta) is 0 ... above 0
            C.huber_loss(libdl.ones(3), libdl.ones(3), weight=libdl.ones(2))
                # REFUSED: huber_loss: argument 5 (weight) has shape [2], wanted [3]
            C.huber_loss(libdl.ones(3), libdl.ones(3, dtype=libdl.complex64))
                # REFUSED: huber_loss: argument 2 (target) is complex64
            """,
        ],
    ),
]

# -- of two classes --------------------------------------------------------------------------------


def bce(x: Any, t: Any, weight: Any = 1.0) -> Any:
    return -weight * (t * np.maximum(np.log(x), -100) + (1 - t) * np.maximum(np.log1p(-x), -100))


def with_logits(x: Any, t: Any, weight: Any = 1.0, pos_weight: Any = 1.0) -> Any:
    return weight * ((1 - t) * x - (1 + (pos_weight - 1) * t) * log_sigmoid(x))


def weighted(low: float, high: float) -> Any:
    return lambda: [
        Sample(
            (
                numbers((2, 3), i, low, high),
                numbers((2, 3), i + 20, 0.1, 0.9),
                numbers(s, i + 40, 0.5, 2.0),
            ),
            {"reduction": r},
        )
        for i, (s, r) in enumerate(
            itertools.product([(2, 3), (3,), (2, 1), (1, 3), (1,), (1, 1), (2, 3), (3,)], WORDS)
        )
    ]


def certain() -> list[Sample]:
    return [
        Sample(
            (np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0, 0.25])),
            {"reduction": r},
            smooth=False,
        )
        for r in WORDS
    ]


def positive(x: Any, t: Any, pos_weight: Any, reduction: str) -> Any:
    return C.binary_cross_entropy_with_logits(x, t, None, reduction, pos_weight)


def soft_labels(x: Any, t: Any, weight: Any = 1.0, reduction: str = "mean") -> Any:
    return reduced((with_logits(x, t) * weight).sum(-1) / x.shape[-1], reduction)


ones = libdl.ones
BINARY = [
    Case(
        "binary_cross_entropy",
        C.binary_cross_entropy,
        loss(bce),
        together(pairs(0.1, 0.9, alike=True), weighted(0.1, 0.9), certain),
        roundings=4,
        dtypes="f",
        scale=16,
        terms=4.0,
        rejects=[
            *of_every_loss("binary_cross_entropy"),
            """
            C.binary_cross_entropy(ones(2, 3), ones(3))
                # REFUSED: binary_cross_entropy: argument 2 (target) has shape [3], wanted [2, 3]
            C.binary_cross_entropy(libdl.tensor([0.5, 1.5]), ones(2))
                # REFUSED: binary_cross_entropy: argument 1 (input) holds 1.5 ... 0 to 1
            C.binary_cross_entropy(libdl.tensor([math.nan]), ones(1))
                # REFUSED: binary_cross_entropy: argument 1 (input) holds nan
            C.binary_cross_entropy(libdl.arange(2), ones(2))
                # REFUSED: binary_cross_entropy: argument 1 (input) is int64
            C.binary_cross_entropy(ones(2), libdl.arange(2))
                # REFUSED: binary_cross_entropy: argument 2 (target) is int64, wanted float32
            C.binary_cross_entropy(ones(2), ones(2), ones(2).double())
                # REFUSED: binary_cross_entropy: argument 3 (weight) is float64, wanted
            C.binary_cross_entropy(ones(2), ones(2), ones(3))
                # REFUSED: binary_cross_entropy: argument 3 (weight) has shape [3]
            """,
        ],
    ),
    Case(
        "binary_cross_entropy_with_logits",
        C.binary_cross_entropy_with_logits,
        loss(with_logits),
        together(pairs(-3.0, 3.0, 0.1, 0.9, alike=True), weighted(-3.0, 3.0)),
        roundings=4,
        dtypes="f",
        scale=16,
        terms=4.0,
        rejects=[
            *of_every_loss("binary_cross_entropy_with_logits"),
            """
            C.binary_cross_entropy_with_logits(ones(2, 3), ones(3))
                # REFUSED: with_logits: argument 2 (target) has shape [3], wanted [2, 3]
            C.binary_cross_entropy_with_logits(libdl.arange(2), ones(2))
                # REFUSED: with_logits: argument 1 (input) is int64
            C.binary_cross_entropy_with_logits(ones(2), libdl.arange(2))
                # REFUSED: with_logits: argument 2 (target) is int64
            C.binary_cross_entropy_with_logits(ones(2), ones(2), ones(3))
                # REFUSED: with_logits: argument 3 (weight) has shape [3]
            C.binary_cross_entropy_with_logits(ones(2), ones(2), ones(2, dtype=libdl.complex64))
                # REFUSED: with_logits: argument 3 (weight) is complex64
            """,
        ],
    ),
    Case(
        "positive_weight",
        positive,
        lambda x, t, p, reduction: reduced(with_logits(x, t, 1.0, p), reduction),
        weighted(-3.0, 3.0),
        roundings=4,
        dtypes="f",
        scale=16,
        terms=4.0,
        operators=("binary_cross_entropy_with_logits",),
        rejects="""
            positive(ones(2), ones(2), ones(3), "mean")
                # REFUSED: with_logits: argument 5 (pos_weight) has shape [3]
            positive(ones(2), ones(2), ones(2, dtype=libdl.complex64), "mean")
                # REFUSED: with_logits: argument 5 (pos_weight) is complex64
        """,
    ),
    Case(
        "soft_margin_loss",
        C.soft_margin_loss,
        loss(lambda x, t: -log_sigmoid(x * t)),
        pairs(),
        roundings=4,
        dtypes="f",
        scale=8,
        rejects=[
            *of_every_loss("soft_margin_loss"),
            """
            C.soft_margin_loss(libdl.arange(2), libdl.arange(2))
                # REFUSED: soft_margin_loss: argument 1 (input) is int64
            """,
        ],
    ),
    Case(
        "multilabel_soft_margin_loss",
        C.multilabel_soft_margin_loss,
        soft_labels,
        lambda: [
            s for s in [*pairs(-3.0, 3.0, 0.1, 0.9)(), *weighted(-3.0, 3.0)()] if s.args[0].ndim
        ],
        roundings=5,
        dtypes="f",
        scale=16,
        terms=4.0,
        rejects=[
            *of_every_loss("multilabel_soft_margin_loss"),
            """
            C.multilabel_soft_margin_loss(ones(()), ones(()))
                # REFUSED: multilabel_soft_margin_loss: argument 1 (input) is 0-d
            C.multilabel_soft_margin_loss(libdl.arange(2), ones(2))
                # REFUSED: multilabel_soft_margin_loss: argument 1 (input) is int64
            C.multilabel_soft_margin_loss(ones(2), ones(2), ones(3))
                # REFUSED: multilabel_soft_margin_loss: argument 3 (weight)
            """,
        ],
    ),
]

# -- of distributions ------------------------------------------------------------------------------


def kl(x: Any, t: Any, log_target: bool = False) -> Any:
    if log_target:
        return np.exp(t) * (t - x)
    return np.where(t == 0, 0.0, t * np.log(np.where(t == 0, 1.0, t))) - t * x


def by_batch() -> list[Sample]:
    return [
        Sample((numbers(s, i), numbers(s, i + 9, 0.1, 0.9)), {"reduction": "batchmean"})
        for i, s in enumerate([(), (3,), (2, 3)])
    ]


def kl_div(x: Any, t: Any, reduction: str, log_target: bool = False) -> Any:
    each = kl(x, t, log_target)
    if reduction == "batchmean":
        return np.asarray(each.sum() / (x.shape[0] if x.ndim else 1))
    return reduced(each, reduction)


def poisson(x: Any, t: Any, log_input: bool = True, full: bool = False, eps: float = 1e-8) -> Any:
    each = np.exp(x) - t * x if log_input else x - t * np.log(x + eps)
    stirling = t * np.log(t) - t + 0.5 * np.log(2 * math.pi * t)
    return each + (np.where(t <= 1, 0.0, stirling) if full else 0.0)


def gauss(x: Any, t: Any, var: Any, full: bool = False, eps: float = 1e-6) -> Any:
    if np.ndim(var) == np.ndim(x) - 1:
        var = var[..., None]
    v = np.maximum(var, eps)
    return 0.5 * (np.log(v) + (x - t) ** 2 / v) + (0.5 * math.log(2 * math.pi) if full else 0.0)


def normal_samples() -> list[Sample]:
    made = [
        Sample(
            (numbers(s, i), numbers(s, i + 9), numbers(v, i + 20, 0.5, 2.0)),
            {"reduction": r, "full": full},
        )
        for i, (s, v) in enumerate(
            [
                ((2, 3), (2, 3)),
                ((2, 3), (2,)),
                ((2, 3), (2, 1)),
                ((3,), ()),
                ((2, 3), (1, 3)),
                ((), ()),
            ]
        )
        for r, full in itertools.product(WORDS, (False, True))
    ]
    return made + [
        Sample((numbers((2, 3), 4), numbers((2, 3), 5), 0.5), {"reduction": r}) for r in WORDS
    ]


LIKELIHOODS = [
    Case(
        "kl_div",
        C.kl_div,
        kl_div,
        together(
            pairs(-3.0, 0.0, 0.1, 0.9), pairs(-3.0, 0.0, -3.0, 0.0, log_target=True), by_batch
        ),
        roundings=4,
        dtypes="f",
        scale=16,
        terms=4.0,
        rejects=[
            *of_every_loss("kl_div"),
            """
            C.kl_div(libdl.arange(2), libdl.arange(2))
                # REFUSED: kl_div: argument 1 (input) is int64
            C.kl_div(libdl.ones(2), libdl.ones(2), reduction="all")
                # REFUSED: kl_div: argument 3 (reduction) is "all" ... "batchmean"
            """,
        ],
    ),
    Case(
        "poisson_nll_loss",
        C.poisson_nll_loss,
        loss(poisson),
        together(
            pairs(0.2, 2.0, 0.2, 4.0),
            pairs(0.2, 2.0, 1.1, 4.0, full=True),
            pairs(0.2, 2.0, 0.2, 4.0, log_input=False, eps=0.1),
        ),
        roundings=6,
        dtypes="f",
        scale=32,
        terms=12.0,
        rejects=[
            *of_every_loss("poisson_nll_loss"),
            """
            C.poisson_nll_loss(ones(2, dtype=libdl.complex64), ones(2))
                # REFUSED: poisson_nll_loss: argument 1 (input) is complex64
            C.poisson_nll_loss(ones(2), ones(2, dtype=libdl.complex64))
                # REFUSED: poisson_nll_loss: argument 2 (target) is complex64
            C.poisson_nll_loss(ones(2) > 0, ones(2), log_input=False)
                # REFUSED: poisson_nll_loss: argument 1 (input) is bool
            C.poisson_nll_loss(ones(2), ones(2) > 0, full=True)
                # REFUSED: poisson_nll_loss: argument 2 (target) is bool
            """,
        ],
    ),
    Case(
        "gaussian_nll_loss",
        C.gaussian_nll_loss,
        loss(gauss),
        normal_samples,
        roundings=6,
        dtypes="f",
        scale=32,
        terms=16.0,
        rejects=[
            *of_every_loss("gaussian_nll_loss", 1.0),
            """
            C.gaussian_nll_loss(ones(2), ones(2), -ones(2))
                # REFUSED: gaussian_nll_loss: argument 3 (var) holds a negative number
            C.gaussian_nll_loss(ones(2), ones(2), -1.0)
                # REFUSED: gaussian_nll_loss: argument 3 (var) is -1
            C.gaussian_nll_loss(ones(2), ones(2), ones(3))
                # REFUSED: gaussian_nll_loss: argument 3 (var) has shape [3]
            C.gaussian_nll_loss(ones(2), ones(2), ones(2, dtype=libdl.complex64))
                # REFUSED: gaussian_nll_loss: argument 3 (var) is complex64
            C.gaussian_nll_loss(ones(2), ones(2), ones(2), eps=1e300)
                # REFUSED: gaussian_nll_loss: argument 5 (eps) is 1e+300
            C.gaussian_nll_loss(ones(2), ones(2), libdl.arange(2))
                # REFUSED: gaussian_nll_loss: argument 3 (var) is int64
            """,
        ],
    ),
]

# -- of similarities -------------------------------------------------------------------------------


def sided(**options: Any) -> Any:
    return lambda: [
        Sample((numbers(s, i, away=0.01), signs(s, i)), {"reduction": r, **options})
        for i, s in enumerate([(), (1,), (5,), (2, 3), (4, 33), (3, 1, 2), (2, 2)])
        for r in WORDS
    ]


def hinge_embedding(x: Any, t: Any, margin: float = 1.0) -> Any:
    return np.where(t == 1, x, np.maximum(0, margin - x))


def cosine_samples() -> list[Sample]:
    return [
        Sample(
            (numbers(s, i, 0.1), numbers(s, i + 9), signs(s[:-1], i)), {"reduction": r, "margin": m}
        )
        for i, s in enumerate([(3,), (2, 3), (4, 2), (1, 5)])
        for r in WORDS
        for m in (-1.5, 0.05)
    ]


def cosine_embedding(a: Any, b: Any, t: Any, margin: float) -> Any:
    c = (a * b).sum(-1) / np.sqrt(((a * a).sum(-1) + 1e-12) * ((b * b).sum(-1) + 1e-12))
    return np.where(t == 1, 1 - c, np.maximum(0, c - margin))


def ranked() -> list[Sample]:
    return [
        Sample((numbers(s, i), numbers(s, i + 9), signs(s, i)), {"reduction": r, "margin": m})
        for i, s in enumerate([(1,), (5,), (2, 3), (2, 2)])
        for r in WORDS
        for m in (0.0, 0.3)
    ]


def triplets() -> list[Sample]:
    return [
        Sample(
            (numbers(s, i), numbers(s, i + 9), numbers(s, i + 18)),
            {"reduction": r, "p": p, "swap": swap},
        )
        for i, s in enumerate([(3,), (2, 3), (2, 2, 2)])
        for r in WORDS
        for p, swap in ((2.0, False), (1.0, False), (3.0, True), (2.0, True))
    ]


def distance(a: Any, b: Any, p: float, eps: float = 1e-6) -> Any:
    return (np.abs(a - b + eps) ** p).sum(-1) ** (1 / p)


def triplet(a: Any, b: Any, c: Any, p: float, swap: bool) -> Any:
    far = distance(a, c, p)
    far = np.minimum(far, distance(b, c, p)) if swap else far
    return np.maximum(0, 1 + distance(a, b, p) - far)


SIMILARITIES = [
    Case(
        "hinge_embedding_loss",
        C.hinge_embedding_loss,
        loss(hinge_embedding),
        together(sided(), sided(margin=0.5)),
        roundings=4,
        dtypes="f",
        scale=4,
        terms=4.0,
        rejects=[
            *of_every_loss("hinge_embedding_loss"),
            """
            C.hinge_embedding_loss(ones(2), ones(2, dtype=libdl.complex64))
                # REFUSED: hinge_embedding_loss: argument 2 (target) is complex64
            """,
        ],
    ),
    Case(
        "cosine_embedding_loss",
        C.cosine_embedding_loss,
        loss(cosine_embedding),
        cosine_samples,
        roundings=8,
        dtypes="f",
        scale=16,
        terms=4.0,
        rejects="""
            C.cosine_embedding_loss(ones(2), ones(2), ones(()), reduction="no")
                # ValueError | RuntimeError: cosine_embedding_loss ... (reduction) is "no"
            C.cosine_embedding_loss(ones(2, 2), ones(2, 2), ones(2, 2))
                # REFUSED: cosine_embedding_loss: argument 3 (target) has shape [2, 2]
            C.cosine_embedding_loss(ones(3, 2), ones(3, 2), ones(2))
                # REFUSED: cosine_embedding_loss: argument 3 (target) has shape [2] ... does not
                #    broadcast with [3]
            C.cosine_embedding_loss(ones(2, 2), ones(2), ones(2))
                # REFUSED: cosine_embedding_loss: argument 2 (input2) has shape [2]
            C.cosine_embedding_loss(ones(2, 2), ones(2, 3), ones(2))
                # REFUSED: cosine_embedding_loss: argument 2 (input2) has shape [2, 3]
            C.cosine_embedding_loss(ones(2, 2), ones(2, 2), ones(3))
                # REFUSED: cosine_embedding_loss: argument 3 (target)
            C.cosine_embedding_loss(ones(2, dtype=libdl.complex64), ones(2), ones(()))
                # REFUSED: cosine_embedding_loss: argument 1 (input1) is complex64
            C.cosine_embedding_loss(ones(2), ones(2), ones((), dtype=libdl.complex64))
                # REFUSED: cosine_embedding_loss: argument 3 (target) is complex64
        """,
    ),
    Case(
        "margin_ranking_loss",
        C.margin_ranking_loss,
        loss(lambda a, b, t, margin: np.maximum(0, margin - t * (a - b))),
        ranked,
        roundings=5,
        dtypes="f",
        scale=4,
        terms=4.0,
        rejects="""
            C.margin_ranking_loss(ones(2), ones(2), ones(2), reduction="no")
                # ValueError | RuntimeError: margin_ranking_loss ... (reduction) is "no"
            C.margin_ranking_loss(ones(2), ones(1, 2), ones(2))
                # REFUSED: margin_ranking_loss: argument 2 (input2) has shape [1, 2]
            C.margin_ranking_loss(ones(2), ones(2), ones(3))
                # REFUSED: margin_ranking_loss: argument 3 (target) ... broadcast
            C.margin_ranking_loss(ones(2), ones(2), ones(2) > 0)
                # REFUSED: margin_ranking_loss: argument 3 (target) is bool
        """,
    ),
    Case(
        "triplet_margin_loss",
        C.triplet_margin_loss,
        loss(triplet),
        triplets,
        roundings=8,
        dtypes="f",
        scale=64,
        terms=8.0,
        rejects="""
            C.triplet_margin_loss(ones(2), ones(2), ones(2), reduction="no")
                # ValueError | RuntimeError: triplet_margin_loss ... (reduction) is "no"
            C.triplet_margin_loss(ones(2), ones(2), ones(2), 0.0)
                # ValueError: triplet_margin_loss: argument 4 (margin) is 0 ... above 0
            C.triplet_margin_loss(ones(2), ones(2), ones(1, 2))
                # REFUSED: triplet_margin_loss: argument 3 (negative) has shape [1, 2]
            C.triplet_margin_loss(ones(2), ones(2) > 0, ones(2))
                # REFUSED: triplet_margin_loss: argument 2 (positive) is bool, wanted numbers
            C.triplet_margin_loss(ones(()), ones(()), ones(()))
                # REFUSED: triplet_margin_loss: argument 1 (anchor) is 0-d
            C.triplet_margin_loss(ones(2), ones(3), ones(2))
                # REFUSED: triplet_margin_loss: argument 2 (positive) ... broadcast
            C.triplet_margin_loss(ones(2), ones(2) > 0, ones(2))
                # REFUSED: triplet_margin_loss: argument 2 (positive) is bool
            C.triplet_margin_loss(ones(2), ones(2), ones(2), p=math.nan)
                # REFUSED: triplet_margin_loss: argument 5 (p) is NaN
        """,
    ),
]

# -- of several classes ----------------------------------------------------------------------------


def margins() -> list[Sample]:
    made = []
    for i, (r, p) in enumerate(itertools.product(WORDS, (1, 2))):
        for n, c in ((1, 3), (4, 3), (2, 5)):
            x, t = numbers((n, c), i + n), integers((n,), i, 0, c)
            made += [
                Sample((x, t), {"reduction": r, "p": p, "margin": 0.7}),
                Sample((x, t, p, 1.0, numbers((c,), i, 0.5, 2.0).view(Fixed)), {"reduction": r}),
            ]
    return [
        *made,
        Sample((numbers((3,), 1), np.asarray(2))),
        Sample((numbers((0, 3), 1), integers((0,), 1, 0, 3)), {"reduction": "sum"}),
    ]


def multi_margin(
    x: Any, t: Any, p: int = 1, margin: float = 1.0, weight: Any = None, reduction: str = "mean"
) -> Any:
    rows, labels = np.atleast_2d(x), np.atleast_1d(t)
    at = np.arange(len(labels)), labels
    z = np.maximum(0, margin - rows[at][:, None] + rows) ** p
    z[at] = 0
    z = z * (1 if weight is None else weight[labels][:, None])
    each = z.sum(1) / rows.shape[1]
    return reduced(each if t.ndim else each[0], reduction)


LABELS = [[[3, 0, -1, 1], [0, 1, 2, 3]], [[-1, 0, 1, 2], [1, 1, -1, 0]], [[2, -1, -1, -1]] * 2]


def lists() -> list[Sample]:
    made = [
        Sample((numbers((2, 4), 7 * i + k, -1.0, 1.0), np.array(t)), {"reduction": r})
        for i, t in enumerate(LABELS)
        for k, r in enumerate(WORDS)
        for _ in range(3)
    ]
    made = [
        Sample((numbers((2, 4), n, -1.0, 1.0), s.args[1]), s.kwargs) for n, s in enumerate(made)
    ]
    return [
        *made,
        Sample((numbers((4,), 1), np.array([1, 3, -1, 0]))),
        Sample((numbers((0, 4), 1), np.zeros((0, 4), np.int64)), {"reduction": "none"}),
    ]


def multilabel_margin(x: Any, t: Any, reduction: str = "mean") -> Any:
    each = []
    for row, labels in zip(np.atleast_2d(x), np.atleast_2d(t)):
        right = list(itertools.takewhile(lambda c: c >= 0, labels))
        wrong = [c for c in range(len(row)) if c not in right]
        each.append(sum(max(0.0, 1 - row[a] + row[b]) for a in right for b in wrong) / len(row))
    return reduced(np.array(each) if x.ndim > 1 else each[0], reduction)


whole = libdl.tensor
CLASSES = [
    Case(
        "multi_margin_loss",
        C.multi_margin_loss,
        multi_margin,
        margins,
        roundings=6,
        dtypes="f",
        scale=8,
        terms=8.0,
        rejects="""
            C.multi_margin_loss(ones(1, 2), whole([0]), reduction="no")
                # ValueError | RuntimeError: multi_margin_loss ... (reduction) is "no"
            C.multi_margin_loss(ones(1, 2), whole([2]))
                # IndexError: multi_margin_loss: argument 2 (target) holds 2 ... 0 to 1
            C.multi_margin_loss(ones(1, 2), whole([-1]))
                # IndexError: multi_margin_loss: argument 2 (target) holds -1
            C.multi_margin_loss(ones(1, 0), whole([0]))
                # REFUSED: multi_margin_loss: argument 1 (input) has shape [1, 0]
            C.multi_margin_loss(whole([[0]]), whole([0]))
                # REFUSED: multi_margin_loss: argument 1 (input) is int64
            C.multi_margin_loss(ones(1, 2), whole([0], dtype=libdl.int32))
                # REFUSED: multi_margin_loss: argument 2 (target) is int32
            C.multi_margin_loss(ones(1, 2), whole([0, 0]))
                # REFUSED: multi_margin_loss: argument 2 (target) has shape [2]
            C.multi_margin_loss(ones(1, 2), whole([0]), 3)
                # ValueError: multi_margin_loss: argument 3 (p) is 3 ... 1 or 2
            C.multi_margin_loss(ones(1, 2), whole([0]), weight=ones(3))
                # REFUSED: multi_margin_loss: argument 5 (weight) has shape [3]
            C.multi_margin_loss(ones(1, 2), whole([0]), weight=ones(2).double())
                # REFUSED: multi_margin_loss: argument 5 (weight) is float64
            C.multi_margin_loss(ones(1, 2), whole([0]), weight=ones(2, requires_grad=True))
                # RuntimeError: multi_margin_loss: argument 5 (weight) requires grad
        """,
    ),
    Case(
        "multilabel_margin_loss",
        C.multilabel_margin_loss,
        multilabel_margin,
        lists,
        roundings=6,
        dtypes="f",
        scale=8,
        terms=8.0,
        rejects="""
            C.multilabel_margin_loss(ones(2), whole([0, -1]), reduction="no")
                # ValueError | RuntimeError: multilabel_margin_loss ... (reduction) is "no"
            C.multilabel_margin_loss(ones(2), whole([2, -1]))
                # IndexError: multilabel_margin_loss: argument 2 (target) holds 2 ... 0 to 1
            C.multilabel_margin_loss(ones(2), whole([-2, -1]))
                # IndexError: multilabel_margin_loss: argument 2 (target) holds -2
            C.multilabel_margin_loss(ones(2), whole([0]))
                # REFUSED: multilabel_margin_loss: argument 2 (target) has shape [1]
            C.multilabel_margin_loss(ones(1), whole([0], dtype=libdl.int32))
                # REFUSED: multilabel_margin_loss: argument 2 (target) is int32
            C.multilabel_margin_loss(ones(1, 1, 1), whole([[[0]]]))
                # REFUSED: multilabel_margin_loss: argument 1 (input) has shape [1, 1, 1]
        """,
    ),
]

CASES = DIFFERENCES + BINARY + LIKELIHOODS + SIMILARITIES + CLASSES

# SPDX-License-Identifier: Apache-2.0
"""Losses, and functions of two inputs."""

from __future__ import annotations

from arguments import Draw
from recipes import Made, recipe

WORDS = ("'sum'", "'mean'", "'none'", "'x'")


def reduction(d: Draw) -> dict[str, str]:
    return {"reduction": d.some(*WORDS)} if d.chance(0.6) else {}


def real(d: Draw) -> None:
    """Most losses refuse complex numbers, and what they do with infinities is rounding."""
    if d.kind in ("special", "far"):
        d.kind = "plain"


@recipe("binary_cross_entropy")
def binary_cross_entropy(d: Draw) -> Made:
    d.kind = "unit"
    d.shape = d.some_shape()
    named = reduction(d)
    if d.chance(0.3):
        named["weight"] = d.tensor(d.shape, grad=False)
    return [d.tensor(d.shape), d.tensor(d.shape)], named


@recipe("binary_cross_entropy_with_logits")
def with_logits(d: Draw) -> Made:
    real(d)
    d.shape = d.some_shape()
    named = reduction(d)
    for name in ("weight", "pos_weight"):
        if d.chance(0.3):
            named[name] = d.tensor(d.shape, kind="positive")
    return [d.tensor(d.shape), d.tensor(d.shape, kind="unit")], named


@recipe("linear_cross_entropy")
def linear_cross_entropy(d: Draw) -> Made:
    real(d)
    n, classes, features = d.some(0, 1, 3), d.some(1, 4), d.some(1, 3)
    more = d.some((), (), (2,), (2, 1))
    batch = d.some((n,), (n,), (n,), ()) if not more else (n,)
    named = reduction(d) | ({"label_smoothing": "0.1"} if d.chance(0.3) else {})
    if d.chance(0.4):
        named["linear_bias"] = d.tensor((classes, *more))
    if d.chance(0.3):
        named["weight"] = d.tensor((classes,), kind="positive", grad=False)
    if n > 0 and d.chance(0.3):  # PyTorch's tangent of a mean of nothing is 0 or NaN
        target = d.tensor((*batch, classes, *more), kind="positive", grad=False)
    else:
        target = d.indices((*batch, *more), classes)
        named |= {"ignore_index": "-100"} if d.chance(0.3) else {}
    return [d.tensor((*batch, features)), d.tensor((classes, *more, features)), target], named


@recipe("kl_div")
def kl_div(d: Draw) -> Made:
    real(d)
    d.shape = d.some_shape()
    named = {"reduction": d.some(*WORDS[:3], "'batchmean'")} | (
        {"log_target": "True"} if d.chance(0.4) else {}
    )
    return [d.tensor(d.shape), d.tensor(d.shape, kind="positive")], named


@recipe("poisson_nll_loss")
def poisson_nll_loss(d: Draw) -> Made:
    real(d)
    d.shape = d.some_shape()
    named = reduction(d)
    for name in ("log_input", "full"):
        if d.chance(0.4):
            named[name] = d.some("True", "False")
    return [d.tensor(d.shape, kind="positive"), d.tensor(d.shape, kind="positive")], named


@recipe("gaussian_nll_loss")
def gaussian_nll_loss(d: Draw) -> Made:
    real(d)
    d.shape = d.some_shape(1)
    var = d.some(d.shape, d.shape[:-1], (*d.shape[:-1], 1))
    named = reduction(d) | ({"full": "True"} if d.chance(0.4) else {})
    return [d.tensor(d.shape), d.tensor(d.shape), d.tensor(var, kind="positive")], named


@recipe("hinge_embedding_loss")
def hinge_embedding_loss(d: Draw) -> Made:
    real(d)
    d.shape = d.some_shape()
    named = reduction(d) | ({"margin": "0.5"} if d.chance(0.4) else {})
    return [d.tensor(d.shape), d.tensor(d.shape, kind="few", grad=False)], named


@recipe("cosine_embedding_loss")
def cosine_embedding_loss(d: Draw) -> Made:
    real(d)
    d.shape = d.some((2, 3), (3,), (1, 4))
    named = reduction(d) | ({"margin": "0.5"} if d.chance(0.4) else {})
    target = d.tensor(d.shape[:-1], kind="few", grad=False)
    return [d.tensor(d.shape), d.tensor(d.shape), target], named


@recipe("margin_ranking_loss")
def margin_ranking_loss(d: Draw) -> Made:
    real(d)
    d.shape = d.some_shape()
    named = reduction(d) | ({"margin": "0.5"} if d.chance(0.4) else {})
    return [d.tensor(d.shape), d.tensor(d.shape), d.tensor(d.shape, kind="few", grad=False)], named


@recipe("multi_margin_loss")
def multi_margin_loss(d: Draw) -> Made:
    real(d)
    n, c = d.some(1, 2, 3), d.some(1, 2, 4)
    named = reduction(d) | ({"p": d.some("1", "2", "3")} if d.chance(0.4) else {})
    if d.chance(0.3):
        named["weight"] = d.tensor((c,), kind="positive", grad=False)
    return [d.tensor((n, c)), d.indices((n,), c)], named


@recipe("multilabel_margin_loss")
def multilabel_margin_loss(d: Draw) -> Made:
    real(d)
    shape = d.some((1, 3), (2, 4), (3,))
    return [d.tensor(shape), d.indices(shape, shape[-1])], reduction(d)


@recipe("multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(d: Draw) -> Made:
    real(d)
    d.shape = d.some_shape(1)
    named = reduction(d)
    if d.chance(0.3):
        named["weight"] = d.tensor(d.shape[-1:], kind="positive")
    return [d.tensor(d.shape), d.tensor(d.shape, kind="unit")], named


@recipe("triplet_margin_loss", "triplet_margin_with_distance_loss")
def triplet_margin_loss(d: Draw) -> Made:
    real(d)
    d.shape = d.some_shape(1)
    named = reduction(d) | ({"swap": "True"} if d.chance(0.4) else {})
    if d.chance(0.3):
        named["margin"] = d.some("0.5", "0.0", "2.0")
    return [d.tensor(d.shape) for _ in range(3)], named


@recipe("ctc_loss")
def ctc_loss(d: Draw) -> Made:
    real(d)
    t, n, c, s = d.some(2, 4, 5), d.some(1, 2), d.some(2, 4), d.some(1, 2)
    named = reduction(d) | ({"zero_infinity": "True"} if d.chance(0.4) else {})
    args = [d.tensor((t, n, c)), d.indices((n, s), c), str([t] * n), str([s] * n)]
    return args, named


@recipe("pairwise_distance")
def pairwise_distance(d: Draw) -> Made:
    real(d)
    d.shape = d.some_shape(1)
    args = [d.tensor(d.shape), d.tensor(d.shape)]
    return args, ({"p": d.some("1.0", "2.0", "3.0")} if d.chance(0.5) else {})


@recipe("pdist")
def pdist(d: Draw) -> Made:
    real(d)
    d.shape = d.some((3, 2), (4, 3), (1, 2), (0, 2), (2, 2, 2))
    return [d.tensor(d.shape)], ({"p": d.some("1.0", "2.0", "3.0")} if d.chance(0.5) else {})


@recipe("bilinear")
def bilinear(d: Draw) -> Made:
    real(d)
    lead = d.some((), (2,), (2, 3), (0,))
    args = [d.tensor((*lead, 3)), d.tensor((*lead, 2)), d.tensor((4, 3, 2))]
    return args + ([d.tensor((4,))] if d.chance(0.5) else []), {}


@recipe("local_response_norm")
def local_response_norm(d: Draw) -> Made:
    real(d)
    d.shape = d.some((2, 3, 4), (1, 5, 2, 2), (2, 2, 1), (2, 3))
    return [d.tensor(d.shape), d.some("1", "2", "3", "5")], {}


@recipe("glu")
def glu(d: Draw) -> Made:
    d.shape = d.some((4,), (2, 4), (4, 3), (2, 2, 2), (3,))
    return [d.tensor(d.shape)], ({"dim": d.dim()} if d.chance(0.5) else {})


@recipe("prelu")
def prelu(d: Draw) -> Made:
    d.shape = d.some((2, 3), (3,), (2, 3, 2), ())
    return [d.tensor(d.shape), d.tensor(d.some((1,), (3,), ()))], {}

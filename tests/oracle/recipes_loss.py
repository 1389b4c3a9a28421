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


@recipe("ctc_loss")
def ctc_loss(d: Draw) -> Made:
    real(d)
    t, n, c, s = d.some(2, 4, 5), d.some(1, 2), d.some(2, 4), d.some(1, 2)
    named = reduction(d) | ({"zero_infinity": "True"} if d.chance(0.4) else {})
    args = [d.tensor((t, n, c)), d.indices((n, s), c), str([t] * n), str([s] * n)]
    return args, named

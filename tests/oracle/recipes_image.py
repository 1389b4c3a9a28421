# SPDX-License-Identifier: Apache-2.0
"""Recipes for what moves or resamples pixels."""

from __future__ import annotations

from arguments import FLOATS, Draw
from recipes import Made, recipe


def image(d: Draw, dims: int, batch: bool = True) -> str:
    """[n, c, ...] with so many further dimensions."""
    if d.kind in ("special", "far"):  # a weight of zero times infinity is the algorithm's choice
        d.kind = "plain"
    lead = d.some((2,), (1,), (1,), (0,)) if batch else d.some((2,), (1,), ())
    d.shape = (*lead, d.some(1, 2, 3), *(d.some(1, 2, 3, 4, 5) for _ in range(dims)))
    return d.tensor(d.shape)


@recipe("F.pad")
def pad(d: Draw) -> Made:
    mode = d.some("constant", "constant", "reflect", "replicate", "circular")
    if mode == "constant":
        x = d.input()
        dims = d.r.randrange(len(d.shape) + 1)
    else:
        if d.dtype not in FLOATS:
            d.dtype = "float64"
        dims = d.some(1, 2, 3)
        x = image(d, dims, batch=False)
    sides = [d.some(0, 1, 2, 3, 1, -1) for _ in range(2 * dims)]
    named = {} if mode == "constant" and d.chance(0.5) else {"mode": repr(mode)}
    if mode == "constant" and d.chance(0.4):
        named["value"] = d.some("1.5", "0.0", "2", "-1.0")
    return [x, str(sides)], named


@recipe("F.interpolate", "F.upsample")
def interpolate(d: Draw) -> Made:
    dims = d.some(1, 2, 2, 3)
    mode = d.some(
        "nearest", "area", {1: "linear", 2: d.some("bilinear", "bicubic"), 3: "trilinear"}[dims]
    )
    if d.dtype not in FLOATS:
        d.dtype = "float64"
    x = image(d, dims)
    sizes = tuple(d.some(1, 2, 3, 5, 7) for _ in range(dims))
    # Factors whose sizes are exact: the kernels of one mode disagree about others.
    named = {"mode": repr(mode)} | d.some(
        {"size": str(sizes)}, {"size": d.some("3", "6")}, {"scale_factor": d.some("2", "3.0")}
    )
    if mode not in ("nearest", "area") and d.chance(0.5):
        named["align_corners"] = d.some("True", "False")
    return [x], named


@recipe("F.upsample_nearest", "F.upsample_bilinear")
def upsample(d: Draw) -> Made:
    if d.dtype not in FLOATS:
        d.dtype = "float64"
    return [image(d, 2)], d.some({"size": d.some("3", "(2, 5)")}, {"scale_factor": "2"})

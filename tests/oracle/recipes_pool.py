# SPDX-License-Identifier: Apache-2.0
"""Recipes for pooling."""

from __future__ import annotations

import functools
import math
from typing import Any

from arguments import Draw
from recipes import Made, recipe

# Behind the batch and the channels. Seldom: too few dimensions, or one of no elements.
SIZES = {
    1: ((4,), (5,), (7,), (3,), (1,), (8,)),
    2: ((4, 4), (5, 4), (3, 3), (6, 3), (1, 5), (2, 7)),
    3: ((3, 3, 3), (4, 3, 2), (2, 5, 3), (1, 2, 4)),
}


def image(d: Draw, dims: int, least: int = 0) -> str:
    batch = d.some((2,), (1,), (), (), (0,))
    channels = d.some(1, 2, 3, 5, least) if d.chance(0.2) else d.some(1, 2, 3)
    d.shape = (*batch, channels, *d.some(*SIZES[dims]))
    if d.chance(0.03):
        d.shape = d.shape[-dims:]
    return d.tensor(d.shape)


def each(d: Draw, dims: int, *some: Any) -> str:
    """One number, or one for each dimension."""
    if d.chance(0.5):
        return str(d.some(*some))
    return str(tuple(d.some(*some) for _ in range(dims)))


def windows(d: Draw, dims: int, *more: str) -> dict[str, str]:
    """Some of stride, ceil_mode and `more`."""
    named = {}
    choices = {"stride": (1, 2, 3), "padding": (0, 1, 1, 2), "dilation": (1, 2)}
    for name in ("stride", *more):
        if d.chance(0.4):
            named[name] = (
                d.some("None", "0")
                if name == "stride" and d.chance(0.1)
                else each(d, dims, *choices[name])
            )
    if d.chance(0.3):
        named["ceil_mode"] = d.some("True", "False")
    return named


def max_pool(d: Draw, dims: int) -> Made:
    args = [image(d, dims), each(d, dims, 1, 2, 3)]
    # A dilation of 2 may step over a dimension of 1, which libdl refuses.
    dilates = min(d.shape[-dims:]) > 1
    return args, windows(d, dims, "padding", *(["dilation"] if dilates else []))


def avg_pool(d: Draw, dims: int) -> Made:
    args = [image(d, dims), each(d, dims, 1, 2, 3)]
    named = windows(d, dims, "padding")
    if d.chance(0.4):
        named["count_include_pad"] = d.some("True", "False")
    if dims > 1 and d.chance(0.3):
        named["divisor_override"] = d.some("1", "3", "-2", "0", "None")
    return args, named


def adaptive_pool(d: Draw, dims: int) -> Made:
    sizes = (1, 2, 3, 5) if dims == 1 else (1, 2, 3, 5, None)
    output = each(d, dims, *sizes)
    # PyTorch's derivatives refuse images without channels.
    return [image(d, dims, least=1), "2" if output == "None" else output], {}


def lp_pool(d: Draw, dims: int) -> Made:
    power = d.some("1", "2", "2.0", "3", "1.5", "float('inf')", "-float('inf')", "0")
    window = each(d, dims, 1, 2, 3) if dims > 1 else d.some("1", "2", "3")
    return [image(d, dims), power, window], windows(d, dims) if dims > 1 else {}


def max_unpool(d: Draw, dims: int) -> Made:
    x = image(d, dims)
    sizes = d.shape[-dims:]
    window = d.some(1, 2, 3)
    at = d.indices(d.shape, max(math.prod(n * window for n in sizes), 1))
    named = {}
    if d.chance(0.3):
        named["output_size"] = str([n * window + d.some(0, 0, 1, -1, 3) for n in sizes])
    return [x, at, str(window)], named


def fractional_max_pool(d: Draw, dims: int) -> Made:
    x = image(d, dims)
    lead = d.shape[:-dims] if len(d.shape) > dims + 1 else (1, *d.shape[:1])
    named = {"_random_samples": d.tensor((*lead, dims), kind="unit", grad=False)}
    if d.chance(0.6):
        named["output_size"] = each(d, dims, 1, 2, 3)
    else:
        named["output_ratio"] = str(tuple(d.some(0.5, 0.7) for _ in range(dims)))
    return [x, each(d, dims, 1, 2)], named


for _n in (1, 2, 3):
    for _names, _made in (
        ((f"max_pool{_n}d", f"max_pool{_n}d_with_indices"), max_pool),
        ((f"avg_pool{_n}d",), avg_pool),
        ((f"lp_pool{_n}d",), lp_pool),
        (
            (
                f"adaptive_avg_pool{_n}d",
                f"adaptive_max_pool{_n}d",
                f"adaptive_max_pool{_n}d_with_indices",
            ),
            adaptive_pool,
        ),
        ((f"max_unpool{_n}d",), max_unpool),
        (
            (f"fractional_max_pool{_n}d", f"fractional_max_pool{_n}d_with_indices"),
            fractional_max_pool,
        ),
    ):
        recipe(*_names)(functools.partial(_made, dims=_n))

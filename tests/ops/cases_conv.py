# SPDX-License-Identifier: Apache-2.0
"""Convolutions, and transposed ones."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import libdl
from libdl.nn import functional as F
from refusals import refusals
from samples import Case, Reject, Sample, numbers


def _each(given: Any, dims: int) -> tuple[int, ...]:
    some = (given,) if isinstance(given, int) else tuple(given)
    return some * dims if len(some) == 1 else some


def _taps(window: tuple[int, ...]) -> Any:
    return itertools.product(*map(range, window))


def convolved(
    x: Any,
    w: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """Tap by tap: each adds a product of the weights under it with a shifted image."""
    dims = w.ndim - 2
    if x.ndim == w.ndim - 1:
        return convolved(x[None], w, bias, stride, padding, dilation, groups)[0]
    stride, dilation = _each(stride, dims), _each(dilation, dims)
    sides = _each(padding, dims)
    sides = [(p, p) for p in sides] if len(sides) == dims else list(zip(sides[::2], sides[1::2]))
    x = np.pad(x, [(0, 0), (0, 0), *sides])
    sizes = [
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(x.shape[2:], w.shape[2:], stride, dilation)
    ]
    n, k = len(x), len(w)
    y = np.zeros((n, groups, k // groups, *sizes), np.result_type(x, w))
    for tap in _taps(w.shape[2:]):
        part = x[
            (
                ...,
                *(
                    slice(t * d, t * d + (m - 1) * s + 1, s)
                    for t, d, m, s in zip(tap, dilation, sizes, stride)
                ),
            )
        ]
        part = part.reshape(n, groups, x.shape[1] // groups, *sizes)
        under = w[(..., *tap)].reshape(groups, k // groups, w.shape[1])
        y = y + np.einsum("gkc,ngc...->ngk...", under, part)
    y = y.reshape(n, k, *sizes)
    return y if bias is None else y + bias.reshape(-1, *[1] * dims)


def spread(
    x: Any,
    w: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """Each element of x adds the weights, times itself, to a window of the result."""
    dims = w.ndim - 2
    if x.ndim == w.ndim - 1:
        return spread(x[None], w, bias, stride, padding, output_padding, groups, dilation)[0]
    stride, dilation, padding = (_each(v, dims) for v in (stride, dilation, padding))
    more, n = _each(output_padding, dims), len(x)
    sizes = [
        (m - 1) * s + d * (k - 1) + 1 + o
        for m, s, d, k, o in zip(x.shape[2:], stride, dilation, w.shape[2:], more)
    ]
    y = np.zeros((n, groups, w.shape[1], *sizes), np.result_type(x, w))
    parts = x.reshape(n, groups, x.shape[1] // groups, *x.shape[2:])
    for tap in _taps(w.shape[2:]):
        under = w[(..., *tap)].reshape(groups, x.shape[1] // groups, w.shape[1])
        places = tuple(
            slice(t * d, t * d + (m - 1) * s + 1, s)
            for t, d, m, s in zip(tap, dilation, x.shape[2:], stride)
        )
        y[(..., *places)] += np.einsum("gck,ngc...->ngk...", under, parts)
    y = y.reshape(n, groups * w.shape[1], *sizes)
    y = y[(..., *(slice(p, m - p) for p, m in zip(padding, sizes)))]
    return y if bias is None else y + bias.reshape(-1, *[1] * dims)


# x, w, whether there is a bias, how: one channel and several, groups, depthwise, windows that reach
# over the whole image, strides that leave rows out, no batch, empty batches.
CONV = {
    1: [
        ((2, 3, 7), (4, 3, 3), True, {}),
        ((2, 4, 9), (6, 2, 2), False, {"stride": 2, "padding": 1, "groups": 2}),
        ((3, 5), (2, 3, 5), True, {"padding": (2, 1), "dilation": 1}),
        ((1, 9, 12), (9, 1, 3), True, {"groups": 9, "padding": 1}),
        ((0, 2, 4), (3, 2, 2), True, {}),
    ],
    2: [
        ((2, 3, 5, 4), (4, 3, 3, 2), True, {}),
        ((1, 2, 6, 7), (3, 2, 3, 3), True, {"stride": (2, 1), "padding": 1}),
        ((1, 3, 5, 5), (6, 1, 3, 3), False, {"groups": 3, "padding": (1, 0), "dilation": (1, 2)}),
        ((2, 1, 1, 1), (1, 1, 1, 1), True, {"padding": 2, "stride": 3}),
        ((1, 9, 4, 3), (9, 1, 3, 3), True, {"groups": 9, "padding": 1, "stride": 2}),
        ((1, 2, 2, 3), (4, 1, 5, 5), True, {"groups": 2, "padding": 2}),
        ((17, 4, 3), (33, 17, 1, 1), False, {"stride": 2}),
        ((1, 2, 3, 3), (2, 2, 2, 3), False, {"padding": (0, 1, 1, 1)}),
    ],
    3: [
        ((1, 2, 3, 4, 3), (3, 2, 2, 1, 3), True, {"padding": (0, 0, 1)}),
        (
            (2, 2, 3, 3, 3),
            (2, 1, 2, 2, 2),
            False,
            {"groups": 2, "stride": (1, 2, 1), "dilation": (2, 1, 1)},
        ),
    ],
}
TRANSPOSED = {
    1: [
        ((2, 4, 5), (4, 3, 3), True, {"stride": 2, "padding": 1, "output_padding": 1}),
        ((2, 3), (2, 2, 2), False, {"groups": 2, "dilation": 2, "output_padding": 1}),
    ],
    2: [
        ((2, 3, 3, 4), (3, 2, 3, 2), True, {"stride": (2, 1), "padding": (1, 0)}),
        ((1, 4, 3, 2), (4, 1, 2, 2), True, {"stride": 3, "groups": 4, "output_padding": (2, 1)}),
        ((1, 9, 2, 3), (9, 1, 3, 3), True, {"stride": 2, "groups": 9, "padding": 1}),
        ((3, 2, 2), (3, 17, 1, 1), False, {}),
        ((0, 2, 3, 3), (2, 3, 2, 2), True, {}),
    ],
    3: [((1, 2, 2, 3, 2), (2, 2, 2, 1, 2), True, {"stride": (1, 2, 2), "padding": (0, 0, 1)})],
}


def _drawn(dims: int, transposed: bool, seed: int) -> Any:
    """One more of these, small."""
    some = np.random.default_rng(seed)

    def each(low: int, high: int) -> tuple[int, ...]:
        return tuple(int(n) for n in some.integers(low, high + 1, dims))

    groups, c, k = (int(n) for n in some.integers(1, 3 if dims < 3 else 2, 3))
    window, dilation, stride, padding = each(1, 2), each(1, 2), each(1, 3), each(0, 2)
    if transposed:
        how = {
            "stride": stride,
            "dilation": dilation,
            "groups": groups,
            "output_padding": tuple(max(s, d) - 1 for s, d in zip(stride, dilation)),
        }
        return (
            (1 + seed % 2, groups * c, *each(1, 2)),
            (groups * c, k, *window),
            bool(seed % 2),
            how,
        )
    room = tuple(max(1, d * (t - 1) + 1 - 2 * p) for t, d, p in zip(window, dilation, padding))
    sizes = tuple(n + m for n, m in zip(room, each(0, 1)))
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    return (1 + seed % 2, groups * c, *sizes), (groups * k, c, *window), bool(seed % 2), how


def _samples(some: list[Any], transposed: bool) -> Any:
    def make() -> list[Sample]:
        made = []
        dims = len(some[0][1]) - 2
        drawn = [_drawn(dims, transposed, seed) for seed in range(22 - len(some))]
        for i, (x, w, bias, how) in enumerate(some + drawn):
            channels = w[1] * how.get("groups", 1) if transposed else w[0]
            args = (numbers(x, 40 + i), numbers(w, 60 + i))
            made.append(Sample((*args, numbers((channels,), 80 + i)) if bias else args, how))
        return made

    return make


def wrong(name: str, function: Any, dims: int, transposed: bool) -> list[Reject]:
    def ones(*shape: int, dtype: Any = libdl.float32) -> Any:
        return libdl.ones(*shape, dtype=dtype)

    image, window = (2, 4, *[5] * dims), (4, 2 if transposed else 4, *[2] * dims)
    x, w = ones(*image), ones(*window)
    errors = (ValueError, RuntimeError)
    return [
        *refusals(
            f"""
                function(ones(5), w)
                    # errors: {name}: argument 1 (input) has shape [5]
                function(x, ones(4, 4))
                    # errors: {name}: argument 2 (weight) has shape ... {dims + 2} dimensions
                function(ones(2, 3, *[5] * dims), w)
                    # errors: {name}: argument 1 (input) has 3 channels, wanted 4
                function(x, w, groups=3)
                    # errors: {name}: argument 2 (weight) has shape ... a multiple of groups, 3
                function(x, ones(*window[:2], *[0] * dims))
                    # errors: {name}: argument 2 (weight) ... a window of 1 or more
                function(x, w, ones(7))
                    # errors: {name}: argument 3 (bias) has shape [7], wanted
                function(ones(2, 4, *[0] * dims), w)
                    # errors: {name}: argument 1 (input) has shape ... only n and c may be 0
                function(x, w, stride=0)
                    # ValueError: {name}: argument 4 (stride) is [0], wanted 1 to
                function(x, w, padding=-1)
                    # ValueError: {name}: argument 5 (padding) is [-1], wanted 0 to
                function(x, w, padding=(1,) * 7)
                    # ValueError: {name}: argument 5 (padding) has 7 entries
                function(x, w, groups=0)
                    # ValueError: {name}: argument 7 (groups) is 0, wanted 1 or more
                function(x, w, dilation=0)
                    # ValueError: {name}: argument {8 if transposed else 6} (dilation) is [0]
                function(x.bool(), w.bool())
                    # TypeError | RuntimeError: {name}: argument 1 (input) is bool
                function(x, w.double())
                    # TypeError | RuntimeError: {name}: argument 1 (input) is float32, wanted
                    #    float64, as argument 2 (weight)
                function(x, w, ones(4, dtype=libdl.float64)[: 2 if transposed else 4])
                    # TypeError | RuntimeError: {name}: argument 3 (bias) is float64, wanted float32
            """,
            globals() | locals(),
        ),
        *(
            refusals(
                f"""
                    function(x, w, output_padding=1)
                        # ValueError: {name}: argument 6 (output_padding) is 1 ... which the larger
                        #    is 1
                    function(x, w, padding=3)
                        # errors: {name}: argument 1 (input) ... at least 1 in each dimension
                """,
                globals() | locals(),
            )
            if transposed
            else refusals(
                f"""
                    function(x, ones(*window[:2], *[6] * dims))
                        # errors: {name}: argument 1 (input) has shape ... room for a window that
                        #    reaches over 6 in dimension 2
                """,
                globals() | locals(),
            )
        ),
    ]


# A sum of products of channels and taps.
common: dict[str, Any] = {"dtypes": "fiuc", "scale": 8.0, "terms": 64.0}

CASES = [
    case
    for dims in (1, 2, 3)
    for case in (
        Case(
            f"conv{dims}d",
            getattr(libdl, f"conv{dims}d"),
            convolved,
            _samples(CONV[dims], False),
            rejects=wrong(f"conv{dims}d", getattr(libdl, f"conv{dims}d"), dims, False),
            **common,
        ),
        Case(
            f"conv_transpose{dims}d",
            getattr(F, f"conv_transpose{dims}d"),
            spread,
            _samples(TRANSPOSED[dims], True),
            rejects=wrong(
                f"conv_transpose{dims}d", getattr(F, f"conv_transpose{dims}d"), dims, True
            ),
            **common,
        ),
    )
]


def over_steps(x: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """Steps first: [t, n, c] and [w, c, k]."""
    x = np.pad(x, ((pad, pad), (0, 0), (0, 0)))
    windows = [x[i : i + len(weight)] for i in range(len(x) - len(weight) + 1)]
    return np.stack([np.einsum("wnc,wck->nk", part, weight) + bias for part in windows])


def steps() -> list[Sample]:
    return [
        Sample((numbers((t, n, c), i), numbers((w, c, k), i + 50), numbers((k,), i + 90)), how)
        for i, (t, n, c, w, k) in enumerate(
            [(5, 2, 3, 2, 2), (4, 1, 1, 3, 1), (3, 3, 2, 1, 4), (2, 1, 2, 2, 1), (6, 2, 1, 2, 3)]
        )
        for how in ({}, {"pad": 1}, {"pad": 2}, {"pad": 0})
    ]


CASES.append(
    Case(
        "conv_tbc",
        libdl.conv_tbc,
        over_steps,
        steps,
        rejects="""
            libdl.conv_tbc(libdl.ones(2, 3), libdl.ones(1, 3, 2), libdl.ones(2))
                # ValueError: conv_tbc: argument 1 (input) has shape [2, 3], wanted [t, n, c]
            libdl.conv_tbc(libdl.ones(2, 1, 3), libdl.ones(3, 2), libdl.ones(2))
                # ValueError: conv_tbc: argument 2 (weight) has shape [3, 2], wanted [w, c, k]
            libdl.conv_tbc(libdl.ones(2, 1, 3), libdl.ones(1, 3, 2), libdl.ones(2), -1)
                # ValueError: conv_tbc: argument 4 (pad) is [-1]
        """,
        **common,
    )
)

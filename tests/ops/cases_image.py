# SPDX-License-Identifier: Apache-2.0
"""Pixels moved or resampled: pad, shuffles, windows as columns, other sizes, grids."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

import libdl
from libdl.nn import functional as F
from refusals import refusals
from samples import Case, Reject, Sample, numbers


def ones(*shape: int, dtype: Any = libdl.float32) -> Any:
    return libdl.ones(*shape, dtype=dtype)


# -- pad -------------------------------------------------------------------------------------------

MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def padded(x: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """NumPy's, with what numbers below 0 leave out cut off: before that if the rest is what is
    repeated."""
    sides = [(0, 0)] * (x.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2]))[::-1]
    more = [(max(0, a), max(0, b)) for a, b in sides]
    first = mode in ("constant", "circular")
    whole = x.shape if first else [n + a + b for n, (a, b) in zip(x.shape, more)]
    less = tuple(slice(max(0, -a), n - max(0, -b)) for (a, b), n in zip(sides, whole))
    if x.ndim == 0:
        return x
    if mode == "constant":
        return np.pad(x[less], more, constant_values=value or 0)
    if mode == "circular":
        return np.pad(x[less], more, mode="wrap")
    return np.pad(x, more, mode=MODES[mode])[less]  # type: ignore[call-overload]


CONSTANT = [
    ((), ()),
    ((3,), (1, 2)),
    ((3,), (-1, 2)),
    ((2, 3), (1, 0, 0, 2)),
    ((2, 3), (-1, -1)),
    ((2, 3), ()),
    ((0, 2), (1, 1, 2, 0)),
    ((2, 0), (3, 0)),
    ((2, 1, 2, 1), (0, 1) * 4),
    ((1, 2, 2, 2, 2, 1), (1, 0, 0, -1, 2, 1)),
    ((4, 5), (-2, -3, 1, 1)),
]
AROUND = [
    ((2, 4), (1, 2)),
    ((1, 2, 4), (3, 0)),
    ((2, 3, 4), (1, 2, 2, 0)),
    ((2, 5), (-1, 3)),
    ((2, 1, 3, 3), (0, 1, 2, 2)),
    ((1, 3, 2, 4), (2, 1, 0, 1, 1, 2)),
    ((1, 2, 2, 3, 3), (1, 1, 1, 1, 1, 1)),
    ((2, 5), (2, -2)),
    ((1, 4, 4), (-1, -1, 2, 1)),
    ((0, 2, 3), (1, 1)),
    ((2, 4), (0, 0)),
    ((1, 1, 4, 5), (-2, 3, 1, -1)),
]


def pad_samples(mode: str) -> Any:
    def make() -> list[Sample]:
        made = []
        for i, (shape, pad) in enumerate(CONSTANT if mode == "constant" else AROUND):
            x = numbers(shape, 20 + i)
            made += [
                Sample((x, pad, mode)),
                Sample(
                    (numbers(shape, 50 + i), pad, mode),
                    {"value": 1.0 if mode == "constant" else None},
                ),
            ]
        return made

    return make


PAD_REJECTS = """
F.pad(ones(2, 3), (1, 1), "mirror")
    # ValueError: pad: argument 3 (mode) is 'mirror', wanted 'constant', 'reflect'
F.pad(ones(2, 3), (1, 1, 1))
    # ValueError: pad: argument 2 (pad) has 3 entries, wanted two for each dimension
F.pad(ones(2, 3), (1,) * 6)
    # ValueError: pad: argument 2 (pad) has 6 entries, wanted at most 4
F.pad(ones(1, 1, 1, 1, 1), (1,) * 8, "reflect")
    # ValueError: pad: argument 2 (pad) has 8 entries, wanted 2, 4 or 6 in this mode
F.pad(ones(3), (1, 1), "reflect")
    # ValueError: pad: argument 1 (input) has shape [3], wanted 2 or 3 dimensions
F.pad(ones(2, 3), (-2, -2))
    # ValueError: pad: argument 2 (pad) is [-2, -2], wanted no more left out than there is
F.pad(ones(2, 3), (-4, 9))
    # ValueError: pad: argument 2 (pad) is [-4, 9], wanted no more left out than there is
F.pad(ones(2, 3), (9, -4))
    # ValueError: pad: argument 2 (pad) is [9, -4], wanted no more left out than there is
F.pad(ones(2, 3), (3, 0), "reflect")
    # ValueError: pad: argument 2 (pad) is [3, 0], wanted less than the size for dimension 1
F.pad(ones(2, 3), (4, 0), "circular")
    # ValueError: pad: argument 2 (pad) is [4, 0], wanted at most the size for dimension 1
F.pad(ones(2, 0), (1, 0), "replicate")
    # ValueError: pad: argument 2 (pad) is [1, 0], wanted an edge to repeat
F.pad(ones(2, 3), (-1, -2), "replicate")
    # ValueError: pad: argument 2 (pad) is [-1, -2], wanted at least one element that is left
F.pad(ones(2, 3), (1, 1), "reflect", 2.0)
    # ValueError: pad: argument 4 (value) is ... wanted none in mode 'reflect'
F.pad(ones(2, dtype=libdl.uint8), (1, 1), value=300)
    # OverflowError: pad: argument 4 (value) is 300, wanted a number that uint8 holds
F.pad(ones(2, 3), (2**62, 2**62))
    # OverflowError: pad: argument 2 (pad) ... fewer than 2^63 elements
"""


def pad_rejects(mode: str) -> str:
    if mode == "constant":
        return PAD_REJECTS
    return f"""
        F.pad(ones(1, 2, 3, 4), (1, 1), {mode!r})
            # ValueError: pad: argument 1 (input) has shape [1, 2, 3, 4], wanted 2 or 3
    """


# -- channels for space ----------------------------------------------------------------------------


def shuffled(x: Any, r: int) -> Any:
    *lead, c, h, w = x.shape
    y = np.zeros((*lead, c // (r * r), h * r, w * r), x.dtype)
    for i, j in itertools.product(range(r), range(r)):
        y[..., i::r, j::r] = x[..., i * r + j :: r * r, :, :]
    return y


def unshuffled(x: Any, r: int) -> Any:
    *lead, c, h, w = x.shape
    y = np.zeros((*lead, c * r * r, h // r, w // r), x.dtype)
    for i, j in itertools.product(range(r), range(r)):
        y[..., i * r + j :: r * r, :, :] = x[..., i::r, j::r]
    return y


def channels_shuffled(x: Any, groups: int) -> Any:
    per = x.shape[1] // groups
    return x[:, [i * per + k for k in range(per) for i in range(groups)]]


def several(shapes: list[tuple[int, ...]], *args: Any) -> Any:
    """Each shape with several numbers, until there are enough."""
    return [
        Sample((numbers(shape, 10 * i + n), *args))
        for i, shape in enumerate(shapes)
        for n in range(5)
    ]


def factor_rejects(name: str, function: Any, argument: str) -> list[Reject]:
    return refusals(
        f"""
            function(ones(4, 4), 2)
                # ValueError: {name}: argument 1 (input) has shape [4, 4] ... [..., c, h, w]
            function(ones(4, 4, 4), 0)
                # ValueError: {name}: argument 2 ({argument}) is 0, wanted 1 to
        """,
        globals() | locals(),
    )


SHUFFLE_REJECTS = [
    *factor_rejects("pixel_shuffle", libdl.pixel_shuffle, "upscale_factor"),
    """
    libdl.pixel_shuffle(ones(6, 1, 1), 2)
        # ValueError: pixel_shuffle: argument 1 (input) has 6 channels, wanted a multiple of
    libdl.pixel_shuffle(ones(0, 1, 1, dtype=libdl.bool).expand(0, 1, 2**62), 2)
        # OverflowError: pixel_shuffle: argument 2 (upscale_factor) is 2, wanted a result of
    """,
]
UNSHUFFLE_REJECTS = [
    *factor_rejects("pixel_unshuffle", libdl.pixel_unshuffle, "downscale_factor"),
    """
    libdl.pixel_unshuffle(ones(2, 3, 4), 2)
        # ValueError: pixel_unshuffle: argument 1 (input) has shape [2, 3, 4], wanted multiples
    libdl.pixel_unshuffle(ones(2, 4, 3), 2)
        # ValueError: pixel_unshuffle: argument 1 (input) has shape [2, 4, 3], wanted multiples
    libdl.pixel_unshuffle(ones(1, 0, 0, dtype=libdl.bool).expand(2**61, 0, 0), 2)
        # OverflowError: pixel_unshuffle: argument 2 (downscale_factor) is 2, wanted a result
    """,
]
CHANNEL_REJECTS = [
    """
    libdl.channel_shuffle(ones(2, 4), 2)
        # ValueError: channel_shuffle: argument 1 (input) has shape [2, 4], wanted [n, c, ...]
    libdl.channel_shuffle(ones(2, 4, 1), 0)
        # ValueError: channel_shuffle: argument 2 (groups) is 0, wanted 1 or more
    libdl.channel_shuffle(ones(2, 4, 1), 3)
        # ValueError: channel_shuffle: argument 1 (input) has 4 channels, wanted a multiple
    """,
]

# -- windows as columns ----------------------------------------------------------------------------


def _two(given: Any) -> tuple[int, int]:
    return (given, given) if isinstance(given, int) else tuple(given)


def _taps(shape: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """Of each tap: its elements of the padded image, row by row."""
    (kh, kw), (dh, dw) = _two(kernel_size), _two(dilation)
    (ph, pw), (sh, sw) = _two(padding), _two(stride)
    rows = (shape[0] + 2 * ph - dh * (kh - 1) - 1) // sh + 1
    columns = (shape[1] + 2 * pw - dw * (kw - 1) - 1) // sw + 1
    return [
        (
            slice(i * dh, i * dh + (rows - 1) * sh + 1, sh),
            slice(j * dw, j * dw + (columns - 1) * sw + 1, sw),
        )
        for i, j in itertools.product(range(kh), range(kw))
    ]


def columns_of(
    x: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    ph, pw = _two(padding)
    around = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(ph, ph), (pw, pw)])
    taps = [
        around[(..., *tap)] for tap in _taps(x.shape[-2:], kernel_size, dilation, padding, stride)
    ]
    y = np.stack(taps, x.ndim - 2)
    return (
        y.reshape(*x.shape[:-3], x.shape[-3] * len(taps), -1)
        if y.size
        else np.zeros(
            (*x.shape[:-3], x.shape[-3] * len(taps), math.prod(taps[0].shape[-2:])), x.dtype
        )
    )


def image_of(
    x: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    (h, w), (ph, pw) = _two(output_size), _two(padding)
    taps = _taps((h, w), kernel_size, dilation, padding, stride)
    c = x.shape[-2] // len(taps)
    y = np.zeros((*x.shape[:-2], c, h + 2 * ph, w + 2 * pw), x.dtype)
    for k, tap in enumerate(taps):
        part = y[(..., *tap)]
        part += x[..., k :: len(taps), :].reshape(part.shape)
    return y[..., ph : ph + h, pw : pw + w]


WINDOWS: list[tuple[Any, Any, dict[str, Any]]] = [
    ((2, 2, 3, 4), (2, 3), {}),
    ((1, 3, 3), 2, {"padding": 1}),
    ((0, 1, 2, 2), 1, {}),
    ((1, 2, 5, 4), (2, 1), {"stride": (2, 3), "dilation": (2, 1)}),
    ((2, 1, 4, 4), 3, {"padding": (1, 2), "stride": 2, "dilation": (1, 2)}),
    ((1, 1, 1), 1, {}),
]


def column_samples() -> list[Sample]:
    return [
        Sample((numbers(shape, 10 * i + n), kernel), how)
        for i, (shape, kernel, how) in enumerate(WINDOWS)
        for n in range(4)
    ]


def image_samples() -> list[Sample]:
    made = []
    for i, (shape, kernel, how) in enumerate(WINDOWS):
        there = columns_of(np.zeros(shape), kernel, **how).shape
        made += [Sample((numbers(there, 10 * i + n), shape[-2:], kernel), how) for n in range(4)]
    return made


def window_rejects(name: str, call: Any, first: int) -> list[Reject]:
    """kernel_size's number is `first`."""
    return refusals(
        f"""
            call(kernel_size=(1, 2, 3))
                # ValueError: {name}: argument {first} (kernel_size) has 3 entries
            call(kernel_size=0)
                # ValueError: {name}: argument {first} (kernel_size) is [0], wanted 1 to
            call(dilation=0)
                # ValueError: {name}: argument {first + 1} (dilation) is [0], wanted 1 to
            call(padding=-1)
                # ValueError: {name}: argument {first + 2} (padding) is [-1], wanted 0 to
            call(stride=0)
                # ValueError: {name}: argument {first + 3} (stride) is [0], wanted 1 to
        """,
        globals() | locals(),
    )


def _columns(**how: Any) -> Any:
    return F.unfold(ones(1, 2, 4, 4), **({"kernel_size": 2} | how))


def _image(**how: Any) -> Any:
    return F.fold(ones(1, 8, 9), 4, **({"kernel_size": 2} | how))


COLUMN_REJECTS = [
    *window_rejects("unfold", _columns, 2),
    """
    F.unfold(ones(4, 4), 2)
        # ValueError: unfold: argument 1 (input) has shape [4, 4], wanted [n, c, h, w]
    F.unfold(ones(1, 0, 4, 4), 2)
        # ValueError: unfold: argument 1 (input) has shape [1, 0, 4, 4] ... only n may be 0
    F.unfold(ones(1, 2, 4, 4), (5, 1))
        # ValueError: unfold: argument 1 (input) ... a window that reaches over 5 rows
    F.unfold(ones(1, 2, 4, 4), (1, 3), dilation=2)
        # ValueError: unfold: argument 1 (input) ... a window that reaches over 5 columns
    """,
]
IMAGE_REJECTS = [
    *window_rejects("fold", _image, 3),
    """
    F.fold(ones(9), 4, 2)
        # ValueError: fold: argument 1 (input) has shape [9], wanted [n, c t u, windows]
    F.fold(ones(1, 8, 0), 4, 2)
        # ValueError: fold: argument 1 (input) has shape [1, 8, 0] ... only n may be 0
    F.fold(ones(1, 7, 9), 4, 2)
        # ValueError: fold: argument 1 (input) has shape [1, 7, 9], wanted a multiple of 4
    F.fold(ones(1, 8, 8), 4, 2)
        # ValueError: fold: argument 1 (input) has shape [1, 8, 8], wanted [3, 3] windows
    F.fold(ones(1, 8, 9), 0, 2)
        # ValueError: fold: argument 2 (output_size) is [0], wanted 1 to
    F.fold(ones(1, 8, 9), 1, 2)
        # ValueError: fold: argument 2 (output_size) is [1] ... reaches over 2 rows
    F.fold(ones(1, 8, 9, dtype=libdl.bool), 4, 2)
        # TypeError: fold: argument 1 (input) is bool, wanted a numeric dtype
    """,
]

# -- other sizes -----------------------------------------------------------------------------------


def _cubic(x: float, a: float) -> float:
    x = abs(x)
    if x < 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0


def _row(o: int, n: int, m: int, mode: str, align: bool, step: float, smooth: bool) -> Any:
    """The weights of n elements in element o of m."""
    row = np.zeros(n)
    linear = mode in ("linear", "bilinear", "trilinear")
    if mode == "area":
        row[o * n // m : -(-(o + 1) * n // m)] = 1
        return row / row.sum()
    if mode.startswith("nearest"):
        row[min(n - 1, math.floor((o + (0.5 if mode == "nearest-exact" else 0)) * step))] = 1
        return row
    if smooth:
        wide, centre = max(1.0, step), step * (o + 0.5) - 0.5
        for i in range(n):
            away = (i - centre) / wide
            row[i] = max(0.0, 1 - abs(away)) if linear else _cubic(away, -0.5)
        return row / row.sum()
    at = step * o if align else step * (o + 0.5) - 0.5
    if linear:
        at = min(max(at, 0.0), n - 1.0)
        for i in range(n):
            row[i] = max(0.0, 1 - abs(i - at))
        return row
    for i in range(math.floor(at) - 1, math.floor(at) + 3):
        row[min(max(i, 0), n - 1)] += _cubic(i - at, -0.75)
    return row


def resized(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: Any = None,
    recompute_scale_factor: Any = None,
    antialias: bool = False,
) -> Any:
    """A matrix for each dimension."""
    dims = x.ndim - 2
    factors = [scale_factor] * dims if isinstance(scale_factor, float) else scale_factor
    sizes = (
        [size] * dims
        if isinstance(size, int)
        else size or [math.floor(n * f) for n, f in zip(x.shape[2:], factors)]
    )
    for d in range(dims - 1, -1, -1):
        n, m = x.shape[2 + d], sizes[d]
        step = n / m if scale_factor is None or recompute_scale_factor else 1 / factors[d]
        if align_corners:
            step = (n - 1) / (m - 1) if m > 1 else 0.0
        rows = [_row(o, n, m, mode, bool(align_corners), step, antialias) for o in range(m)]
        matrix = np.stack(rows).astype(x.dtype)
        x = np.moveaxis(np.tensordot(matrix, x, (1, 2 + d)), 0, 2 + d)
    return x


IMAGES = {
    1: [(2, 1, 5), (1, 2, 1), (0, 2, 3)],
    2: [(1, 2, 3, 4), (2, 1, 5, 2), (0, 1, 2, 2)],
    3: [(1, 1, 2, 3, 4), (2, 1, 3, 1, 2)],
}
SIZES = {1: [3, 8], 2: [(5, 3), (2, 7), 3], 3: [(3, 2, 5), 2]}
FACTORS = [2.0, 0.75, 1.5]


def resize_samples(modes: dict[str, tuple[int, ...]], flags: list[dict[str, Any]]) -> Any:
    def make() -> list[Sample]:
        made = []
        for mode, several_dims in modes.items():
            for dims, flag in itertools.product(several_dims, flags):
                for i, shape in enumerate(IMAGES[dims]):
                    ways: list[dict[str, Any]] = [{"size": size} for size in SIZES[dims]]
                    ways += [{"scale_factor": f} for f in FACTORS if min(shape[2:]) * f >= 1]
                    ways += [{"scale_factor": (1.5,) * dims, "recompute_scale_factor": True}]
                    way = ways[(len(made) + i) % len(ways)]
                    made += [
                        Sample((numbers(shape, len(made)),), {"mode": mode} | flag | w)
                        for w in (way, ways[(len(made) + 2 * i + 1) % len(ways)])
                    ]
        return made

    return make


ALIGNED: list[dict[str, Any]] = [{}, {"align_corners": False}, {"align_corners": True}]
ANY = {"nearest": (1, 2, 3), "nearest-exact": (1, 2, 3)}
LINEAR = {"linear": (1,), "bilinear": (2,), "trilinear": (3,)}
x4 = ones(1, 2, 3, 4)

RESIZE_REJECTS = """
F.interpolate(x4, 2, mode="sharp")
    # ValueError: interpolate: argument 6 (mode) is 'sharp', wanted 'nearest'
F.interpolate(ones(3, 4), 2)
    # ValueError: interpolate: argument 1 (input) has shape [3, 4], wanted [n, c, w]
F.interpolate(ones(1, 0, 4), 2)
    # ValueError: interpolate: argument 1 (input) has shape [1, 0, 4] ... only n may be 0
F.interpolate(x4, 2, mode="linear")
    # ValueError: interpolate: argument 1 (input) has shape ... 3 dimensions in mode 'linear'
F.interpolate(ones(1, 1, 2, dtype=libdl.int64), 2)
    # TypeError: interpolate: argument 1 (input) is int64, wanted a floating dtype or uint8
F.interpolate(ones(1, 1, 2, dtype=libdl.uint8), 2, mode="linear")
    # TypeError: interpolate: argument 1 (input) is uint8, wanted a floating dtype
F.interpolate(ones(1, 1, 2, dtype=libdl.uint8), 2, mode="area")
    # TypeError: interpolate: argument 1 (input) is uint8, wanted a floating dtype
F.interpolate(x4, 2, align_corners=True)
    # ValueError: interpolate: argument 5 (align_corners) is True, wanted None in mode
_functional.interpolate(x4, 2, mode="area", align_corners=True)
    # ValueError: interpolate: argument 7 (align_corners) is true in mode 'area'
F.interpolate(x4, 2, antialias=True)
    # ValueError: interpolate: argument 9 (antialias) is true in mode 'nearest'
F.interpolate(x4)
    # ValueError: interpolate: argument 2 (size) is None, wanted size or scale_factor
F.interpolate(x4, 2, 2)
    # ValueError: interpolate: argument 3 (scale_factor) is 2, wanted None, for size is given
_functional.interpolate(x4, None, 2.0, 2.0, 2.0)
    # ValueError: interpolate: argument 3 (scale_factor_d) is 2.000000, wanted none
_functional.interpolate(x4, 2, None, None, 2.0)
    # ValueError: interpolate: argument 5 (scale_factor_w) is 2.000000, wanted none, for size
_functional.interpolate(x4, None, None, None, 2.0)
    # ValueError: interpolate: argument 4 (scale_factor_h) is absent, wanted a factor
F.interpolate(x4, scale_factor=(1, 2, 3))
    # ValueError: interpolate: argument 3 (scale_factor) has 3 entries, wanted 2
F.interpolate(x4, scale_factor="large")
    # TypeError: interpolate: argument 3 (scale_factor) is 'large', wanted a number
F.interpolate(x4, scale_factor=0.1)
    # ValueError: interpolate: argument 4 (scale_factor_h) is 0.1 ... a size of 1 or more of 3
F.interpolate(x4, (1, 2, 3))
    # ValueError: interpolate: argument 2 (size) has 3 entries, wanted one or 2
F.interpolate(x4, 0)
    # ValueError: interpolate: argument 2 (size) is [0], wanted 1 or more each
F.interpolate(x4, 2, recompute_scale_factor=True)
    # ValueError: interpolate: argument 8 (recompute_scale_factor) is true, wanted false
"""


def shape_reject(mode: str) -> str:
    return f"""
        F.interpolate(ones(2, 3), 2, mode={mode!r})
            # ValueError: interpolate: argument 1 (input) has shape [2, 3], wanted [n, c
    """


# -- grids -----------------------------------------------------------------------------------------


def affine(theta: Any, size: Any, align_corners: Any = False) -> Any:
    lines = [
        np.linspace(-1, 1, n) * (1 if align_corners else (n - 1) / n) if n > 1 else np.zeros(1)
        for n in size[2:]
    ]
    places = np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(size[2:])], -1)
    return np.einsum("nij,...j->n...i", theta, places.astype(theta.dtype))


def affine_samples() -> list[Sample]:
    return [
        Sample((numbers((size[0], len(size) - 2, len(size) - 1), 10 * i + n), size), flag)
        for i, size in enumerate([(1, 1, 2, 3), (2, 3, 1, 4), (1, 2, 2, 1, 3), (2, 1, 3, 2, 2)])
        for n, flag in enumerate([{}, {"align_corners": False}, {"align_corners": True}] * 2)
    ]


AFFINE_REJECTS = """
F.affine_grid(ones(1, 2, 3, dtype=libdl.int64), (1, 1, 2, 2))
    # TypeError: affine_grid: argument 1 (theta) is int64, wanted a floating dtype
F.affine_grid(ones(1, 2, 3), (1, 1, 2))
    # ValueError: affine_grid: argument 2 (size) has 3 entries, wanted 4 or 5
F.affine_grid(ones(1, 2, 3), (1, 1, 0, 2))
    # ValueError: affine_grid: argument 2 (size) is [1, 1, 0, 2], wanted 1 or more each
F.affine_grid(ones(1, 2, 3), (2, 1, 2, 2))
    # ValueError: affine_grid: argument 1 (theta) has shape [1, 2, 3], wanted [2, 2, 3]
"""


def _line(x: float, n: int, mode: str, padding: str, align: bool) -> list[tuple[int, float]]:
    """A coordinate's pixels and their weights; -1: outside."""
    at = (x + 1) / 2 * (n - 1) if align else ((x + 1) * n - 1) / 2

    def inside(p: float) -> float:
        if padding == "border":
            return min(max(p, 0.0), n - 1.0)
        if padding == "reflection":
            low, span = (0.0, n - 1.0) if align else (-0.5, float(n))
            if not span:
                return 0.0
            p = abs(p - low) % (2 * span)
            return min(max((2 * span - p if p > span else p) + low, 0.0), n - 1.0)
        return p

    def pixel(p: float) -> int:
        return int(p) if 0 <= p < n else -1

    if mode == "bicubic":
        first = math.floor(at) - 1
        return [(pixel(inside(float(p))), _cubic(p - at, -0.75)) for p in range(first, first + 4)]
    at = inside(at)
    if mode == "nearest":
        return [(pixel(float(np.rint(at))), 1.0)]
    low = math.floor(at)
    return [(pixel(float(low)), low + 1 - at), (pixel(float(low + 1)), at - low)]


def sampled(
    x: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: Any = False,
) -> Any:
    y = np.zeros((*x.shape[:2], *grid.shape[1:-1]), x.dtype)
    for at in np.ndindex(grid.shape[:-1]):
        lines = [
            _line(float(grid[at][d]), x.shape[-1 - d], mode, padding_mode, bool(align_corners))
            for d in range(x.ndim - 2)
        ]
        for taps in itertools.product(*lines):
            if all(pixel >= 0 for pixel, _ in taps):
                place = tuple(pixel for pixel, _ in reversed(taps))
                weight = math.prod(w for _, w in taps)
                y[(at[0], slice(None), *at[1:])] += weight * x[(at[0], slice(None), *place)]
    return y


def sample_samples(mode: str) -> Any:
    """No coordinate lies near a kink."""

    def make() -> list[Sample]:
        made: list[Sample] = []
        shapes = [((1, 2, 3, 4), (1, 2, 2, 2)), ((2, 1, 2, 5), (2, 1, 3, 2))]
        shapes += [((0, 2, 2, 2), (0, 1, 1, 2)), ((1, 2, 2, 3, 2), (1, 1, 2, 1, 3))]
        for (shape, there), padding, align in itertools.product(
            shapes, ("zeros", "border", "reflection"), (False, True)
        ):
            n = len(made)
            sizes = np.array(shape[:1:-1])
            at = numbers(there, 80 + n, -2.0, 8.0, away=0.1)  # in pixels
            at = np.where(np.abs(at * 2 - np.round(at * 2)) < 0.1, at + 0.2, at)
            grid = 2 * at / np.maximum(sizes - 1, 1) - 1 if align else (2 * at + 1) / sizes - 1
            made += [
                Sample((numbers(shape, n), grid, mode, padding, align)),
                Sample(
                    (numbers(shape, 40 + n), grid),
                    {"mode": mode, "padding_mode": padding, "align_corners": align},
                ),
            ]
        return made

    return make


g4 = ones(1, 2, 2, 2)
GRID_REJECTS = [
    """
    F.grid_sample(ones(1, 1, 2, 2, dtype=libdl.int64), g4)
        # TypeError: grid_sample: argument 1 (input) is int64, wanted a floating dtype
    F.grid_sample(x4, g4.double())
        # TypeError: grid_sample: argument 2 (grid) is float64, wanted float32
    F.grid_sample(ones(1, 2, 2), g4)
        # ValueError: grid_sample: argument 1 (input) has shape [1, 2, 2], wanted [n, c, h, w]
    F.grid_sample(ones(1, 1, 0, 2), g4)
        # ValueError: grid_sample: argument 1 (input) has shape [1, 1, 0, 2] ... n and c may be 0
    F.grid_sample(ones(2, 1, 2, 2), g4)
        # ValueError: grid_sample: argument 2 (grid) has shape [1, 2, 2, 2], wanted [2, h, w, 2]
    F.grid_sample(ones(1, 1, 2, 2, 2), g4)
        # ValueError: grid_sample: argument 2 (grid) has shape [1, 2, 2, 2], wanted [1, d, h, w
    F.grid_sample(x4, ones(1, 2, 2, 3))
        # ValueError: grid_sample: argument 2 (grid) has shape [1, 2, 2, 3], wanted [1, h, w, 2]
    F.grid_sample(x4, g4, "area")
        # ValueError: grid_sample: argument 3 (mode) is 'area', wanted 'bilinear', 'nearest' or
    F.grid_sample(ones(1, 1, 2, 2, 2), g4, "area")
        # ValueError: grid_sample: argument 3 (mode) is 'area', wanted 'bilinear', 'nearest' or
    """,
    """
    F.grid_sample(x4, g4, padding_mode="wrap")
        # ValueError: grid_sample: argument 4 (padding_mode) is 'wrap', wanted 'zeros', 'border'
    """,
]

CASES = [
    *(
        Case(
            f"pad_{mode}",
            F.pad,
            padded,
            pad_samples(mode),
            dtypes="fiubc",
            exact=True,
            operators=("pad",),
            rejects=pad_rejects(mode),
        )
        for mode in MODES
    ),
    Case(
        "pixel_shuffle",
        libdl.pixel_shuffle,
        shuffled,
        lambda: several([(4, 1, 2), (1, 8, 2, 1), (0, 4, 1, 1), (2, 1, 4, 1, 1), (4, 2, 2)], 2),
        dtypes="fiubc",
        exact=True,
        rejects=SHUFFLE_REJECTS,
    ),
    Case(
        "pixel_unshuffle",
        libdl.pixel_unshuffle,
        unshuffled,
        lambda: several([(1, 2, 4), (1, 2, 4, 2), (0, 1, 2, 2), (2, 1, 1, 2, 2), (2, 2, 2)], 2),
        dtypes="fiubc",
        exact=True,
        rejects=UNSHUFFLE_REJECTS,
    ),
    Case(
        "channel_shuffle",
        libdl.channel_shuffle,
        channels_shuffled,
        lambda: several([(1, 4, 2), (2, 6, 1, 2), (0, 2, 1), (2, 2, 1, 2, 1), (1, 8, 2)], 2),
        dtypes="fiubc",
        exact=True,
        rejects=CHANNEL_REJECTS,
    ),
    Case(
        "im2col",
        F.unfold,
        columns_of,
        column_samples,
        dtypes="fiubc",
        exact=True,
        rejects=COLUMN_REJECTS,
    ),
    Case(
        "col2im",
        F.fold,
        image_of,
        image_samples,
        dtypes="fiuc",
        terms=16.0,
        scale=4.0,
        rejects=IMAGE_REJECTS,
    ),
    Case(
        "interpolate_nearest",
        F.interpolate,
        resized,
        resize_samples(ANY, [{}]),
        dtypes="f",
        exact=True,
        operators=("interpolate",),
        rejects=RESIZE_REJECTS,
    ),
    Case(
        "interpolate_area",
        F.interpolate,
        resized,
        resize_samples({"area": (1, 2, 3)}, [{}, {}]),
        dtypes="f",
        terms=4.0,
        scale=8.0,
        operators=("interpolate",),
        rejects=shape_reject("area"),
    ),
    Case(
        "interpolate_linear",
        F.interpolate,
        resized,
        resize_samples(LINEAR, ALIGNED),
        dtypes="f",
        terms=4.0,
        scale=8.0,
        operators=("interpolate",),
        rejects=shape_reject("trilinear"),
    ),
    Case(
        "interpolate_cubic",
        F.interpolate,
        resized,
        resize_samples({"bicubic": (2,)}, [*ALIGNED, {}]),
        dtypes="f",
        terms=8.0,
        scale=16.0,
        operators=("interpolate",),
        rejects=shape_reject("bicubic"),
    ),
    Case(
        "interpolate_antialias",
        F.interpolate,
        resized,
        resize_samples({"bilinear": (2,), "bicubic": (2,)}, [{"antialias": True}] * 2),
        dtypes="f",
        terms=8.0,
        scale=16.0,
        operators=("interpolate",),
        rejects=shape_reject("bilinear"),
    ),
    Case(
        "affine_grid",
        F.affine_grid,
        affine,
        affine_samples,
        dtypes="f",
        terms=8.0,
        scale=8.0,
        rejects=AFFINE_REJECTS,
    ),
    *(
        Case(
            f"grid_sample_{mode}",
            F.grid_sample,
            sampled,
            sample_samples(mode),
            dtypes="f",
            terms=8.0,
            scale=64.0,
            operators=("grid_sample",),
            rejects=GRID_REJECTS if mode == "bilinear" else GRID_REJECTS[-1:],
        )
        for mode in ("bilinear", "nearest", "bicubic")
    ),
]

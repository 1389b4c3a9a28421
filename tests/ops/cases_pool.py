# SPDX-License-Identifier: Apache-2.0
"""Pooling over windows that are given, adaptive or random, and its reverse. (max_pool2d:
cases_nn.py)"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import libdl
from libdl.nn import functional as F
from refusals import refusals
from samples import Case, Reject, Sample, numbers

Places = list[list[int]]  # of one dimension: the elements of each window


def _each(given: Any, dims: int) -> tuple[int, ...]:
    some = (given,) if isinstance(given, int) else tuple(given)
    return some * dims if len(some) == 1 else some


def _windows(
    x: Any, dims: int, size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> list[Places]:
    """With their positions in the padding, which lie outside of the image."""
    size = _each(size, dims)
    stride = size if stride is None else _each(stride, dims)
    padding, dilation = _each(padding, dims), _each(dilation, dims)
    places = []
    for n, k, s, p, d in zip(x.shape[-dims:], size, stride, padding, dilation, strict=True):
        last = n if ceil_mode else n + p - d * (k - 1)
        if ceil_mode:  # a window more only if the rest does not fill one
            last = min(n, n + p - d * (k - 1) + s - 1)
        places.append([list(range(f, f + k * d, d)) for f in range(-p, last, s)])
    return places


def _parts(n: int, parts: int) -> Places:
    return [list(range(i * n // parts, -(-(i + 1) * n // parts))) for i in range(parts)]


def _over(x: Any, places: list[Places], value: Callable[[Any, list[list[int]]], Any]) -> Any:
    """value(elements [..., k], positions a dimension) of every window."""
    dims = len(places)
    made = []
    for window in itertools.product(*places):
        inside = [[i for i in at if 0 <= i < n] for at, n in zip(window, x.shape[-dims:])]
        some = x[(..., *np.ix_(*inside))]
        made.append(
            value(some.reshape(*x.shape[:-dims], math.prod(map(len, inside))), list(window))
        )
    shape = (*x.shape[:-dims], *map(len, places))
    return np.stack(made, -1).reshape(shape) if made else np.zeros(shape, x.dtype)


def max_pooled(dims: int) -> Callable[..., Any]:
    def pooled(
        x: Any,
        size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Any:
        places = _windows(x, dims, size, stride, padding, dilation, ceil_mode)
        return _over(x, places, lambda some, _: some.max(-1))

    return pooled


def _quotient(total: Any, divisor: int) -> Any:
    if np.issubdtype(total.dtype, np.floating):
        return total / divisor
    exact = [
        abs(int(n)) // abs(divisor) * (1 if (n < 0) == (divisor < 0) else -1)
        for n in total.reshape(-1)
    ]
    wrapped = [(n + 2**63) % 2**64 - 2**63 for n in exact]
    return np.array(wrapped, dtype=np.int64).reshape(total.shape)


def avg_pooled(dims: int) -> Callable[..., Any]:
    """Sums of integers are int64's, and their quotients are rounded towards 0."""

    def pooled(
        x: Any,
        size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        edges = _each(padding, dims)

        def mean(some: Any, window: list[list[int]]) -> Any:
            total = some.sum(-1, dtype=None if some.dtype.kind == "f" else np.int64)
            if divisor_override:
                return _quotient(total, divisor_override)
            counted = math.prod(
                sum(-p <= i < n + p for i in at) for at, n, p in zip(window, x.shape[-dims:], edges)
            )
            return _quotient(total, counted if count_include_pad else some.shape[-1])

        return _over(x, _windows(x, dims, size, stride, padding, 1, ceil_mode), mean)

    return pooled


def adaptive(dims: int, value: Callable[[Any], Any]) -> Callable[..., Any]:
    def pooled(x: Any, output_size: Any) -> Any:
        places = [_parts(n, p) for n, p in zip(x.shape[-dims:], _each(output_size, dims))]
        return _over(x, places, lambda some, _: value(some))

    return pooled


def lp_pooled(dims: int) -> Callable[..., Any]:
    def pooled(
        x: Any, norm_type: float, size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> Any:
        full = math.prod(_each(size, dims))
        if math.isinf(norm_type):
            return max_pooled(dims)(np.abs(x), size, stride, ceil_mode=ceil_mode)
        means = _over(
            x**norm_type,
            _windows(x, dims, size, stride, 0, 1, ceil_mode),
            lambda some, _: some.mean(-1),
        )
        return (means * full) ** (1 / norm_type)

    return pooled


def unpooled(dims: int) -> Callable[..., Any]:
    def spread(
        x: Any,
        indices: Any,
        size: Any,
        stride: Any = None,
        padding: Any = 0,
        output_size: Any = None,
    ) -> Any:
        size = _each(size, dims)
        stride = size if stride is None else _each(stride, dims)
        sizes = output_size or [
            (n - 1) * s + k - 2 * p
            for n, s, k, p in zip(x.shape[-dims:], stride, size, _each(padding, dims))
        ]
        lead = x.shape[:-dims]
        y = np.zeros((*lead, math.prod(sizes)), x.dtype)
        flat = (*lead, math.prod(x.shape[-dims:]))
        np.put_along_axis(y, indices.reshape(flat), x.reshape(flat), -1)
        return y.reshape(*lead, *sizes)

    return spread


# Eighths, which every dtype holds.
SHIFTS = np.array([3, 7, 0, 5, 2, 6]) / 8


def _shifts(n: int, c: int, dims: int) -> Any:
    return np.resize(SHIFTS, (n, c, dims))


def fractional(dims: int) -> Callable[..., Any]:
    def pooled(x: Any, size: Any, output_size: Any) -> Any:
        batch = x if x.ndim == dims + 2 else x[None]
        shifts = _shifts(*batch.shape[:2], dims)
        y = np.empty((*batch.shape[:2], *_each(output_size, dims)), x.dtype)
        for n, c in np.ndindex(*batch.shape[:2]):
            places = []
            for k, (m, o, w) in enumerate(
                zip(x.shape[-dims:], _each(output_size, dims), _each(size, dims))
            ):
                shift = shifts[n, c, 1 - k if dims == 2 else k]
                step = (m - w) / (o - 1) if o > 1 else 0.0
                first = [int((i + shift) * step) - int(shift * step) for i in range(o - 1)]
                places.append([list(range(f, f + w)) for f in [*first, m - w]])
            y[n, c] = _over(batch[n, c], places, lambda some, _: some.max(-1))
        return y if x.ndim == dims + 2 else y[0]

    return pooled


def _fractional(dims: int) -> Callable[..., Any]:
    def pool(x: Any, size: Any, output_size: Any) -> Any:
        n = x.shape[0] if x.ndim == dims + 2 else 1
        shifts = libdl.tensor(_shifts(n, x.shape[-dims - 1], dims)).to(x.device, x.dtype)
        return getattr(F, f"fractional_max_pool{dims}d")(
            x, size, output_size, return_indices=True, _random_samples=shifts
        )[0]

    return pool


# -- samples --------------------------------------------------------------------------------------

# An image of each number of dimensions, without a batch, of one channel, of more than a vector
# holds, without elements.
IMAGES = {
    1: [(2, 3, 7), (3, 5), (1, 1, 6), (1, 18, 4), (0, 2, 5)],
    2: [(2, 3, 5, 6), (2, 4, 4), (2, 1, 5, 4), (1, 18, 3, 4), (0, 2, 4, 4)],
    3: [(1, 2, 3, 4, 5), (2, 3, 3, 4), (1, 1, 4, 3, 3), (1, 9, 3, 3, 3), (0, 2, 3, 3, 3)],
}


def _distinct(shape: tuple[int, ...], seed: int) -> Any:
    """Elements that stay apart where they are moved a little."""
    some = np.random.default_rng(seed).permutation(math.prod(shape))
    return some.reshape(shape) / 7 - 3


def _over_images(
    dims: int,
    args: list[tuple[tuple[Any, ...], dict[str, Any]]],
    made: Callable[[tuple[int, ...], int], Any],
) -> Callable[[], list[Sample]]:
    def make() -> list[Sample]:
        pairs = list(itertools.product(enumerate(IMAGES[dims]), enumerate(args)))
        return [
            Sample((made(shape, 10 * i + n), *some), how) for (i, shape), (n, (some, how)) in pairs
        ]

    return make


def _some(dims: int, *given: int) -> tuple[int, ...]:
    return tuple(itertools.islice(itertools.cycle(given), dims))


def _windowed(dims: int) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    return [
        ((2,), {}),
        ((_some(dims, 3, 2),), {"stride": _some(dims, 1, 2), "padding": 1}),
        ((2,), {"stride": 3, "ceil_mode": True}),
        ((3,), {"stride": 2, "padding": _some(dims, 1, 0), "ceil_mode": True}),
    ]


def _max_samples(dims: int) -> Callable[[], list[Sample]]:
    how = [*_windowed(dims), ((2,), {"stride": 1, "padding": 1, "dilation": 2})]
    plain = _over_images(dims, how, _distinct)

    def make() -> list[Sample]:
        special = np.array([1.0, np.nan, -np.inf, -np.inf, 0.0, 0.0, np.inf, 5.0])
        some = special.reshape(1, *[1] * (dims - 1), 8)
        return [
            *plain(),
            Sample((some, _some(dims, *[1] * (dims - 1), 2)), {"stride": 1}, smooth=False),
        ]

    return make


def _avg_samples(dims: int) -> Callable[[], list[Sample]]:
    how = [*_windowed(dims), ((3,), {"stride": 2, "padding": 1, "count_include_pad": False})]
    if dims > 1:
        how += [((2,), {"padding": 1, "divisor_override": 3}), ((2,), {"divisor_override": -1})]
    return _over_images(dims, how, numbers)


def _adaptive_samples(dims: int, made: Any) -> Callable[[], list[Sample]]:
    sizes = [((1,), {}), ((_some(dims, 2, 3),), {}), ((_some(dims, 4, 1, 7),), {}), ((0,), {})]
    large = _over_images(dims, sizes, made)
    # for complex numbers, too
    small = [
        Sample((made((1, 1, *[size] * dims), size), parts))
        for size, parts in ((2, 1), (2, 2), (1, 2))
    ]
    return lambda: [*large(), *small]


def _lp_samples(dims: int) -> Callable[[], list[Sample]]:
    how: list[Any] = [
        ((2.0, 2), {}),
        ((3, _some(dims, 3, 2)), {"stride": 1}),
        ((1.5, 2), {"stride": 2, "ceil_mode": True}),
        ((math.inf, 2), {"stride": 1}),
    ]
    return _over_images(dims, how, lambda shape, seed: _distinct(shape, seed) / 64 + 4)


def _unpool_samples(dims: int) -> Callable[[], list[Sample]]:
    def make() -> list[Sample]:
        made = []
        for seed, (shape, (size, how)) in enumerate(
            itertools.product(
                IMAGES[dims],
                [
                    (2, {}),
                    (_some(dims, 3, 2), {"stride": 2, "padding": _some(dims, 1, 0)}),
                    (1, {}),
                    (2, {"stride": 2, "output_size": [2 * n + 1 for n in IMAGES[dims][0][2:]]}),
                ],
            )
        ):
            if "output_size" in how:
                how = {**how, "output_size": [2 * n + 1 for n in shape[-dims:]]}
            stride = _each(how.get("stride", size), dims)
            sizes = how.get("output_size") or [
                (n - 1) * s + k - 2 * p
                for n, s, k, p in zip(
                    shape[-dims:], stride, _each(size, dims), _each(how.get("padding", 0), dims)
                )
            ]
            room, count = math.prod(sizes), math.prod(shape[-dims:])
            if room < count or min(sizes) < 1:
                continue
            draw = np.random.default_rng(seed)
            planes = [draw.permutation(room)[:count] for _ in range(math.prod(shape[:-dims]))]
            indices = np.array(planes, dtype=np.int64).reshape(shape)
            made.append(Sample((numbers(shape, seed), indices, size), how))
        for seed in range(3):  # small enough for complex numbers
            shape = (1, 1, *[1] * dims)
            made.append(Sample((numbers(shape, seed), np.full(shape, seed % 2), 2), {}))
        return made

    return make


def _fractional_samples(dims: int) -> Callable[[], list[Sample]]:
    return _over_images(
        dims,
        [
            ((2, 2), {}),
            ((1, _some(dims, 3, 2)), {}),
            ((_some(dims, 2, 1), 1), {}),
            ((2, _some(dims, 1, 2)), {}),
            ((1, 1), {}),
        ],
        _distinct,
    )


# -- errors ---------------------------------------------------------------------------------------

SHAPES = (ValueError, RuntimeError)
DTYPES = (TypeError, RuntimeError)


def _ones(dims: int, size: int = 5, dtype: Any = libdl.float32) -> Any:
    return libdl.ones(2, 3, *[size] * dims, dtype=dtype)


def wrong_image(name: str, call: Any, dims: int, only: str, empty: tuple[int, ...]) -> list[Reject]:
    return refusals(
        f"""
            call(libdl.ones(5))
                # SHAPES: {name}: argument 1 (input) has shape [5] ... of which {only} may be 0
            call(libdl.ones(*empty))
                # SHAPES: {name}: argument 1 (input) has shape ... of which {only} may be 0
            call(_ones(dims + 1))
                # SHAPES: {name}: argument 1 (input) has shape
            call(libdl.ones(2, 3, 0, *[5] * (dims - 1)))
                # SHAPES: {name}: argument 1 (input) has shape
            call(_ones(dims).bool())
                # DTYPES: {name}: argument 1 (input) is bool
        """
        + f"""
            call(_ones(dims, dtype=libdl.complex64))
                # DTYPES: {name}: argument 1 (input) is complex64
        """
        * ("adaptive_avg" not in name),
        globals() | locals(),
    )


def wrong_windows(
    name: str,
    pool: Any,
    dims: int,
    first: int = 2,
    only: str = "only n",
    padded: bool = True,
    dilated: bool = False,
) -> list[Reject]:
    """pool(input, kernel_size, **others)"""
    x = _ones(dims)
    most = ("one", "one or two", "one or three")[dims - 1]
    made = [
        *wrong_image(name, lambda x: pool(x, 2), dims, only, (2, 0, *[5] * dims)),
        *refusals(
            f"""
                pool(x, (1, 2, 3, 1))
                    # ValueError: {name}: argument {first} (kernel_size) has 4 entries, wanted
                    #    {most}
                pool(x, ())
                    # ValueError: {name}: argument {first} (kernel_size) has 0 entries
                pool(x, 0)
                    # ValueError: {name}: argument {first} (kernel_size) is [0], wanted 1 to
                pool(x, 2**31)
                    # ValueError | RuntimeError: {name}: argument
                pool(x, 2, stride=0)
                    # ValueError: {name}: argument {first + 1} (stride) is [0], wanted 1 to
                pool(x, 6)
                    # SHAPES: {name}: argument 1 (input) has shape ... a window that reaches over 6
            """,
            globals() | locals(),
        ),
    ]
    if padded:
        made += refusals(
            f"""
                pool(x, 2, padding=-1)
                    # ValueError: {name}: argument {first + 2} (padding) is [-1], wanted 0 to
                pool(x, 2, padding=2)
                    # ValueError: {name}: argument {first + 2} (padding) is 2, wanted at most half
            """,
            globals() | locals(),
        )
    if dilated:
        made += refusals(
            f"""
                pool(x, 2, dilation=0)
                    # ValueError: {name}: argument {first + 3} (dilation) is [0], wanted 1 to
                pool(_ones(dims, 1), 2, stride=1, padding=1, dilation=2)
                    # ValueError: {name}: argument {first + 3} (dilation) is 2 ... every window has
            """,
            globals() | locals(),
        )
    return made


def wrong_parts(name: str, pool: Any, dims: int, only: str, empty: tuple[int, ...]) -> list[Reject]:
    return [
        *wrong_image(name, lambda x: pool(x, 2), dims, only, empty),
        *refusals(
            f"""
                pool(_ones(dims), -1)
                    # ValueError: {name}: argument 2 (output_size) is [-1], wanted 0 to
                pool(_ones(dims), (1, 1, 1, 1))
                    # ValueError: {name}: argument 2 (output_size) has 4 entries
                pool(libdl.ones(1, 1, *[1] * dims).expand(1, 1, 2**59, *[1] * (dims - 1)), 16)
                    # ValueError: {name}: argument 2 (output_size) is [16] ... less than 2^62
            """,
            globals() | locals(),
        ),
    ]


def wrong_unpool(name: str, pool: Any, dims: int) -> list[Reject]:
    x, at = _ones(dims), libdl.zeros(2, 3, *[5] * dims, dtype=libdl.int64)
    return refusals(
        f"""
            pool(libdl.ones(5), at, 2)
                # SHAPES: {name}: argument 1 (input) has shape [5] ... only n and c may be 0
            pool(x, at.int(), 2)
                # DTYPES: {name}: argument 2 (indices) is int32, wanted int64
            pool(x, at[:1], 2)
                # SHAPES: {name}: argument 2 (indices) has shape ... as input
            pool(x, at + 10**dims, 2)
                # IndexError: {name}: argument 2 (indices)
            pool(x, at, 0)
                # ValueError: {name}: argument 3 (kernel_size) is [0], wanted 1 to
            pool(x, at, 2, stride=0)
                # ValueError: {name}: argument 4 (stride) is [0], wanted 1 to
            pool(x, at, 2, padding=-1)
                # ValueError: {name}: argument 5 (padding) is [-1], wanted 0 to
            pool(x, at, 2, padding=9)
                # SHAPES: {name}: argument 1 (input) ... whose result has at least 1 element
            pool(
                libdl.ones(1, 1, *[1] * dims).expand(1, 1, 2**40, *[1] * (dims - 1)),
                at[:1, :1]
                .flatten()[:1]
                .view(1, 1, *[1] * dims)
                .expand(1, 1, 2**40, *[1] * (dims - 1)),
                1,
                stride=2**30,
            )
                # SHAPES: {name}: argument 1 (input) ... whose result has at most 2^62
            pool(x, at, 2, output_size=[10] * 6)
                # ValueError: {name}: argument 6 (output_size) has 6 entries
            pool(x, at, 2, output_size=[12] * dims)
                # ValueError: {name}: argument 6 (output_size) is ... wanted 9 to 11 in dimension 2
        """,
        globals() | locals(),
    )


def wrong_fractional(name: str, pool: Any, dims: int) -> list[Reject]:
    x = _ones(dims)

    def call(x: Any, size: Any = 2, output: Any = 2, shifts: Any = None) -> Any:
        given = libdl.zeros(2, 3, dims, dtype=x.dtype) if shifts is None else shifts
        return pool(x, size, output, _random_samples=given)

    return [
        *wrong_image(name, call, dims, "only the first", (2, 0, *[5] * dims)),
        *refusals(
            f"""
                call(x.long())
                    # DTYPES: {name}: argument 1 (input) is int64, wanted a floating dtype
                call(x, 6)
                    # ValueError: {name}: argument 2 (kernel_size) is [6], wanted at most the
                    #    input's
                call(x, 2, 5)
                    # ValueError: {name}: argument 3 (output_size) is [5], wanted at most size
                call(x, 2, -1)
                    # ValueError: {name}: argument 3 (output_size) is [-1], wanted 0 to
                call(x, 0)
                    # ValueError: {name}: argument 2 (kernel_size) is [0], wanted 1 to
                call(x, shifts=libdl.zeros(2, 3, 1))
                    # SHAPES: {name}: argument 4 (random_samples) has shape [2, 3, 1], wanted
                call(x, shifts=libdl.zeros(2, 3, dims).double())
                    # DTYPES: {name}: argument 4 (random_samples) is float64, wanted float32
            """,
            globals() | locals(),
        ),
    ]


# -- the cases ------------------------------------------------------------------------------------


def _of(dims: int) -> list[Case]:
    def named(kind: str) -> tuple[str, Any]:
        return f"{kind}{dims}d", getattr(F, f"{kind}{dims}d")

    cases = []
    if dims != 2:
        name, pool = named("max_pool")
        both = getattr(F, f"{name}_with_indices")
        cases += [
            Case(
                name,
                pool,
                max_pooled(dims),
                _max_samples(dims),
                exact=True,
                dtypes="fiu",
                rejects=wrong_windows(name, pool, dims, dilated=True),
            ),
            Case(
                f"{name}_with_indices",
                lambda *args, **how: both(*args, **how)[0],
                max_pooled(dims),
                _max_samples(dims),
                exact=True,
                dtypes="fiu",
                rejects=wrong_windows(f"{name}_with_indices", both, dims, dilated=True),
            ),
        ]
    name, pool = named("avg_pool")
    zero = Reject(
        ValueError,
        (f"{name}: argument 7 (divisor_override) is 0",),
        lambda: pool(_ones(dims), 2, divisor_override=0),
    )
    cases.append(
        Case(
            name,
            pool,
            avg_pooled(dims),
            _avg_samples(dims),
            dtypes="fiu",
            scale=16,
            terms=8.0,
            rejects=[*wrong_windows(name, pool, dims), *([zero] if dims > 1 else [])],
        )
    )
    adaptive_name, adaptive_pool = named("adaptive_avg_pool")
    wide = Reject(
        DTYPES,
        (f"{adaptive_name}: argument 1 (input) is int64, wanted a floating or complex",),
        lambda: adaptive_pool(_ones(dims).long(), 2),
    )
    cases.append(
        Case(
            adaptive_name,
            adaptive_pool,
            adaptive(dims, lambda some: some.mean(-1)),
            _adaptive_samples(dims, numbers),
            dtypes="fc",
            scale=16,
            terms=8.0,
            rejects=[
                *wrong_parts(
                    adaptive_name, adaptive_pool, dims, "only n and c", (2, 3, *[0] * dims)
                ),
                wide,
            ],
        )
    )
    max_name, max_pool = named("adaptive_max_pool")
    cases.append(
        Case(
            max_name,
            max_pool,
            adaptive(dims, lambda some: some.max(-1)),
            _adaptive_samples(dims, _distinct),
            dtypes="fiu",
            exact=True,
            rejects=wrong_parts(max_name, max_pool, dims, "only the first", (2, 0, *[5] * dims)),
        )
    )
    lp_name, lp_pool = named("lp_pool")
    no_power = Reject(
        ValueError,
        (f"{lp_name}: argument 2 (norm_type) is 0",),
        lambda: lp_pool(_ones(dims), 0.0, 2),
    )
    cases.append(
        Case(
            lp_name,
            lp_pool,
            lp_pooled(dims),
            _lp_samples(dims),
            dtypes="f",
            scale=64,
            rejects=[
                *wrong_windows(
                    lp_name,
                    lambda x, size, **how: lp_pool(x, 2.0, size, **how),
                    dims,
                    first=3,
                    padded=False,
                ),
                no_power,
            ],
        )
    )
    un_name, unpool = named("max_unpool")
    cases.append(
        Case(
            un_name,
            unpool,
            unpooled(dims),
            _unpool_samples(dims),
            dtypes="fiuc",
            exact=True,
            rejects=wrong_unpool(un_name, unpool, dims),
        )
    )
    if dims > 1:
        part_name, part_pool = named("fractional_max_pool")
        cases.append(
            Case(
                part_name,
                _fractional(dims),
                fractional(dims),
                _fractional_samples(dims),
                dtypes="f",
                exact=True,
                rejects=wrong_fractional(part_name, part_pool, dims),
            )
        )
    return cases


CASES = [case for dims in (1, 2, 3) for case in _of(dims)]

# SPDX-License-Identifier: Apache-2.0
"""What a declared case is, and the inputs that an operator's kind supplies."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e300, -1e-300, 5e-324])
SHAPES = [(), (1,), (5,), (7,), (65,), (2, 3), (3, 1, 2), (0,), (2, 0, 3), (4, 33), (2, 2, 2)]
PAIRS = [
    ((), ()),
    ((5,), ()),
    ((), (4,)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((0,), (1,)),
    ((2, 0, 3), (3,)),
    ((4,), (4,)),
    ((65,), (65,)),
    ((3, 1, 2), (2, 2)),
    ((1,), (7,)),
]


class Fixed(np.ndarray):
    """An argument that no gradient flows to, as the weights of classes."""


@dataclass
class Sample:
    """Arrays become tensors; everything else goes to operator and reference as it is."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    smooth: bool = True  # finite differences are meant to hold here

    def __str__(self) -> str:
        return self._text

    @functools.cached_property
    def _text(self) -> str:
        shown = [
            f"array{a.shape}{a.dtype}" if isinstance(a, np.ndarray) else repr(a) for a in self.args
        ]
        return ", ".join(shown + [f"{k}={v!r}" for k, v in self.kwargs.items()])


@dataclass
class Reject:
    """A call that must raise `error` with every one of `words` in the message."""

    error: type[BaseException] | tuple[type[BaseException], ...]
    words: tuple[str, ...]
    call: Callable[[], Any]


@dataclass(eq=False)
class Case:
    name: str
    function: Callable[..., Any]
    reference: Callable[..., Any]
    samples: Callable[[], Iterable[Sample]]
    differentiable: bool = True
    result: str = "same"  # the dtype's family: same, float, bool, own (not checked)
    dtypes: str = "fiub"  # families that it takes: float, int, unsigned, bool, complex
    operators: tuple[str, ...] = ()  # of the C ABI; none: the case's name
    ranges: dict[int, tuple[Any, Any]] = field(default_factory=dict)  # of integer arguments by
    # place; ("any", None), which holds for float arrays anyway, or (None, None): any but 0
    integer_reference: Callable[..., Any] | None = None  # where integers follow rules of their own
    terms: float = 0.0  # the largest term of a sum, where it may exceed the result
    roundings: int = 1  # to 16 bits, on the way to a result
    exact: bool = False  # the result is a choice or a copy of elements: every bit is compared
    out: bool = False
    inplace: bool = False
    view: bool = False
    scale: float = 1.0  # how many times the dtype's tolerance a sum or composition needs
    rejects: str | list[Reject | str] = ""  # as texts of refusals.py


def numbers(
    shape: tuple[int, ...], seed: int, low: float = -2.0, high: float = 2.0, away: float = 0.0
) -> np.ndarray:
    """Distinct numbers in [low, high], none nearer to an integer than `away` (kinks lie there)."""
    x = np.random.default_rng(seed).uniform(low, high, shape)
    if away:
        near = np.abs(x - np.round(x)) < away
        x = np.where(near, np.round(x) + 2 * away, x)
    return np.asarray(x)


def unary(
    low: float = -2.0, high: float = 2.0, away: float = 0.0, special: bool = True, **kwargs: Any
) -> Callable[[], list[Sample]]:
    def make() -> list[Sample]:
        made = [
            Sample((numbers(s, 10 * i + n, low, high, away),), kwargs)
            for i, s in enumerate(SHAPES)
            for n in (1, 2)
        ]
        if special:
            made.append(Sample((SPECIAL,), kwargs, smooth=False))
            made.append(Sample((np.tile(SPECIAL, 13)[1:].reshape(3, 43),), kwargs, smooth=False))
        return made

    return make


def binary(
    low: float = -2.0,
    high: float = 2.0,
    low2: float | None = None,
    high2: float | None = None,
    away: float = 0.0,
    special: bool = True,
    **kwargs: Any,
) -> Callable[[], list[Sample]]:
    low2, high2 = low if low2 is None else low2, high if high2 is None else high2

    def make() -> list[Sample]:
        made = [
            Sample(
                (
                    numbers(a, 10 * i + n, low, high, away),
                    numbers(b, 500 + 10 * i + n, low2, high2, away),
                ),
                kwargs,
            )
            for i, (a, b) in enumerate(PAIRS)
            for n in (1, 2)
        ]
        if special:
            made.append(Sample((SPECIAL[:, None], SPECIAL[None, :]), kwargs, smooth=False))
        return made

    return make


def integers(shape: tuple[int, ...], seed: int, low: int, high: int) -> np.ndarray:
    return np.asarray(np.random.default_rng(seed).integers(low, high, shape), dtype=np.int64)


def reduction(
    low: float = -2.0,
    high: float = 2.0,
    dims: bool = True,
    whole: bool = True,
    empty: bool = True,
    keep: bool = True,
    special: bool = True,
) -> Callable[[], list[Sample]]:
    """input and dim=, keepdim= by name: None, each dimension from both ends, several at once."""

    def make() -> list[Sample]:
        shapes = [(1,), (5,), (2, 3), (3, 1, 2), (2, 3, 4), (65,), (3, 70)]
        shapes += [(2, 0, 3)] if empty else []
        made = []
        for i, s in enumerate(shapes):
            x = numbers(s, 30 + i, low, high)
            choices: list[Any] = list(range(-1, len(s))) + ([None] if whole else [])
            choices += [(0, -1)] if dims and len(s) > 1 else []
            for n, d in enumerate(choices):
                kwargs = {} if d is None else {"dim": d}
                if keep and d is not None and n % 2:
                    kwargs["keepdim"] = True
                made.append(Sample((x,), kwargs))
        made.append(Sample((numbers((), 9, low, high),), {} if whole else {"dim": 0}))
        if special:
            grid = np.array(list(itertools.product([np.nan, np.inf, -np.inf, 1.0], repeat=3)))
            made.append(Sample((grid,), {"dim": -1}, smooth=False))
        return made

    return make

# SPDX-License-Identifier: Apache-2.0
"""How well an answer is known: whether PyTorch's own holds still where its operands are moved by
one unit in the last place, and what it is in 64 bits."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from case import Run, Seen, Stage
from compare import apart, coarsest
from known import Context, lines_with
from words import UNITS

# Smooth but at 0, which stays where it is: what moves there has lost its digits by cancellation.
# At a kink (ties of amax) a small step moves the derivative too, and these are always judged.
SMOOTH = re.compile(
    r"(normalize|layer_norm|cosine_similarity|(cum)?prod|std|var|norm|sgn|abs|"
    r"absolute|__abs__|logsumexp)_?$"
)
STEPS = 8  # times that the operands are moved
TIMES = 16  # as far as the answer moves: the steps within round, too


def numbers_at(run: Run, where: str) -> Any:
    """What `where` names, such as g[1]; None where it is no tensor."""
    value = run.values.get(re.split(r"\W", where)[0])
    for place in re.findall(r"\[(\d+)\]", where):
        value = value[int(place)] if isinstance(value, list) and int(place) < len(value) else None
    return value.numbers if isinstance(value, Seen) else None


def unsteady(c: Context) -> bool:
    """Each element that differs does so by no more than a step of the operands makes."""
    if (
        ".var()" in c.text
        and not c.name
        and c.gone(
            lines_with(
                c.lines,
                lambda n, line: re.sub(
                    r"\b(\w+)\.var\(\)", r"(\1.var() * (\1.var().detach() > 1e-28))", line
                ),
            )
        )
    ):
        return True  # of equal elements: 0, or rounding, which is above 0
    if not c.name and c.concerns(r"\.var\("):  # of equal elements: 0, or rounding, which divides
        return c.only_where(lambda w, f: ~(np.abs(w) < 1e12) & ~(np.abs(f) < 1e12))
    branch = c.base() == "logsumexp" and "complex" in c.text  # the logarithm's, of a sum beside it
    branch |= c.base() == "layer_norm"  # of equal elements their mean's rounding is left
    branch |= c.base() in ("std", "var", "prod")
    if c.difference.aspect != "value" or not (c.derivative() or branch):
        return False
    # Of equal elements: 0, or rounding, by 0
    if c.base() in ("std", "var") and "correction=" in c.call:
        r = numbers_at(c.wanted, "r")
        with np.errstate(all="ignore"):
            alike = r is not None and bool((~np.isfinite(r) | (np.abs(r) < 1e-6)).any())
        if alike and c.only_where(lambda w, f: ~np.isfinite(w) & ~np.isfinite(f)):
            return True
    # Where an infinity meets a 0 is the order's choice
    if c.base() == "prod" and not c.derivative():
        return c.only_where(lambda w, f: np.isnan(w) & (f == 0) | np.isnan(f) & (w == 0))
    if not SMOOTH.search(c.name):
        return False
    if "inf" in c.call:  # kinks
        return c.base() == "normalize" and _of_one_element(c)
    moved = _moved(c, c.theirs, c.difference.wanted)
    if moved is None:
        return False
    zero = c.difference.where.startswith("h[") and any((v.numbers == 0).any() for v in c.inputs())

    def near(w: Any, f: Any) -> Any:
        divided = zero & np.isnan(w) & np.isfinite(f)  # 0 by 0, as zero_by_zero covers it
        return np.isfinite(moved) & (np.abs(w - f) <= TIMES * moved) | divided

    some = near, *cancelled(c)
    return c.only_where(*some) or c.base() == "layer_norm" and _of_the_mean(c) or _tiny(c)


def _moved(c: Context, stage: Stage, answer: Any) -> Any:
    """How far a library's answer moves with its operands."""
    if not isinstance(answer, np.ndarray):
        return None
    moved = np.zeros(np.shape(answer))
    for step in range(1, STEPS + 1):
        stage.words.step = step
        try:
            other = numbers_at(stage.run(c.lines, c.forward), c.difference.where)
        finally:
            stage.words.step = 0
        if other is None or other.shape != moved.shape:
            return None
        with np.errstate(all="ignore"):
            moved = np.fmax(moved, np.abs(other - answer))
    return moved


def _of_one_element(c: Context) -> bool:
    """Where a norm has one element its quotient is its sign: of the second derivative, terms of about
    1 / x**2 that cancel, rounding is left."""
    x = np.abs(c.inputs()[0].numbers.astype(float))
    most = 512 * UNITS.get(c.inputs()[0].dtype, 0) / max(x.min(initial=1), 1e-150) ** 2
    return c.only_where(lambda w, f: (np.abs(w) <= most) & (np.abs(f) <= most))


def _tiny(c: Context) -> bool:
    """Terms cancel to nothing in PyTorch, by its order, and to their rounding in libdl."""
    moved, most = _moved(c, c.ours, c.difference.found), 1024 * coarsest(c.lines)
    return moved is not None and c.only_where(
        lambda w, f: (np.abs(w - f) <= TIMES * moved) & (np.abs(w - f) <= most)
    )


def _of_the_mean(c: Context) -> bool:
    """What the rounding of the mean leaves of equal elements, divided by the root of eps; in the second
    derivative by its third power."""
    first = c.inputs()[0]
    second = c.difference.where.startswith("h[") and not np.ptp(first.numbers)
    most = (
        (1e6 if second else 1)
        * 400
        * UNITS.get(first.dtype, 0)
        * np.abs(first.numbers.astype(float)).max(initial=0)
    )
    return c.only_where(
        lambda w, f: np.abs(w - f) <= most, lambda w, f: ~np.isfinite(w) & ~np.isfinite(f)
    )


def cancelled(c: Context) -> tuple[Any, ...]:
    """Terms of about 1 cancel, and what is left is their rounding, where both agree in 64 bits."""
    found = c.difference.found
    narrow = re.search("bfloat16|float16|float32|complex64", c.text)
    wide = [_wide(c, stage) for stage in (c.theirs, c.ours)] if narrow else []
    # Terms cancel there, too.
    if (
        not wide
        or any(w is None or w.shape != np.shape(found) for w in wide)
        or (apart("float64", *wide, 2.0**-36).any())
    ):
        return ()
    eps = coarsest(c.lines)
    return (lambda w, f: np.abs(w - f) <= eps * np.fmax(1, np.abs(w)),)


def _wide(c: Context, stage: Stage) -> Any:
    """The numbers where a library computes in 64 bits."""
    stage.words.wide = True
    try:
        return numbers_at(stage.run(c.lines, c.forward), c.difference.where)
    finally:
        stage.words.wide = False


def right(c: Context) -> bool:
    """Each element that differs is what PyTorch finds where it computes in 64 bits."""
    found = c.difference.found
    if not isinstance(found, np.ndarray):
        return False
    exact = _wide(c, c.theirs)
    if exact is None or exact.shape != np.shape(found):
        return False
    with np.errstate(all="ignore"):
        exact = exact.astype(found.dtype)
    far = apart(found.dtype.name, exact, found, coarsest(c.lines))
    return c.only_where(lambda w, f: ~far)

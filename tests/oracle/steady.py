# SPDX-License-Identifier: Apache-2.0
"""How well an answer is known: whether PyTorch's own holds still where its operands are moved by
one unit in the last place, and what it is in 64 bits."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from case import Run, Seen
from compare import apart, coarsest
from known import Context

# Smooth but at 0, which stays where it is: what moves there has lost its digits by cancellation.
# At a kink (ties of amax) a small step moves the derivative too, and these are always judged.
SMOOTH = re.compile(r"(normalize|layer_norm|cosine_similarity|(cum)?prod|std|var|norm|sgn|abs|"
                    r"absolute|__abs__|logsumexp)_?$")
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
    branch = c.base() == "logsumexp" and "complex" in c.text  # the logarithm's, of a sum beside it
    if c.difference.aspect != "value" or not (c.derivative() or branch):
        return False
    if not SMOOTH.search(c.name) or "inf" in c.call:
        return False
    wanted = c.difference.wanted
    if not isinstance(wanted, np.ndarray):
        return False
    moved = np.zeros(np.shape(wanted))
    words = c.theirs.words
    for step in range(1, STEPS + 1):
        words.step = step
        try:
            other = numbers_at(c.theirs.run(c.lines, c.forward), c.difference.where)
        finally:
            words.step = 0
        if other is None or other.shape != moved.shape:
            return False
        with np.errstate(all="ignore"):
            moved = np.fmax(moved, np.abs(other - wanted))
    return c.only_where(lambda w, f: np.isfinite(moved) & (np.abs(w - f) <= TIMES * moved))


def right(c: Context) -> bool:
    """Each element that differs is what PyTorch finds where it computes in 64 bits."""
    found = c.difference.found
    if not isinstance(found, np.ndarray):
        return False
    words = c.theirs.words
    words.wide = True
    try:
        exact = numbers_at(c.theirs.run(c.lines, c.forward), c.difference.where)
    finally:
        words.wide = False
    if exact is None or exact.shape != np.shape(found):
        return False
    with np.errstate(all="ignore"):
        exact = exact.astype(found.dtype)
    far = apart(found.dtype.name, exact, found, coarsest(c.lines))
    return c.only_where(lambda w, f: ~far)

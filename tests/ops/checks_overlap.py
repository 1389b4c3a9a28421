# SPDX-License-Identifier: Apache-2.0
"""A destination that shares memory with an operand: the operand itself is allowed, and gives what
separate memory gives; a part of it is refused before anything is written."""

from __future__ import annotations

from typing import Any

import numpy as np

import libdl
from checks import run, same, tensor
from libdl import _C
from samples import Case, Sample


def first_operand(case: Case, sample: Sample) -> int | None:
    return next(
        (i for i, a in enumerate(sample.args) if isinstance(a, np.ndarray) and a.size > 1), None
    )


def refused(case: Case, call: Any, watched: list[Any], what: str) -> None:
    before = [w.clone() for w in watched]
    try:
        call()
    except libdl.Error as e:
        assert e.code == _C.LIBDL_ERROR_OVERLAP, f"{case.name} {what}: {e}"
        operator = e.operator.removesuffix("_")
        assert operator in (case.operators or (case.name,)), f"{case.name} {what}: {e}"
        told = "(out)" in str(e) or "(input)" in str(e)
        assert told and e.argument > 0, f"{case.name} {what}: {e}"
    else:
        raise AssertionError(f"{case.name}: {what} is accepted")
    for w, b in zip(watched, before):
        same(w, b, f"{case.name}: {what} was written to before it was refused")


def partly(case: Case, sample: Sample) -> None:
    """dst begins one element behind the operand."""
    place = first_operand(case, sample)
    if not case.out or place is None:
        return
    args = [tensor(a) for a in sample.args]
    wanted = run(case, sample, args)[0]
    x = args[place]
    if wanted.dtype != x.dtype or wanted.numel() == 0:
        return
    room = libdl.zeros(max(x.numel(), wanted.numel()) + 1, dtype=x.dtype)
    args[place] = room[: x.numel()].view(x.shape).copy_(x)
    dst = room[1 : wanted.numel() + 1].view(wanted.shape)
    refused(
        case,
        lambda: case.function(*args, **sample.kwargs, out=dst),
        [room],
        f"({sample}) into memory that overlaps an operand's",
    )


def itself(case: Case, sample: Sample) -> None:
    """dst has elements that share an address."""
    if not case.out:
        return
    args = [tensor(a) for a in sample.args]
    wanted = run(case, sample, args)[0]
    if wanted.numel() < 2:
        return
    cell = libdl.ones(1, dtype=wanted.dtype)
    refused(
        case,
        lambda: case.function(*args, **sample.kwargs, out=cell.expand(wanted.shape)),
        [cell],
        f"({sample}) into an expanded tensor",
    )


def whole(case: Case, sample: Sample) -> None:
    """dst is the operand, or another tensor of the same geometry."""
    place = first_operand(case, sample)
    if not case.out or place is None:
        return
    args = [tensor(a) for a in sample.args]
    wanted = run(case, sample, args)[0]
    x = args[place]
    if wanted.dtype != x.dtype or wanted.shape != x.shape:
        return
    for how in (lambda t: t, lambda t: t.detach()):
        args[place] = tensor(sample.args[place])
        dst = how(args[place])
        found = case.function(*args, **sample.kwargs, out=dst)
        assert found is dst, f"{case.name}: does not return its destination"
        same(args[place], wanted, f"{case.name}({sample}) into its own operand")


partly.__name__, itself.__name__, whole.__name__ = (
    "overlap_in_part",
    "overlap_of_itself",
    "overlap_in_whole",
)
CHECKS = [partly, itself, whole]

# SPDX-License-Identifier: Apache-2.0
"""Which of a program's steps are profiled."""

from __future__ import annotations

import enum
from collections.abc import Callable

__all__ = ["ProfilerAction", "ProfilerActivity", "schedule"]


class ProfilerActivity(enum.Enum):
    """What is profiled. Only the CPU's calls are; they include those that launch on a GPU."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4


class ProfilerAction(enum.Enum):
    """What the profiler does during a step."""

    NONE = 0
    WARMUP = 1  # nothing either: the recorder needs no warming up
    RECORD = 2
    RECORD_AND_SAVE = 3  # the last of its cycle: on_trace_ready is called after it
    DEVICE_STOPPED = 4  # PyTorch's, of accelerators that cannot go on; no schedule gives it


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """A function from a step's number to what is done in it.

    After skip_first steps come cycles of `wait` idle steps, `warmup` more, and `active` recorded
    ones; `repeat` of them, or without end if it is 0. A skip_first_wait other than 0 leaves the
    first cycle's `wait` out. Raises ValueError for negative numbers, and for active=0.
    """
    numbers = {
        "wait": wait,
        "warmup": warmup,
        "active": active,
        "repeat": repeat,
        "skip_first": skip_first,
        "skip_first_wait": skip_first_wait,
    }
    for name, number in numbers.items():
        least = 1 if name == "active" else 0
        if number < least:
            raise ValueError(f"schedule: {name} must be at least {least}, found {number}")

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise ValueError(f"schedule: step must be at least 0, found {step}")
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait
        cycle, at = divmod(step, wait + warmup + active)
        if (repeat and cycle >= repeat) or at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        last = at == wait + warmup + active - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    return action

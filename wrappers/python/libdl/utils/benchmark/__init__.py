# SPDX-License-Identifier: Apache-2.0
"""Measuring how long pieces of code take: Timer, its Measurements, and Compare for tables."""

from __future__ import annotations

from .compare import Compare
from .measurement import Measurement, TaskSpec, select_unit, trim_sigfig
from .timer import Timer, timer

__all__ = [
    "Compare",
    "Measurement",
    "TaskSpec",
    "Timer",
    "select_unit",
    "timer",
    "trim_sigfig",
]

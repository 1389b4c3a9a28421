# SPDX-License-Identifier: Apache-2.0
"""Medians, their bootstrap intervals, deviations and geometric means."""

import math
import random
import statistics
from collections.abc import Sequence

SAMPLES = 2000


def interval(values: Sequence[float]) -> tuple[float, float]:
    """95 % of the medians of samples that are drawn from the values with replacement."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(SAMPLES))
    return medians[SAMPLES * 25 // 1000], medians[SAMPLES * 975 // 1000 - 1]


def deviation(values: Sequence[float]) -> float:
    """The standard deviation, relative to the mean."""
    return statistics.stdev(values) / statistics.fmean(values) if len(values) > 1 else 0.0


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))

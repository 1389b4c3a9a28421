# SPDX-License-Identifier: Apache-2.0
"""Where cases register: each makes a call from a module (libdl or torch), the same for both."""

from collections.abc import Callable
from typing import Any

import numpy

Call = Callable[[], Any]
CASES: dict[str, Callable[[Any], Call]] = {}


def case(name: str) -> Callable[[Callable[[Any], Call]], Callable[[Any], Call]]:
    def register(make: Callable[[Any], Call]) -> Callable[[Any], Call]:
        assert name not in CASES
        CASES[name] = make
        return make

    return register


def ramp(m: Any, *shape: int, scale: float = 1e-3, dtype: str = "float32") -> Any:
    """Values between -0.5 and 0.52 that repeat after 1021."""
    count = 1
    for size in shape:
        count *= size
    values = m.arange(count, dtype=m.float64) % 1021 * scale - 0.5
    return values.to(getattr(m, dtype)).reshape(shape)


def drawn(m: Any, shape: tuple[int, ...], dtype: str = "float32", seed: int = 0) -> Any:
    """Uniform in [-0.5, 0.5)."""
    values = numpy.random.default_rng(seed).random(shape, dtype=numpy.float32) - 0.5
    return m.from_numpy(values).to(getattr(m, dtype))

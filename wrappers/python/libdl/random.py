# SPDX-License-Identifier: Apache-2.0
"""libdl.random: the default generator's functions, in a module named as in PyTorch."""

from __future__ import annotations

from ._random import (
    default_generator,
    fork_rng,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]

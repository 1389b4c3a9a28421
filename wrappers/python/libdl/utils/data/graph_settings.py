# SPDX-License-Identifier: Apache-2.0
"""Settings of a graph of pipes, as PyTorch's loaders apply them."""

from __future__ import annotations

from typing import Any

import libdl

__all__ = ["apply_random_seed", "apply_sharding", "apply_shuffle_seed", "apply_shuffle_settings"]


def _pipes(pipe: Any, seen: dict[int, Any]) -> dict[int, Any]:
    """The pipe and those that it is made of."""
    from .datapipes.datapipe import IterDataPipe, MapDataPipe

    if isinstance(pipe, (IterDataPipe, MapDataPipe)) and id(pipe) not in seen:
        seen[id(pipe)] = pipe
        for inner in list(vars(pipe).values()):
            for one in inner if isinstance(inner, (list, tuple)) else (inner,):
                _pipes(one, seen)
    return seen


def apply_sharding(
    datapipe: Any, num_of_instances: int, instance_id: int, sharding_group: Any = None
) -> Any:
    """Tells the pipes that have an apply_sharding() which part of the samples is theirs."""
    for pipe in _pipes(datapipe, {}).values():
        if callable(getattr(type(pipe), "apply_sharding", None)):
            pipe.apply_sharding(num_of_instances, instance_id)
    return datapipe


def apply_shuffle_settings(datapipe: Any, shuffle: bool | None = None) -> Any:
    """Tells the pipes that have a set_shuffle() whether they shuffle."""
    for pipe in _pipes(datapipe, {}).values():
        if shuffle is not None and callable(getattr(type(pipe), "set_shuffle", None)):
            pipe.set_shuffle(shuffle)
    return datapipe


def apply_random_seed(datapipe: Any, rng: libdl.Generator) -> Any:
    """Gives each pipe that has a set_seed() a seed drawn from the generator."""
    for pipe in _pipes(datapipe, {}).values():
        if callable(getattr(type(pipe), "set_seed", None)):
            pipe.set_seed(int(libdl.randint(0, 2**63 - 1, (), generator=rng).item()))
    return datapipe


apply_shuffle_seed = apply_random_seed

# SPDX-License-Identifier: Apache-2.0
"""Settings of a graph of pipes, as PyTorch's loaders apply them."""

from __future__ import annotations

import inspect
import warnings
from typing import Any, TypeVar

from ... import _overloads
from ..._types import Generator

__all__ = ["apply_random_seed", "apply_sharding", "apply_shuffle_seed", "apply_shuffle_settings"]

D = TypeVar("D")  # a pipe


def _parts(pipe: object) -> list[Any]:
    """The pipes that it is made of, each once."""
    from .datapipes.datapipe import IterDataPipe, MapDataPipe

    collected: dict[int, Any] = {}
    held = list(vars(pipe).values())
    while held:
        one = held.pop(0)
        if isinstance(one, (IterDataPipe, MapDataPipe)):
            collected[id(one)] = one
        elif isinstance(one, dict):
            held += one.values()
        elif isinstance(one, (list, tuple, set)):
            held += one
    return list(collected.values())


def _pipes(pipe: object, seen: dict[int, Any]) -> dict[int, Any]:
    """The pipe and those that it is made of, theirs included."""
    if id(pipe) not in seen:
        seen[id(pipe)] = pipe
        for inner in _parts(pipe):
            _pipes(inner, seen)
    return seen


def _methods(pipe: object, *names: str) -> bool:
    """Whether it has all of these."""
    return all(inspect.ismethod(getattr(pipe, name, None)) for name in names)


def apply_sharding(
    datapipe: D, num_of_instances: int, instance_id: int, sharding_group: Any = None
) -> D:
    """Tells the pipes that have an apply_sharding() which part of the samples is theirs. A pipe
    made of such a one cannot be another: its part would be a part of a part."""
    _shard(datapipe, (num_of_instances, instance_id), sharding_group, None)
    return datapipe


def _shard(pipe: Any, part: tuple[int, int], group: Any, above: Any) -> None:
    if _methods(pipe, "apply_sharding"):
        if above is not None:
            raise RuntimeError(
                f"apply_sharding: {type(above).__name__} and {type(pipe).__name__}, of which it is "
                "made, both divide the samples, so that some would get lost"
            )
        requested = (
            len(inspect.signature(pipe.apply_sharding).parameters) >= 3 and group is not None
        )
        pipe.apply_sharding(*part, **({"sharding_group": group} if requested else {}))
        above = pipe
    for inner in _parts(pipe):
        _shard(inner, part, group, above)


def apply_shuffle_settings(datapipe: Any, shuffle: bool | None = None) -> Any:
    """Tells the pipes that have a set_shuffle() and a set_seed() whether they shuffle.

    If they shall and there are none, one is put behind the pipe, with a warning: its buffer of
    10,000 samples mixes what lies near each other only.
    """
    if shuffle is None:
        return datapipe
    results = [p for p in _pipes(datapipe, {}).values() if _methods(p, "set_shuffle", "set_seed")]
    if shuffle and not results:
        warnings.warn(
            f"shuffle=True, and no pipe of {type(datapipe).__name__} shuffles: .shuffle() is put "
            "behind it, whose buffer may be small for your samples",
            stacklevel=2,
        )
        datapipe = datapipe.shuffle()
        results = [datapipe]
    for pipe in results:
        pipe.set_shuffle(shuffle)
    return datapipe


def apply_random_seed(datapipe: D, rng: Generator) -> D:
    """Gives each pipe that has a set_seed() a seed drawn from the generator."""
    for pipe in _pipes(datapipe, {}).values():
        if _methods(pipe, "set_seed"):
            pipe.set_seed(int(_overloads.randint(0, 2**63 - 1, (), generator=rng).item()))
    return datapipe


def seed_pipes(dataset: Any, seed: int) -> None:
    """An epoch's seed for the pipes of a dataset that is one."""
    from .datapipes.datapipe import IterDataPipe

    if isinstance(dataset, IterDataPipe):
        apply_random_seed(dataset, Generator().manual_seed(seed))


def shard_pipes(dataset: Any, workers: int, number: int) -> None:
    """A worker's part of the samples of a dataset that is a pipe."""
    from .datapipes.datapipe import IterDataPipe

    if isinstance(dataset, IterDataPipe):
        apply_sharding(dataset, workers, number)


apply_shuffle_seed = apply_random_seed

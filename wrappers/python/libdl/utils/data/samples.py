# SPDX-License-Identifier: Apache-2.0
"""Batches of a dataset, and the random numbers that belong to each sample."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import libdl
from libdl import _C

from .collate import collated, default_collate
from .dataset import TensorDataset, samples_of

__all__ = ["WorkerInfo", "get_worker_info", "sample_generator"]


@dataclass
class WorkerInfo:
    """A worker of a DataLoader: its number of num_workers, its seed and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


class _Place(threading.local):
    """What this thread is loading."""

    worker: WorkerInfo | None = None
    seed: int | None = None  # of the sample


_place = _Place()


def get_worker_info() -> WorkerInfo | None:
    """In a worker of a DataLoader, which it is; elsewhere None."""
    return _place.worker


def set_worker(info: WorkerInfo) -> None:
    """Of this thread."""
    _place.worker = info


def sample_generator() -> libdl.Generator:
    """A generator for the sample that is being loaded: its numbers depend on the seed of the epoch
    and on the sample's index alone, not on which worker loads it, nor when.

    Where __getitems__ loads a batch at once, the batch's first index counts."""
    if _place.seed is None:
        raise RuntimeError("sample_generator: no DataLoader is loading a sample in this thread")
    return libdl.Generator().manual_seed(_place.seed)


def seeds_of(seed: int) -> Callable[[Any], int]:
    """The function that gives each index 63 bits, which follow from it and the epoch's seed."""
    begun = hashlib.blake2b(f"{seed} ".encode(), digest_size=8)

    def seed_of(index: Any) -> int:
        digest = begun.copy()
        digest.update(repr(index).encode())
        return int.from_bytes(digest.digest(), "little") >> 1

    return seed_of


@contextlib.contextmanager
def own_numbers(shared: bool) -> Iterator[None]:
    """What samples draw from the default generator leaves it as it was. shared: other threads draw
    from it, too; then samples' seeds are not set in it."""
    if shared:
        yield
        return
    state = libdl.get_rng_state()
    try:
        yield
    finally:
        libdl.set_rng_state(state)


class MapBatches:
    """Batches of a dataset that has indices."""

    def __init__(
        self, dataset: Any, collate_fn: Callable[[Any], Any], batched: bool, seed: int, shared: bool
    ) -> None:
        self.dataset, self.collate_fn, self.batched = dataset, collate_fn, batched
        self.seed_of, self.shared = seeds_of(seed), shared
        self.together = callable(getattr(dataset, "__getitems__", None))
        # Rows that are taken out of a tensor at once are collated already.
        self.rows = type(dataset) is TensorDataset and collate_fn is default_collate

    def _begin(self, index: Any) -> None:
        _place.seed = seed = self.seed_of(index)
        if not self.shared:
            _C.generator_set_seed(libdl.default_generator, seed)

    def _sample(self, index: Any) -> Any:
        self._begin(index)
        return self.dataset[index]

    def _samples(self, indices: Sequence[Any]) -> Any:
        if not self.together:
            begin, dataset, found = self._begin, self.dataset, []
            for index in indices:
                begin(index)
                found.append(dataset[index])
            return found
        if indices:
            self._begin(indices[0])
        return samples_of(self.dataset, indices)

    def batch(self, indices: Any) -> Any:
        """Of a list of indices; of one index, its sample."""
        if self.batched and self.rows:
            return [x[indices] for x in self.dataset.tensors]
        with own_numbers(self.shared):
            try:
                found = self._samples(indices) if self.batched else self._sample(indices)
                return collated(self.collate_fn, found)
            except StopIteration as stop:  # it would end the epoch, and say nothing
                raise RuntimeError("DataLoader: a sample raised StopIteration") from stop
            finally:
                _place.seed = None


class IterableBatches:
    """Batches of a dataset that is iterated over. Its random numbers are the default generator's."""

    def __init__(
        self, dataset: Any, collate_fn: Callable[[Any], Any], batched: bool, drop_last: bool
    ) -> None:
        self.samples = iter(dataset)
        self.collate_fn, self.batched, self.drop_last = collate_fn, batched, drop_last

    def batch(self, indices: Any) -> Any:
        """The next samples, as many as there are indices. Raises StopIteration at the end."""
        if not self.batched:
            return collated(self.collate_fn, next(self.samples))
        found = list(itertools.islice(self.samples, len(indices)))
        if not found or (self.drop_last and len(found) < len(indices)):
            raise StopIteration
        return collated(self.collate_fn, found)


def batches_of(loader: Any, seed: int, shared: bool) -> MapBatches | IterableBatches:
    """How the batches of a loader, or of what a worker knows of it, are loaded in this thread."""
    if loader.iterates:
        return IterableBatches(
            loader.dataset, loader.collate_fn, loader.batched, loader.drop_last
        )
    return MapBatches(loader.dataset, loader.collate_fn, loader.batched, seed, shared)

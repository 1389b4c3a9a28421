# SPDX-License-Identifier: Apache-2.0
"""Batches of a dataset, and the random numbers that belong to each sample."""

from __future__ import annotations

import contextlib
import hashlib
import operator
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import libdl
from libdl import _C

from .collate import collated, stacks_rows
from .dataset import batch_reader, is_rows
from .graph_settings import seed_pipes
from .stateful import resume_dataset, resume_iterator

__all__ = ["WorkerInfo", "get_worker_info", "sample_generator"]


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """A worker of a DataLoader: its number of num_workers, its seed and its copy of the dataset; in
    a thread, the dataset itself. rng is PyTorch's."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


class _Place(threading.local):
    """What this thread is loading."""

    worker: WorkerInfo | None = None
    seed: int | None = None  # of the sample


_place = _Place()


def get_worker_info() -> WorkerInfo | None:
    """In a worker of a DataLoader, which it is; elsewhere None."""
    return _place.worker if _place.worker is not None else _programs_own()


def _programs_own() -> WorkerInfo | None:
    """What a program that starts workers of its own has told PyTorch's place for it."""
    place = sys.modules.get("libdl.utils.data._utils.worker")
    found: WorkerInfo | None = getattr(place, "_worker_info", None)
    return found


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


def _name_of(index: Any) -> str:
    """The same for every kind of the same number."""
    if getattr(index, "ndim", 0) == 0:
        with contextlib.suppress(TypeError):
            return str(operator.index(index))
    return repr(index)


def seeds_of(seed: int) -> Callable[[Any], int]:
    """The function that gives each index 63 bits, which follow from it and the epoch's seed."""
    begun = hashlib.blake2b(f"{seed} ".encode(), digest_size=8)

    def seed_of(index: Any) -> int:
        digest = begun.copy()
        digest.update((str(index) if type(index) is int else _name_of(index)).encode())
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


class DatasetKind:
    """Whether a dataset has indices; PyTorch's numbers."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(
        kind: int, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool
    ) -> MapBatches | IterableBatches:
        """What loads the dataset's batches: fetch(indices)."""
        if kind == DatasetKind.Map:
            return MapBatches(dataset, auto_collation, collate_fn, drop_last)
        return IterableBatches(dataset, auto_collation, collate_fn, drop_last)


class MapBatches:
    """Batches of a dataset that has indices. seed: the epoch's; None: samples draw as they do
    elsewhere."""

    def __init__(
        self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool,
        seed: int | None = None, shared: bool = False,
    ) -> None:  # fmt: skip
        self.dataset, self.auto_collation, self.collate_fn = dataset, auto_collation, collate_fn
        self.drop_last = drop_last
        self.seed_of = None if seed is None else seeds_of(seed)
        self.shared = shared or seed is None
        self.together = batch_reader(dataset)
        # Rows that are taken out of a tensor at once are collated already.
        self.rows = is_rows(dataset) and stacks_rows(collate_fn, dataset.tensors)

    def _begin(self, index: Any) -> None:
        if self.seed_of is None:
            return
        _place.seed = seed = self.seed_of(index)
        if not self.shared:
            _C.generator_set_seed(libdl.default_generator, seed)

    def _sample(self, index: Any) -> Any:
        self._begin(index)
        return self.dataset[index]

    def _samples(self, indices: Any) -> Any:
        if self.together is None:
            begin, dataset, found = self._begin, self.dataset, []
            for index in indices:
                begin(index)
                found.append(dataset[index])
            return found
        for index in indices:
            self._begin(index)
            break
        return self.together(indices)

    def fetch(self, possibly_batched_index: Any) -> Any:
        """The batch of several indices; of one index, its sample."""
        indices = possibly_batched_index
        if self.auto_collation and iter(indices) is indices:
            indices = list(indices)
        if self.auto_collation and self.rows:
            columns = self.dataset._columns(indices)
            if columns is not None:
                return columns
        with own_numbers(self.shared):
            try:
                found = self._samples(indices) if self.auto_collation else self._sample(indices)
                return collated(self.collate_fn, found)
            except StopIteration as stop:  # it would end the epoch, and say nothing
                raise RuntimeError("DataLoader: a sample raised StopIteration") from stop
            finally:
                _place.seed = None


class IterableBatches:
    """Batches of a dataset that is iterated over. Its random numbers are the default generator's."""

    def __init__(
        self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool
    ) -> None:
        self.dataset, self.auto_collation, self.collate_fn = dataset, auto_collation, collate_fn
        self.drop_last = drop_last
        self.dataset_iter = iter(dataset)
        self.ended = False

    def _next(self, most: int) -> list[Any]:
        """The next samples, fewer only at the end; an iterator that has ended is not asked again."""
        found: list[Any] = []
        while len(found) < most and not self.ended:
            try:
                found.append(next(self.dataset_iter))
            except StopIteration:
                self.ended = True
        return found

    def fetch(self, possibly_batched_index: Any) -> Any:
        """The next samples, as many as there are indices. Raises StopIteration at the end."""
        wanted = len(possibly_batched_index) if self.auto_collation else 1
        found = self._next(wanted)
        if not found or (self.auto_collation and self.drop_last and len(found) < wanted):
            raise StopIteration
        return collated(self.collate_fn, found if self.auto_collation else found[0])


def batches_of(
    iteration: Any, seed: int, shared: bool, state: dict[str, Any] | None
) -> MapBatches | IterableBatches:
    """How the batches of an iteration, or of what a worker knows of it, are loaded in this thread.
    state: of the dataset that is resumed."""
    dataset, collate_fn = iteration._dataset, iteration._collate_fn
    how = (dataset, iteration._auto_collation, collate_fn, iteration._drop_last)
    seed_pipes(dataset, seed)
    resume_dataset(dataset, state)
    made: MapBatches | IterableBatches
    if iteration._dataset_kind == DatasetKind.Map:
        made = MapBatches(*how, seed, shared)
    else:
        made = IterableBatches(*how)
    resume_iterator(made, state)
    return made

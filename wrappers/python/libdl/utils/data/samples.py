# SPDX-License-Identifier: Apache-2.0
"""Batches of a dataset, and the random numbers that belong to each sample."""

from __future__ import annotations

import contextlib
import hashlib
import operator
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ... import _C, _random
from ..._types import Generator
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
    loading: _Loading | None = None


_place = _Place()


class _Loading(NamedTuple):
    """Samples that are being loaded, in the order of their indices."""

    seeds: Seeds
    indices: Sequence[Any]
    found: list[Any]

    def seed(self) -> int:
        """Of the sample at hand; while they are collated, of the last one."""
        return self.seeds.of(self.indices[min(len(self.found), len(self.indices) - 1)])


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


def sample_generator() -> Generator:
    """A generator for the sample that is being loaded: its numbers depend on the seed of the epoch
    and on the sample's index alone, not on which worker loads it, nor when.

    Where __getitems__ loads a batch at once, the batch's first index counts."""
    if _place.loading is None:
        raise RuntimeError("sample_generator: no DataLoader is loading a sample in this thread")
    return Generator().manual_seed(_place.loading.seed())


def _number_of(index: Any) -> int:
    """The same for every kind of the same number."""
    if getattr(index, "ndim", 0) == 0:
        with contextlib.suppress(TypeError):
            return operator.index(index)
    digest = hashlib.blake2b(repr(index).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


# The generator's numbers are a function of its whole seed, as good for seeds that differ by little;
# this one, 2^64 over the golden ratio, keeps them off those of workers, which are side by side.
_STEP = 0x9E3779B97F4A7C15


class Seeds:
    """Gives each index 63 bits, which follow from it and the epoch's seed."""

    def __init__(self, seed: int) -> None:
        self.begin = (seed + _STEP) % 2**64

    def of(self, index: Any) -> int:
        return (self.begin + _STEP * _number_of(index)) % 2**63

    def load(self, dataset: Any, indices: Sequence[Any], found: list[Any]) -> None:
        """Appends the dataset's samples, each loaded with the default generator seeded for it."""
        generator = _random.default_generator
        _C.generator_seeded_items(generator, dataset, indices, found, _number_of, self.begin, _STEP)


@contextlib.contextmanager
def own_numbers(shared: bool) -> Iterator[None]:
    """What samples draw from the default generator leaves it as it was. shared: other threads draw
    from it, too; then samples' seeds are not set in it."""
    if shared:
        yield
        return
    state = _random.get_rng_state()
    try:
        yield
    finally:
        _random.set_rng_state(state)


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
        self,
        dataset: Any,
        auto_collation: bool,
        collate_fn: Callable[[Any], Any],
        drop_last: bool,
        seed: int | None = None,
        shared: bool = False,
    ) -> None:
        self.dataset, self.auto_collation, self.collate_fn = dataset, auto_collation, collate_fn
        self.drop_last = drop_last
        self.seeds = None if seed is None else Seeds(seed)
        self.shared = shared or seed is None
        self.together = batch_reader(dataset)
        # Rows that are taken out of a tensor at once are collated already.
        self.rows = is_rows(dataset) and stacks_rows(collate_fn, dataset.tensors)
        self.draws_nothing = self.rows

    def _load(self, indices: Sequence[Any]) -> list[Any]:
        """The samples, one by one."""
        if self.seeds is None:
            return [self.dataset[index] for index in indices]
        found: list[Any] = []
        _place.loading = _Loading(self.seeds, indices, found)
        if self.shared:
            for index in indices:
                found.append(self.dataset[index])
        else:
            self.seeds.load(self.dataset, indices, found)
        return found

    def _load_together(self, indices: Any) -> Any:
        if self.seeds is not None:
            listed = indices if isinstance(indices, Sequence) else list(indices)
            _place.loading = loading = _Loading(self.seeds, listed, [])
            if len(listed) > 0 and not self.shared:
                _C.generator_set_seed(_random.default_generator, loading.seed())
        assert self.together is not None
        return self.together(indices)

    def _samples(self, indices: Any) -> Any:
        if not self.auto_collation:
            return self._load([indices])[0]
        if self.together is not None:
            return self._load_together(indices)
        return self._load(indices if isinstance(indices, Sequence) else list(indices))

    def fetch(self, possibly_batched_index: Any) -> Any:
        """The batch of several indices; of one index, its sample."""
        indices = possibly_batched_index
        if self.auto_collation and iter(indices) is indices:
            indices = list(indices)
        if self.auto_collation and self.rows:
            columns = self.dataset._columns(indices)
            if columns is not None:
                return columns
        around = _place.loading  # a sample may have a loader of its own
        with own_numbers(self.shared):
            try:
                return collated(self.collate_fn, self._samples(indices))
            except StopIteration as stop:  # it would end the epoch, and say nothing
                raise RuntimeError("DataLoader: a sample raised StopIteration") from stop
            finally:
                _place.loading = around


class IterableBatches:
    """Batches of a dataset that is iterated over. Its random numbers are the default
    generator's."""

    draws_nothing = False

    def __init__(
        self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool
    ) -> None:
        self.dataset, self.auto_collation, self.collate_fn = dataset, auto_collation, collate_fn
        self.drop_last = drop_last
        self.dataset_iter = iter(dataset)
        self.ended = False

    def _next(self, most: int) -> list[Any]:
        """The next samples, fewer only at the end; an iterator that has ended is not asked
        again."""
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

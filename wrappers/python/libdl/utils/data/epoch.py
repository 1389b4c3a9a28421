# SPDX-License-Identifier: Apache-2.0
"""One iteration over a DataLoader's batches: what this thread and workers have in common in loading
them, and loading by this thread."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from ... import _random, cuda
from ..._C import Tensor
from ..._types import Generator
from .draws import Draws, Generators
from .graph_settings import shard_pipes
from .progress import Progress
from .sampler import (
    BatchSampler,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
    drawn_seed,
)
from .samples import DatasetKind, batches_of
from .stateful import state_before, state_of

if TYPE_CHECKING:
    from .dataloader import DataLoader

_END = object()
# Samplers that draw nothing, and those that draw from libdl's generators alone.
_QUIET = {BatchSampler, SequentialSampler, list, tuple, range}
_KNOWN = _QUIET | {RandomSampler, SubsetRandomSampler, WeightedRandomSampler, Tensor}


def _draws_of(loader: DataLoader[Any]) -> Draws:
    """The steps of the loader's samplers."""
    samplers = [loader._index_sampler]
    if type(samplers[0]) is BatchSampler:
        samplers.append(samplers[0].sampler)
    kinds = set(map(type, samplers))
    drawn_from = {id(x): x for x in (loader, *samplers)}.values()
    collected = {id(x.generator): x.generator for x in drawn_from if hasattr(x, "generator")}
    own = [
        x
        for x in collected.values()
        if isinstance(x, Generator) and x is not _random.default_generator
    ]
    quiet = kinds <= _QUIET or loader._dataset_kind == DatasetKind.Iterable
    drawn = Generators(own, users=not kinds <= _KNOWN and not quiet)
    # Samples that this thread loads draw from the program's generators.
    here = loader.num_workers == 0 and loader._dataset_kind == DatasetKind.Map
    return Draws(drawn, not quiet, Generators(own, users=True) if here else None)


class Epoch(Iterator[Any]):
    """What both ways share: the seed, the indices, and how many batches were handed out.

    Attributes with an underscore are PyTorch's, for programs that derive their own iterators."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._auto_collation = loader._auto_collation
        self._batch_size, self._drop_last = loader.batch_size, loader.drop_last
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._pin_memory = loader.pin_memory and cuda.is_available()
        self._pin_memory_device = loader.pin_memory_device or None
        self._timeout = loader.timeout
        self._collate_fn = loader.collate_fn
        self._persistent_workers = loader.persistent_workers
        self._shared_seed, self._world_size, self._rank = None, 1, 0
        self._profile_name = f"enumerate(DataLoader)#{type(self).__name__}.__next__"
        self._begin(loader)

    def _begin(self, loader: DataLoader[Any]) -> None:
        """A new iteration, or the rest of one that is resumed."""
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        known = self._IterableDataset_len_called
        self._promised = None if known is None else loader._batches_in(known)
        self._ahead: deque[Any] = deque()  # indices that were drawn already
        self._cut_short: str | None = None  # by which error
        self.progress = loader._progress = Progress(_draws_of(loader), self._num_workers)
        self.progress.persistent = self._persistent_workers
        resumed = loader._resumed
        if resumed is None or resumed["ended"]:
            if resumed is not None:
                self.progress.draws.leave(resumed["indices"]["now"])
                self.progress.datasets.began = dict(resumed.get("began", {}))
            self._sampler_iter = self.progress.draws.step(lambda: iter(self._index_sampler))
            seed = self.progress.draws.beside(lambda: drawn_seed(loader.generator))
            self._base_seed = self.progress.seed = seed
        else:
            self._resume(resumed)

    def _resume(self, state: dict[str, Any]) -> None:
        """Draws again what was drawn. The batches that were handed out are not loaded again."""
        progress, handed = self.progress, state["batches"]
        self._base_seed = progress.seed = state["seed"]
        self._num_yielded = progress.handed = handed

        def again(number: int) -> None:
            if number == 0:
                self._sampler_iter = iter(self._index_sampler)
                return
            index = next(self._sampler_iter, _END)
            if number > handed:
                self._ahead.append(index)

        progress.draws.repeat(state["indices"], again, handed + 1)
        progress.datasets.load_state_dict(state)

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:
        """Begins anew."""
        if not first_iter:
            self._begin(loader)

    def __iter__(self) -> Epoch:
        return self

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")

    def _next_index(self) -> Any:
        """Of the next batch. Raises StopIteration."""
        index = self._ahead.popleft() if self._ahead else self._drawn_index()
        if index is not _END:
            return index
        if self._cut_short is not None:
            raise RuntimeError(
                "DataLoader: this iteration cannot go on, because its sampler was left by "
                f"{self._cut_short}"
            )
        raise StopIteration

    def _drawn_index(self) -> Any:
        try:
            return self.progress.draws.step(lambda: next(self._sampler_iter, _END))
        except BaseException as error:
            # A generator has ended then, and would end the epoch early.
            self._cut_short = f"{type(error).__name__}: {error}"
            raise

    def _next_data(self) -> Any:
        """The next batch. Raises StopIteration."""
        raise NotImplementedError(f"{type(self).__name__} has no _next_data")

    def __next__(self) -> Any:
        try:
            batch = self._next_data()
        except StopIteration:
            self.progress.ended = True
            raise
        self._num_yielded += 1
        self.progress.handed = self._num_yielded
        if (
            self._promised is not None
            and self._num_yielded > self._promised + self._short_batches()
        ):
            self._warn_of_length()
        return batch

    def _short_batches(self) -> int:
        """How many batches there may be beyond those that an IterableDataset's length promises:
        each worker may have one that is not full."""
        short = self._auto_collation and not self._drop_last
        return max(self._num_workers - 1, 0) if short else 0

    def _warn_of_length(self) -> None:
        warnings.warn(
            f"DataLoader: the IterableDataset's length promised {self._promised} batches, but "
            f"{self._num_yielded} have been loaded. With workers, each iterates over a copy of the "
            "dataset, which has to divide its samples by get_worker_info()",
            stacklevel=3,
        )


def pinned(batch: Any) -> Any:
    """The batch in memory that devices read from; what has a pin_memory() does it itself."""
    if hasattr(batch, "pin_memory"):
        return batch.pin_memory()
    if isinstance(batch, dict):
        return type(batch)((key, pinned(x)) for key, x in batch.items())
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*map(pinned, batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(map(pinned, batch))
    return batch


class LocalEpoch(Epoch):
    """Each batch is loaded by the thread that asks for it."""

    def _begin(self, loader: DataLoader[Any]) -> None:
        resumed = loader._resumed
        super()._begin(loader)
        shard_pipes(self._dataset, 1, 0)
        if self._dataset_kind == DatasetKind.Map:
            self._open()
            return
        loads = self.progress.loads = Draws(Generators((), users=True), watched=True)
        if resumed is None:
            loads.step(self._open)
            return
        state = resumed.get("loads", {"noted": {}, "last": -1, "now": {}})
        if resumed["ended"] or self.progress.datasets.states:
            # The epoch's seed was drawn just now.
            seeded = self.progress.draws.now() if resumed["ended"] else {}
            loads.leave({**state["now"], **seeded})
            loads.step(self._open)
        else:
            loads.repeat(state, self._load_again, self.progress.handed + 1)

    def _open(self) -> None:
        known = self.progress.datasets
        state = known.standing().get(0)
        if state is None and (before := state_before(self._dataset)):
            known.began[0] = before
        self._dataset_fetcher = batches_of(self, self._base_seed, shared=False, state=state)
        self._tells = state_of(self._dataset_fetcher) is not None

    def _load_again(self, number: int) -> None:
        if number == 0:
            self._open()
            return
        try:
            self._dataset_fetcher.fetch([None] * (self._batch_size or 1))
        except StopIteration:
            pass  # the next batch is none, too

    def _next_data(self) -> Any:
        index = self._next_index()
        loads = self.progress.loads
        load = self.progress.draws.beside if loads is None else loads.step
        batch = load(lambda: self._dataset_fetcher.fetch(index))
        if self._tells:
            self.progress.datasets.note(0, state_of(self._dataset_fetcher), [0])
        return pinned(batch) if self._pin_memory else batch

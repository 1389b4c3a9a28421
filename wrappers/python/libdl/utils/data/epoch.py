# SPDX-License-Identifier: Apache-2.0
"""One iteration over a DataLoader's batches: by this thread, or by workers that load ahead."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import libdl

from .sampler import drawn_seed
from .samples import batches_of, own_numbers

if TYPE_CHECKING:
    from .dataloader import DataLoader
    from .workers import Answer

_END = object()


class Epoch(Iterator[Any]):
    """What both ways share: the seed, the indices, and how many batches were handed out."""

    def __init__(self, loader: DataLoader[Any], resumed: dict[str, Any] | None = None) -> None:
        self.loader = loader
        self.handed = 0
        self.ended = False
        self.promised = loader._told_length
        if resumed is None:
            self.began = {"default": libdl.get_rng_state(), "generator": self._own_state()}
            self._draw()
        else:
            self._resume(resumed)

    def _draw(self) -> None:
        """The seed and the first indices: a sampler draws its numbers when it is asked first."""
        self.seed = drawn_seed(self.loader.generator)
        indices: Iterator[Any] = iter(self.loader.indices)
        first: Any = next(indices, _END)
        self.indices = iter(()) if first is _END else itertools.chain((first,), indices)

    def _own_state(self) -> libdl.Tensor | None:
        generator = self.loader.generator
        return None if generator is None else generator.get_state()

    def _resume(self, state: dict[str, Any]) -> None:
        """Draws again what was drawn, up to the batch that comes next."""
        self.began = {"default": state["default"], "generator": state["generator"]}
        if self.loader.generator is not None and state["generator"] is not None:
            self.loader.generator.set_state(state["generator"])
        # Between epochs a trainer that is resumed, too, draws as it would have.
        as_before = libdl.equal(libdl.get_rng_state(), state["default"])
        with own_numbers(shared=state.get("ended", False) and as_before):
            libdl.set_rng_state(state["default"])
            self._draw()
        for _ in range(state["batches"]):
            next(self.indices, None)
        self.handed = state["batches"]

    def state_dict(self) -> dict[str, Any]:
        """After StopIteration, of the next epoch."""
        if self.ended:
            now = {"default": libdl.get_rng_state(), "generator": self._own_state()}
            return {"batches": 0, **now, "ended": True}
        return {"batches": self.handed, **self.began, "ended": False}

    def __len__(self) -> int:
        return len(self.loader)

    def _short_batches(self) -> int:
        """How many batches there may be beyond those that an IterableDataset's length promises:
        each worker may have one that is not full."""
        loader = self.loader
        return max(loader.num_workers - 1, 0) if loader.batched and not loader.drop_last else 0

    def _warn_of_length(self) -> None:
        warnings.warn(
            f"DataLoader: the IterableDataset's length promised {self.promised} batches, but "
            f"{self.handed} have been loaded. With workers, each iterates over a copy of the dataset, "
            "which has to divide its samples by get_worker_info()",
            stacklevel=4,
        )

    def finished(self, batch: Any) -> Any:
        self.handed += 1
        if self.promised is not None and self.handed > self.promised + self._short_batches():
            self._warn_of_length()
        if self.loader.pin_memory and libdl.cuda.is_available():
            return pinned(batch)
        return batch


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

    def __init__(self, loader: DataLoader[Any], resumed: dict[str, Any] | None = None) -> None:
        super().__init__(loader, resumed)
        self.batches = batches_of(loader, self.seed, shared=False)
        if loader.iterates:
            for _ in range(self.handed):
                self.batches.batch([None] * (loader.batch_size or 1))

    def __next__(self) -> Any:
        try:
            return self.finished(self.batches.batch(next(self.indices)))
        except StopIteration:
            self.ended = True
            raise


class WorkerEpoch(Epoch):
    """Each worker has up to prefetch_factor batches before it, which are handed out in order."""

    def __init__(self, loader: DataLoader[Any], resumed: dict[str, Any] | None = None) -> None:
        from .workers import workers_of

        super().__init__(loader, resumed)
        self.skip = self.handed if loader.iterates else 0
        self.workers = loader._persistent or workers_of(loader)
        if loader.persistent_workers:
            loader._persistent = self.workers
        self.workers.begin(self.seed)
        self.sent = 0  # batches that were asked for
        self.asked: dict[int, int] = {}  # the worker of each that was not handed out
        self.done: dict[int, Answer] = {}
        self.at_work = list(range(loader.num_workers))  # those with samples left, the next first
        for _ in range((loader.prefetch_factor or 2) * loader.num_workers):
            self._ask()

    def _ask(self) -> None:
        """The next worker for the next batch."""
        if not self.at_work:
            return
        indices = next(self.indices, _END)
        if indices is _END:
            return
        worker = self.at_work.pop(0)
        self.at_work.append(worker)
        self.workers.ask(worker, self.sent, indices)
        self.asked[self.sent] = worker
        self.sent += 1

    def _ready(self) -> int | None:
        """The batch that is handed out next, if it is there."""
        if self.loader.in_order:
            first = next(iter(self.asked))
            return first if first in self.done else None
        return next(iter(self.done), None)

    def __next__(self) -> Any:
        while self.asked:
            number = self._ready()
            if number is None:
                found, answer = self.workers.answer(self.loader.timeout)
                self.done[found] = answer
                continue
            worker = self.asked.pop(number)
            answer = self.done.pop(number)
            if answer.ended:
                if worker in self.at_work:
                    self.at_work.remove(worker)
                continue
            self._ask()
            batch = answer.batch()
            if self.skip > 0:
                self.skip -= 1
                continue
            return self.finished(batch)
        self.close()
        self.ended = True
        raise StopIteration

    def close(self) -> None:
        """Ends the workers, unless they are to live on."""
        if self.workers is not self.loader._persistent:
            self.workers.close()

    def __del__(self) -> None:
        if hasattr(self, "workers"):
            self.close()

# SPDX-License-Identifier: Apache-2.0
"""One iteration over a DataLoader's batches that workers load ahead."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .epoch import Epoch, pinned
from .progress import Progress
from .samples import DatasetKind
from .workers import Answer, Workers

if TYPE_CHECKING:
    from .dataloader import DataLoader


def _call(function: Callable[[], None] | None) -> None:
    if function is not None:
        function()


class WorkerEpoch(Epoch):
    """Each worker has up to prefetch_factor batches before it, which are handed out in order.

    What an error out of a signal's handler leaves half done is not gone on with: this iteration
    says so, and the next one begins with new workers."""

    _workers_of_epoch: Workers | None = None
    _workers_seed = 0  # with which they were started

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._prefetch_factor = loader.prefetch_factor or 2
        self._in_order = loader.in_order
        self._worker_init_fn = loader.worker_init_fn
        super().__init__(loader)

    def _begin(self, loader: DataLoader[Any]) -> None:
        before = getattr(self, "progress", None)
        super()._begin(loader)
        settle = weakref.WeakMethod(self._settle)
        self.progress.settle = lambda: _call(settle())
        known = self.progress.datasets
        self._skip = 0
        if self._dataset_kind == DatasetKind.Iterable and not known.states:
            self._skip, known.turns = self.progress.handed, []
        self._furthest = -1
        self._send_idx = 0  # batches that were asked for
        self._task_info: dict[int, int] = {}  # the worker of each that was not handed out
        self._done: dict[int, Answer] = {}
        # Those with samples left, the next first.
        self._at_work = list(dict.fromkeys([*known.turns, *range(self._num_workers)]))
        self._choose_workers(loader, before)
        workers = self._workers_of_epoch
        assert workers is not None
        with workers.step:
            for _ in range(self._prefetch_factor * self._num_workers):
                self._try_put_index()

    def _choose_workers(self, loader: DataLoader[Any], before: Progress | None) -> None:
        """The same as before, unless they are of no use; and tells them to begin. What is resumed
        was the work of others, and is new workers'."""
        workers, progress, resumed = self._workers_of_epoch, self.progress, loader._resumed
        known = progress.datasets
        everyone = () if loader.worker_method == "thread" else range(self._num_workers)
        self._untold = set(everyone) - known.began.keys()  # threads have no generators of their own
        if workers is None or resumed is not None or not workers.usable():
            self._shutdown_workers()
            started = self._base_seed if resumed is None else resumed.get("started")
            self._workers_seed = self._base_seed if started is None else started
            workers = self._workers_of_epoch = _workers_of(loader)
            progress.started = self._workers_seed
            with workers.step:
                workers.begin(self._base_seed, progress.started, known.standing())
            if loader.worker_init_fn is None:
                self._untold.clear()
            return
        progress.started = self._workers_seed
        with workers.step:
            workers.begin(self._base_seed, self._workers_seed, {})
        if before is not None and before.ended:
            known.began = before.datasets.numbers()

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:
        """Begins anew, with the same workers."""
        super()._reset(loader, first_iter)

    def _try_put_index(self) -> None:
        """Asks the next worker for the next batch."""
        if not self._at_work or self._workers_of_epoch is None:
            return
        try:
            indices = self._next_index()
        except StopIteration:
            return
        worker = self._at_work.pop(0)
        self._at_work.append(worker)
        self._workers_of_epoch.ask(worker, self._send_idx, indices)
        self._task_info[self._send_idx] = worker
        self._send_idx += 1

    def _ready(self) -> int | None:
        """The batch that is handed out next, if it is there."""
        if self._in_order or self._skip > 0:
            first = next(iter(self._task_info))
            return first if first in self._done else None
        return next(iter(self._done), None)

    def _wait(self, workers: Workers) -> int:
        """The same, once it is there."""
        while (number := self._ready()) is None:
            workers.wait(self._timeout)
            self._take(workers)
        return number

    def _take(self, workers: Workers) -> None:
        with workers.step:
            workers.take(self._done)
            for number, answer in self._done.items() if self._untold else ():
                worker = self._task_info[number]
                if worker in self._untold and answer.began is not None:
                    self.progress.datasets.began[worker] = answer.began
                self._untold.discard(worker)

    def _settle(self) -> None:
        """Until each worker that has been asked has told with which random numbers it began."""
        workers = self._workers_of_epoch
        while workers is not None and self._untold & set(self._task_info.values()):
            workers.wait(self._timeout)
            self._take(workers)

    def _next_data(self) -> Any:
        workers = self._workers_of_epoch
        while self._task_info:
            if workers is None or workers.step.broken:
                raise RuntimeError(
                    "DataLoader: this iteration cannot go on, because an error interrupted it, or "
                    "its workers were shut down; begin a new one"
                )
            number = self._wait(workers)
            with workers.step:
                worker, answer = self._task_info.pop(number), self._done.pop(number)
                if not answer.ended:
                    self._try_put_index()
                else:
                    self.progress.datasets.ended(worker, answer.state)
                    if worker in self._at_work:
                        self._at_work.remove(worker)
            if answer.error is not None:
                try:
                    raise answer.error
                finally:
                    del answer  # its traceback knows this frame, and so the workers
            if answer.ended:
                continue
            if self._skip == 0:
                self._furthest = max(self._furthest, number)
                self.progress.overtaken = min(self._task_info, default=number) < self._furthest
                turns = dict.fromkeys(self._task_info.values())
                self.progress.datasets.note(worker, answer.state, turns)
                return pinned(answer.content) if self._pin_memory else answer.content
            self._skip -= 1
        if not self._persistent_workers:
            self._shutdown_workers()
        raise StopIteration

    # -- what PyTorch's iterators have as well

    @property
    def _workers(self) -> list[Any]:
        """The processes, or threads."""
        workers = self._workers_of_epoch
        return [] if workers is None else workers.running()

    @property
    def _tasks_outstanding(self) -> int:
        return len(self._task_info) - len(self._done)

    @property
    def _rcvd_idx(self) -> int:
        return next(iter(self._task_info), self._send_idx)

    @property
    def _workers_status(self) -> list[bool]:
        return [number in self._at_work for number in range(self._num_workers)]

    @property
    def _shutdown(self) -> bool:
        return self._workers_of_epoch is None

    def _shutdown_workers(self) -> None:
        """Ends the workers."""
        workers, self._workers_of_epoch = self._workers_of_epoch, None
        if workers is not None:
            workers.close()

    def __del__(self) -> None:
        self._shutdown_workers()


def _workers_of(loader: DataLoader[Any]) -> Workers:
    """The loader's workers, started."""
    if loader.worker_method == "thread":
        from .thread_workers import ThreadWorkers

        return ThreadWorkers(loader)
    from .process_workers import ProcessWorkers

    return ProcessWorkers(loader)

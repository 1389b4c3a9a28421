# SPDX-License-Identifier: Apache-2.0
"""Workers that are threads: they share the dataset, and batches need no way to the trainer."""

from __future__ import annotations

import queue
import threading
import weakref
from typing import TYPE_CHECKING, Any

from .workers import Answer, Job, RemoteTraceback, Work, traceback_of

if TYPE_CHECKING:
    from .dataloader import DataLoader


class ThreadWorkers:
    def __init__(self, loader: DataLoader[Any]) -> None:
        self.epoch = 0  # -1: closed
        self.answers: queue.SimpleQueue[tuple[int, int, Answer]] = queue.SimpleQueue()
        self.requests: list[queue.SimpleQueue[Any]] = []
        for number in range(loader.num_workers):
            self.requests.append(queue.SimpleQueue())
            work = Work(Job.of(loader, number, shared=True))
            # A daemon: a sample that takes long does not keep the program from ending. It knows
            # these workers weakly: one that waits does not keep them.
            threading.Thread(
                target=_serve, args=(work, weakref.ref(self), self.requests[-1], self.answers),
                name=work.name, daemon=True,
            ).start()  # fmt: skip

    def begin(self, seed: int) -> None:
        self.epoch += 1
        for requests in self.requests:
            requests.put(("begin", self.epoch, seed))

    def ask(self, worker: int, number: int, indices: Any) -> None:
        self.requests[worker].put(("batch", self.epoch, (number, indices)))

    def answer(self, timeout: float) -> tuple[int, Answer]:
        while True:
            try:
                epoch, number, answer = self.answers.get(timeout=timeout or None)
            except queue.Empty:
                raise RuntimeError(f"DataLoader timed out after {timeout} seconds") from None
            if epoch == self.epoch:
                return number, answer

    def close(self) -> None:
        self.epoch = -1
        for requests in self.requests:
            requests.put(None)

    def __del__(self) -> None:
        self.close()


def _serve(
    work: Work,
    workers: weakref.ref[ThreadWorkers],
    requests: queue.SimpleQueue[Any],
    answers: queue.SimpleQueue[tuple[int, int, Answer]],
) -> None:
    while (request := requests.get()) is not None:
        what, epoch, content = request
        owner = workers()
        if owner is None or epoch != owner.epoch:
            continue  # nobody waits for it
        del owner
        if what == "begin":
            work.begin(content)
            continue
        number, indices = content
        answer = work.batch(indices)
        if answer.error is not None:
            answer.error.__cause__ = RemoteTraceback(traceback_of(answer.error, work.name))
        answers.put((epoch, number, answer))

# SPDX-License-Identifier: Apache-2.0
"""Workers that are threads: they share the dataset, and batches need no way to the trainer."""

from __future__ import annotations

import queue
import threading
import time
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .workers import Answer, Job, RemoteTraceback, Step, Work, traceback_of

if TYPE_CHECKING:
    from .dataloader import DataLoader


class ThreadWorkers:
    def __init__(self, loader: DataLoader[Any]) -> None:
        self.step = Step()
        self.epoch = 0  # -1: closed
        # What has arrived is among the answers before it is told, so that an error while it is
        # waited for loses nothing.
        self.answers: dict[tuple[int, int], Answer] = {}
        self.told: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.requests: list[queue.SimpleQueue[Any]] = []
        self.threads: list[threading.Thread] = []
        for number in range(loader.num_workers):
            self.requests.append(queue.SimpleQueue())
            work = Work(Job.of(loader, number, shared=True))
            # A daemon: a sample that takes long does not keep the program from ending. It knows
            # these workers weakly: one that waits does not keep them.
            self.threads.append(
                threading.Thread(
                    target=_serve,
                    args=(work, weakref.ref(self), self.requests[-1]),
                    name=work.name,
                    daemon=True,
                )
            )
            self.threads[-1].start()

    def usable(self) -> bool:
        return self.epoch >= 0 and not self.step.broken

    def running(self) -> list[Any]:
        return list(self.threads)

    def begin(self, seed: int, started: int, states: Mapping[int, Any]) -> None:
        self.epoch += 1
        for number, requests in enumerate(self.requests):
            requests.put(("begin", self.epoch, (seed, started, states.get(number))))

    def ask(self, worker: int, number: int, indices: Any) -> None:
        self.requests[worker].put(("batch", self.epoch, (number, indices)))

    def wait(self, timeout: float) -> None:
        end = time.monotonic() + timeout
        while not any(epoch == self.epoch for epoch, _ in list(self.answers)):
            left = max(end - time.monotonic(), 0) if timeout > 0 else None
            try:
                self.told.get(timeout=left)
            except queue.Empty:
                raise RuntimeError(f"DataLoader timed out after {timeout} seconds") from None

    def take(self, answers: dict[int, Answer]) -> None:
        for epoch, number in list(self.answers):
            answer = self.answers.pop((epoch, number))
            if epoch == self.epoch:
                answers[number] = answer

    def close(self) -> None:
        self.epoch = -1
        for requests in self.requests:
            requests.put(None)

    def __del__(self) -> None:
        self.close()


def _serve(
    work: Work, workers: weakref.ref[ThreadWorkers], requests: queue.SimpleQueue[Any]
) -> None:
    while (request := requests.get()) is not None:
        what, epoch, content = request
        owner = workers()
        if owner is None or epoch != owner.epoch:
            continue  # nobody waits for it
        del owner
        if what == "begin":
            work.begin(*content)
            continue
        number, indices = content
        answer = work.batch(indices)
        if answer.error is not None:
            answer.error.__cause__ = RemoteTraceback(traceback_of(answer.error, work.name))
        owner = workers()
        if owner is not None:
            owner.answers[epoch, number] = answer
            owner.told.put(None)
        del owner, answer

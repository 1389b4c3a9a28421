# SPDX-License-Identifier: Apache-2.0
"""Workers that are processes: each has a copy of the dataset, and writes its batches into a
ring."""

from __future__ import annotations

import os
import pickle
import queue
import select
import signal
import socket
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ... import _C, multiprocessing
from .channel import Channel
from .collate import collate_into
from .ring import MOST_SLOTS, Ring, unpacked
from .workers import Answer, Job, RemoteTraceback, Step, Work, traceback_of
from .writer import Writer

if TYPE_CHECKING:
    from .dataloader import DataLoader

# Of each worker's slots, those that batches may hold before others are copied out.
_MOST_HELD = 2
_PAGE = 4096


class _Worker:
    """One process, as its parent sees it."""

    def __init__(self, context: Any, job: Job, slots: int) -> None:
        self.id = job.id
        self.count = slots
        self.rings: list[Ring] = []  # by number; those before the last that is in use are gone
        self.oldest = 0
        self.channel, theirs = Channel.pair()
        self.process = context.Process(
            target=_serve, args=(job, theirs), name=f"DataLoader worker {job.id}", daemon=True
        )
        try:
            self.process.start()
        finally:
            theirs.close()

    def send(self, message: tuple[Any, ...], apart: Any = None, fds: Sequence[int] = ()) -> None:
        """apart: pickled by itself, so that the worker can tell which message it cannot read."""
        try:
            first, second = pickle.dumps(message, protocol=5), pickle.dumps(apart, protocol=5)
            self.channel.send(len(first).to_bytes(8, "little"), first, second, fds=fds)
        except OSError:
            raise self.death() from None

    def read(self) -> tuple[int, int, Answer]:
        """An epoch's number, a batch's number and the answer."""
        try:
            message, _ = self.channel.receive()
        except EOFError:
            raise self.death() from None
        size = int.from_bytes(message[:8], "little")
        head, rest = pickle.loads(message[8 : 8 + size]), memoryview(message)[8 + size :]
        epoch, number, ring, slot, inline, needed, pieces = head
        if slot >= 0:
            self._forget_before(ring)
        else:
            self._enlarge(needed)
        try:
            return epoch, number, self._content(slot, rest, inline, pieces)
        except Exception as error:  # the batch's own: what it holds cannot be unpickled here
            told = traceback_of(error, f"a batch of DataLoader worker {self.id}, unpickled")
            error.__cause__ = RemoteTraceback(told)
            # Its frames would keep other batches, and their slots, for as long as the error.
            return epoch, number, Answer(error=error.with_traceback(None))

    def _content(self, slot: int, rest: memoryview, inline: int, pieces: Any) -> Answer:
        if slot >= 0:
            found: Answer = self.rings[0].read(slot, rest, pieces, _MOST_HELD)
        else:
            # No slot, or none that is large enough: the tensors came with the message.
            found = unpacked(rest[inline:], pieces, rest[:inline], copied=True)
        return found

    def _forget_before(self, ring: int) -> None:
        while self.oldest < ring:
            del self.rings[0]
            self.oldest += 1

    def _enlarge(self, needed: int) -> None:
        """A ring whose slots have room for a batch like this, and for one a little larger."""
        size = -(-(needed + needed // 4) // _PAGE) * _PAGE
        if size == 0 or (self.rings and self.rings[-1].slots.size >= size):
            return
        try:
            ring = Ring(size, self.count)
        except OSError:
            return  # memory is short: batches go on coming with their messages
        number = self.oldest + len(self.rings)
        self.send(("ring", number, size, self.count), fds=(ring.fd, ring.freed))
        ring.close()
        self.rings.append(ring)

    def death(self) -> RuntimeError:
        """The error that says how the process ended."""
        self.process.join(1)
        code, pid = self.process.exitcode, self.process.pid
        if code is not None and code < 0:
            how = f"was killed by signal {-code} ({signal.Signals(-code).name})"
        elif code is None:
            how = "closed its connection"
        else:
            how = f"exited with {code}"
        return RuntimeError(f"DataLoader worker {self.id} (pid {pid}) {how}")


class ProcessWorkers:
    def __init__(self, loader: DataLoader[Any]) -> None:
        context = loader.multiprocessing_context
        if context is None or isinstance(context, str):
            context = multiprocessing.get_context(context)
        self.step = Step()
        self.epoch = 0
        self.workers: list[_Worker] = []
        self._end = weakref.finalize(self, _end, self.workers, os.getpid())
        slots = min((loader.prefetch_factor or 2) + _MOST_HELD, MOST_SLOTS)
        for number in range(loader.num_workers):
            job = Job.of(loader, number, shared=False)
            self.workers.append(_Worker(context, job, slots))
        self.poll = select.poll()
        self.by_descriptor = {worker.channel.fileno(): worker for worker in self.workers}
        for descriptor in self.by_descriptor:
            self.poll.register(descriptor, select.POLLIN)

    def usable(self) -> bool:
        # A worker may be gone without a word: Ctrl-C goes to those that are just being started,
        # too.
        alive = self._end.alive and not self.step.broken
        return alive and all(worker.process.is_alive() for worker in self.workers)

    def running(self) -> list[Any]:
        return [worker.process for worker in self.workers]

    def begin(self, seed: int, started: int, states: Mapping[int, Any]) -> None:
        self.epoch += 1
        for worker in self.workers:
            worker.send(("begin", self.epoch, seed, started), states.get(worker.id))

    def ask(self, worker: int, number: int, indices: Any) -> None:
        self.workers[worker].send(("batch", self.epoch, number), indices)

    def wait(self, timeout: float) -> None:
        if not self.poll.poll(timeout * 1000 if timeout > 0 else None):
            raise RuntimeError(f"DataLoader timed out after {timeout} seconds")

    def take(self, answers: dict[int, Answer]) -> None:
        ready = self.poll.poll(0)
        if ready:  # one: those behind it are read when they are wanted
            epoch, number, answer = self.by_descriptor[ready[0][0]].read()
            if epoch == self.epoch:
                answers[number] = answer

    def close(self) -> None:
        self._end()


def _end(workers: list[_Worker], owner: int) -> None:
    if os.getpid() != owner:
        return  # a forked process has a copy of what belongs to its parent
    try:
        for worker in workers:
            worker.channel.close()
        for worker in workers:
            worker.process.join(0.2)
            if worker.process.is_alive():  # a sample takes long
                worker.process.kill()
                worker.process.join()
            worker.process.close()  # its descriptors; the loader may be in a cycle of references
    finally:
        # After an error, too, such as that of Ctrl-C: without its channel each worker ends itself.
        workers.clear()


# -- in the worker --------------------------------------------------------------------------------


def _portable(answer: Answer, name: str) -> Answer:
    """With an error that can be pickled, and whose cause is this process's traceback."""
    error = answer.error
    if error is None:
        return answer
    text = traceback_of(error, name)
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error} (it cannot be pickled)")
    return Answer(error=_WithCause(error, text), began=answer.began)


class _WithCause(Exception):  # noqa: N818
    """Becomes the error itself when it is unpickled: pickle leaves causes out."""

    def __init__(self, error: BaseException, text: str) -> None:
        super().__init__(text)
        self.error, self.text = error, text

    def __reduce__(self) -> tuple[Any, ...]:
        return _with_cause, (self.error, self.text)


def _with_cause(error: BaseException, text: str) -> BaseException:
    error.__cause__ = RemoteTraceback(text)
    return error


def _read(channel: Channel, requests: queue.SimpleQueue[Any]) -> None:
    """Reads ahead, so that neither process waits to send while the other one does; and ends this
    process as soon as its parent is gone, in the middle of a sample."""
    while True:
        try:
            message, fds = channel.receive()
        except EOFError:
            os._exit(0)
        size = int.from_bytes(message[:8], "little")
        requests.put((pickle.loads(message[8 : 8 + size]), message[8 + size :], fds))


def _serve(job: Job, end: socket.socket) -> None:
    # Ctrl-C is the parent's, which then closes the channel.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _C.set_threads(1)
    channel = Channel(end)
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(channel, requests), daemon=True).start()
    work, writer = Work(job), Writer(channel)
    collate_into(writer.empty)
    current = 0
    while True:
        (what, *told), apart, fds = requests.get()
        if what == "ring":
            writer.use(*fds, *told)
        elif what == "begin":
            current, seed, started = told
            work.begin(seed, started, pickle.loads(apart))
        elif told[0] == current:
            _answer(work, writer, current, told[1], apart)


def _answer(work: Work, writer: Writer, epoch: int, number: int, indices: bytes) -> None:
    try:
        answer = _portable(work.batch(pickle.loads(indices)), work.name)
    except Exception as error:  # of indices that cannot be unpickled here
        answer = _portable(Answer(error=error), work.name)
    try:
        writer.send(epoch, number, answer)
    except ConnectionError:
        os._exit(0)  # the parent is gone
    except Exception as error:  # a batch that cannot be pickled
        writer.send(epoch, number, _portable(Answer(error=error), work.name))

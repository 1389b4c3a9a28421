# SPDX-License-Identifier: Apache-2.0
"""Queues of multiprocessing, whose objects may hold tensors. A queue has no lock that a killed
process could keep: the kernel hands each packet to one reader."""

from __future__ import annotations

import collections
import contextlib
import threading
import time
from multiprocessing import context, queues, util
from multiprocessing.synchronize import SEM_VALUE_MAX  # type: ignore[attr-defined]
from queue import Empty, Full
from typing import TYPE_CHECKING, Any

from .connection import DO_NOT_WAIT, Packet, Pipe, packet_of

if TYPE_CHECKING:
    from .connection import Arrived

__all__ = ["JoinableQueue", "Queue", "SimpleQueue"]


class _NoLock:
    """In place of the locks that Pool asks a queue for."""

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        return True

    def release(self) -> None:
        pass

    def __enter__(self) -> bool:
        return True

    def __exit__(self, *exception: object) -> None:
        pass


class _Outbox:
    """Packets that the kernel has no room for yet, and the thread that sends them."""

    def __init__(self, writer: Any) -> None:
        self.writer = writer
        self.waiting: collections.deque[Packet] = collections.deque()
        self.changed = threading.Condition()
        self.thread: threading.Thread | None = None
        self.closed = False
        self.joined: Any = None

    def put(self, packet: Packet) -> None:
        with self.changed:
            if not self.waiting and self.writer.try_send(packet):
                return
            self.waiting.append(packet)
            packet.given = True
            # One that an error kept from starting does not count.
            if self.thread is None or not self.thread.is_alive():
                self.thread = threading.Thread(
                    target=self._send, name="QueueFeederThread", daemon=True
                )
                self.thread.start()
                # The process does not end before all has been sent.
                self.joined = util.Finalize(self.thread, self.thread.join, exitpriority=-5)
            self.changed.notify()

    def _send(self) -> None:
        while True:
            with self.changed:
                if not self.waiting:
                    self.thread = None
                    if self.joined is not None:
                        self.joined.cancel()
                    if self.closed:
                        self.writer.close()
                    return
                packet = self.waiting[0]
            try:
                packet.send(self.writer._socket)
            except (BrokenPipeError, ConnectionResetError):
                self.closed = True
                with self.changed:
                    self.waiting.clear()  # nobody is there to read them
                continue
            with self.changed:
                self.waiting.popleft()

    def close(self) -> None:
        with self.changed:
            self.closed = True
            if self.thread is None:
                self.writer.close()

    def join(self) -> None:
        thread = self.thread
        if thread is not None:
            thread.join()

    def abandon(self) -> None:
        """The process may end before all has been sent."""
        if self.joined is not None:
            self.joined.cancel()


class SimpleQueue(queues.SimpleQueue):  # type: ignore[type-arg]
    """Objects in order. As a Queue without maxsize, but for what it does not count."""

    def __init__(self, *, ctx: Any = None) -> None:
        self.__setstate__(Pipe(duplex=False))

    def __getstate__(self) -> Any:
        context.assert_spawning(self)
        return self._reader, self._writer

    def __setstate__(self, state: Any) -> None:
        self._reader, self._writer = state
        self._rlock = self._wlock = _NoLock()
        self._poll = self._reader.poll
        self._reset()
        util.register_after_fork(self, SimpleQueue._reset)

    def _reset(self) -> None:
        self._outbox = _Outbox(self._writer)

    def put(self, obj: Any) -> None:
        """Sends the object; where the kernel has no room yet, a thread does."""
        self._outbox.put(packet_of(obj))

    def get(self) -> Any:
        """The next object; waits for it."""
        return self._reader.recv()

    def close(self) -> None:
        """This process puts no more and gets no more."""
        self._reader.close()
        self._outbox.close()


class Queue(queues.Queue):  # type: ignore[type-arg]
    """Objects in order, at most maxsize if that is positive. put hands the object to the kernel
    before it returns, if there is room; else a thread does so."""

    def __init__(self, maxsize: int = 0, *, ctx: Any) -> None:
        self._maxsize = maxsize if maxsize > 0 else SEM_VALUE_MAX
        self._sem = ctx.BoundedSemaphore(self._maxsize)
        self._begin(*Pipe(duplex=False))

    def _begin(self, reader: Any, writer: Any) -> None:
        self._reader, self._writer = reader, writer
        self._ignore_epipe = False
        self._closed = False
        self._poll = reader.poll
        self._reset()
        util.register_after_fork(self, Queue._reset)

    def _reset(self) -> None:
        """What is in the outbox stays with the process that put it there."""
        self._outbox = _Outbox(self._writer)

    def __getstate__(self) -> Any:
        context.assert_spawning(self)
        return self._maxsize, self._sem, self._reader, self._writer

    def __setstate__(self, state: Any) -> None:
        self._maxsize, self._sem, reader, writer = state
        self._begin(reader, writer)

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError(f"Queue {self!r} is closed")

    def put(self, obj: Any, block: bool = True, timeout: float | None = None) -> None:
        """Raises Full if there is no place, at once or after timeout seconds; and what is wrong
        with an object that cannot be pickled."""
        self._check_open()
        if not block and self._sem.get_value() == 0:
            raise Full
        # Packed before it has its place: a process that is killed in between takes none along.
        packet = packet_of(obj)
        acquired = False
        try:
            acquired = self._sem.acquire(block, timeout)
            if not acquired:
                raise Full
            self._hand_over(packet)
        except BaseException:  # of Ctrl-C, too
            if acquired and not packet.given:
                self._give_place_back()
            raise

    def _hand_over(self, packet: Packet) -> None:
        self._outbox.put(packet)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Raises Empty if there is no object, at once or after timeout seconds."""
        self._check_open()
        arrived = None
        try:
            if block and timeout is None:
                arrived = self._reader.arrive()
            else:
                arrived = self._arrive_before(time.monotonic() + ((timeout or 0) if block else 0))
        finally:
            if arrived is not None:
                self._give_place_back()
        return arrived.load()

    def _give_place_back(self) -> None:
        # A put that was interrupted between sending and noting that may have done so already.
        with contextlib.suppress(ValueError):
            self._sem.release()

    def _arrive_before(self, deadline: float) -> Arrived:
        """Another reader may be faster: then the wait goes on."""
        while True:
            try:
                arrived: Arrived = self._reader.arrive(DO_NOT_WAIT)
                return arrived
            except BlockingIOError:
                left = deadline - time.monotonic()
                if left <= 0 or not self._poll(left):
                    raise Empty from None

    def close(self) -> None:
        """This process puts no more and gets no more."""
        if not self._closed:
            self._closed = True
            self._reader.close()
            self._outbox.close()

    def join_thread(self) -> None:
        """Waits until what this process put is with the kernel; after close()."""
        if not self._closed:
            raise AssertionError(f"Queue {self!r} is not closed")
        self._outbox.join()

    def cancel_join_thread(self) -> None:
        """This process may end before that."""
        self._outbox.abandon()


class JoinableQueue(Queue, queues.JoinableQueue):  # type: ignore[type-arg]
    """A Queue that counts: join() waits until task_done() was called for each object."""

    def __init__(self, maxsize: int = 0, *, ctx: Any) -> None:
        super().__init__(maxsize, ctx=ctx)
        self._unfinished_tasks = ctx.Semaphore(0)
        self._cond = ctx.Condition()

    def __getstate__(self) -> Any:
        return super().__getstate__(), self._cond, self._unfinished_tasks

    def __setstate__(self, state: Any) -> None:
        own, self._cond, self._unfinished_tasks = state
        super().__setstate__(own)

    def _hand_over(self, packet: Packet) -> None:
        # Counted before somebody can get it and call task_done(); not under the condition of
        # join(), which a producer that is killed here would keep from all others.
        self._unfinished_tasks.release()
        try:
            super()._hand_over(packet)
        except BaseException:
            if not packet.given:
                self._unfinished_tasks.acquire(False)
            raise

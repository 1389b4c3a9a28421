# SPDX-License-Identifier: Apache-2.0
"""Pool of multiprocessing, whose tasks and results may hold tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from multiprocessing import pool
from multiprocessing.pool import ThreadPool as ThreadPool
from typing import Any

from .connection import DO_NOT_WAIT

__all__ = ["Pool", "ThreadPool"]


class Pool(pool.Pool):
    """Processes that work on many tasks."""

    _default: Any  # the context where none is given: context.py sets it, which makes Pools itself

    def __init__(
        self,
        processes: int | None = None,
        initializer: Callable[..., object] | None = None,
        initargs: Iterable[Any] = (),
        maxtasksperchild: int | None = None,
        context: Any = None,
    ) -> None:
        chosen = self._default.get_context() if context is None else context
        super().__init__(processes, initializer, initargs, maxtasksperchild, chosen)

    @staticmethod
    def _help_stuff_finish(inqueue: Any, task_handler: Any, size: int) -> None:
        """Makes room for the thread that hands out tasks, until it has ended. The base class holds
        a lock meanwhile; here workers may be faster, and waiting for what they took has no end."""
        while task_handler.is_alive():
            try:
                inqueue._reader.arrive(DO_NOT_WAIT)
            except BlockingIOError:
                return

# SPDX-License-Identifier: Apache-2.0
"""Contexts: multiprocessing's, whose processes are given tensors by sharing memory, and whose
queues and pipes carry them."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable
from multiprocessing import context
from typing import Any

from . import connection, queues
from .pool import Pool
from .reductions import Starting


class _Given:
    """A process made by spawn or forkserver is given all of the object's attributes at once."""

    def __getstate__(self) -> dict[str, Starting]:
        return {"_given": Starting(dict(self.__dict__))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state.pop("_given", {}))
        self.__dict__.update(state)

    def start(self) -> None:
        """Starts the process."""
        super().start()  # type: ignore[misc]
        self._popen.__dict__.pop("libdl_bundles", None)  # type: ignore[attr-defined]


class ForkProcess(_Given, context.ForkProcess):
    """A process made by fork: it has a copy of all memory that is not shared."""


class SpawnProcess(_Given, context.SpawnProcess):
    """A process made by starting Python anew."""


class ForkServerProcess(_Given, context.ForkServerProcess):
    """A process made by a fork of a server process."""


class Process(_Given, context.Process):
    """A process made by the start method in use."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802
        return multiprocessing.get_context().Process._Popen(process_obj)


class _Shares(context.BaseContext):
    """What all contexts have in their own way."""

    def Pipe(self, duplex: bool = True) -> Any:  # noqa: N802
        """Two connected ends; without duplex the first receives and the second sends."""
        return connection.Pipe(duplex)

    def Queue(self, maxsize: int = 0) -> queues.Queue:  # noqa: N802
        """Objects in order, at most maxsize if that is positive."""
        return queues.Queue(maxsize, ctx=self.get_context())

    def JoinableQueue(self, maxsize: int = 0) -> queues.JoinableQueue:  # noqa: N802
        """A Queue that counts which of its objects are done."""
        return queues.JoinableQueue(maxsize, ctx=self.get_context())

    def SimpleQueue(self) -> queues.SimpleQueue:  # noqa: N802
        """Objects in order."""
        return queues.SimpleQueue(ctx=self.get_context())

    def Pool(  # noqa: N802
        self,
        processes: int | None = None,
        initializer: Callable[..., object] | None = None,
        initargs: Iterable[Any] = (),
        maxtasksperchild: int | None = None,
    ) -> Any:
        """Processes that work on many tasks."""
        return Pool(processes, initializer, initargs, maxtasksperchild, self.get_context())

    def get_context(self, method: str | None = None) -> Any:
        """The context of a start method; None: of the one in use."""
        return self if method is None else _context(method)


class ForkContext(_Shares, context.ForkContext):
    Process = ForkProcess


class SpawnContext(_Shares, context.SpawnContext):
    Process = SpawnProcess


class ForkServerContext(_Shares, context.ForkServerContext):
    Process = ForkServerProcess


_contexts = {"fork": ForkContext(), "spawn": SpawnContext(), "forkserver": ForkServerContext()}


def _context(method: str) -> _Shares:
    multiprocessing.get_context(method)  # raises where there is no such method
    return _contexts[method]


class DefaultContext(_Shares):
    """The start method is multiprocessing's: set here or there, it is the same."""

    Process = Process

    def get_context(self, method: str | None = None) -> Any:
        return _context(multiprocessing.get_start_method() if method is None else method)

    def set_start_method(self, method: str | None, force: bool = False) -> None:
        """Chooses how processes are started: "fork", "spawn" or "forkserver", once in a program."""
        multiprocessing.set_start_method(method, force)

    def get_start_method(self, allow_none: bool = False) -> Any:
        """The start method in use."""
        return multiprocessing.get_start_method(allow_none)

    def get_all_start_methods(self) -> list[str]:
        """The start methods that there are."""
        return multiprocessing.get_all_start_methods()


default = DefaultContext()
Pool._default = default

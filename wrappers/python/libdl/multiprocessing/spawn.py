# SPDX-License-Identifier: Apache-2.0
"""spawn: one function in several processes, which end together if one of them fails."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing import connection, parent_process
from typing import Any

from .context import default

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]


class ProcessException(Exception):  # noqa: N818
    """A process failed: its number and its pid."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.error_pid = msg, error_index, error_pid

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """A process raised an exception; where that can be pickled, it is the cause."""


class ProcessExitedException(ProcessException):
    """A process was killed by a signal, or ended itself with an exit code other than 0."""

    def __init__(
        self,
        msg: str,
        error_index: int,
        error_pid: int,
        exit_code: int,
        signal_name: str | None = None,
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> tuple[Any, ...]:
        own = self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name
        return type(self), own


def _end_with_parent() -> None:
    """If the parent is killed, nobody else ends this process."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)


def _run(fn: Callable[..., Any], number: int, args: tuple[Any, ...], errors: Any) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        fn(number, *args)
    except (Exception, KeyboardInterrupt) as error:
        try:
            original = pickle.dumps(error)
            pickle.loads(original)
        except Exception:
            original = b""
        errors.send((traceback.format_exc(), original))
        sys.exit(1)


class ProcessContext:
    """The processes of start_processes."""

    def __init__(self, processes: list[Any], errors: list[Any]) -> None:
        self.processes, self._errors = processes, errors
        self.sentinels = {process.sentinel: i for i, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """Of the processes, by number."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Waits until a process has ended, or for timeout seconds; whether all have ended.

        If one failed, it ends the others and raises ProcessRaisedException or
        ProcessExitedException. They have grace_period seconds to end by themselves, and are sent
        SIGTERM then; those that last 30 seconds more are killed."""
        if not self.sentinels:
            return True
        failed = None
        for sentinel in connection.wait(list(self.sentinels), timeout):
            number = self.sentinels.pop(sentinel)
            self.processes[number].join()
            if self.processes[number].exitcode != 0 and failed is None:
                failed = number
        if failed is None:
            return not self.sentinels
        self._end(grace_period)
        self._raise(failed)
        return True

    def _end(self, grace_period: float | None) -> None:
        if grace_period:
            self._join_all(grace_period)
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        self._join_all(30)
        for process in self.processes:
            if process.is_alive():
                process.kill()
            process.join()

    def _join_all(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        for process in self.processes:
            process.join(max(0, deadline - time.monotonic()))

    def _raise(self, number: int) -> None:
        process, code = self.processes[number], self.processes[number].exitcode
        description = None
        try:
            if self._errors[number].poll():
                description = self._errors[number].recv()
        except EOFError:
            pass
        if description is not None:
            text, original = description
            cause = pickle.loads(original) if original else None
            raise ProcessRaisedException(
                f"\n\n-- Process {number} raised an exception:\n{text}", number, process.pid
            ) from cause
        if code < 0:
            name = signal.Signals(-code).name
            raise ProcessExitedException(
                f"process {number} was ended by signal {name}", number, process.pid, code, name
            )
        raise ProcessExitedException(
            f"process {number} ended with exit code {code}", number, process.pid, code
        )


SpawnContext = ProcessContext  # PyTorch's name of before


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Runs fn(i, *args) in processes i = 0 to nprocs - 1.

    join: waits for them all, and raises as ProcessContext.join does if one of them fails; otherwise
    returns their ProcessContext."""
    context = default.get_context(start_method)
    processes, errors = [], []
    for number in range(nprocs):
        reader, writer = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(fn, number, args, writer), daemon=daemon)
        process.start()
        writer.close()
        processes.append(process)
        errors.append(reader)
    started = ProcessContext(processes, errors)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """start_processes by the start method spawn, which is the only one that it takes."""
    if start_method != "spawn":
        raise ValueError(
            f"spawn: argument 6 (start_method) is {start_method!r}, wanted 'spawn'; "
            "start_processes takes others"
        )
    return start_processes(fn, args, nprocs, join, daemon)

# SPDX-License-Identifier: Apache-2.0
"""PyTorch's place for what workers know, and what programs with workers of their own reach for."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

from ..samples import WorkerInfo, get_worker_info

__all__ = ["ManagerWatchdog", "WorkerInfo", "get_worker_info"]

_worker_info: WorkerInfo | None = None  # a program's own; get_worker_info() tells it, too


class ManagerWatchdog:
    """Whether the process that started this one lives."""

    def __init__(self) -> None:
        self.manager_pid, self.manager_dead = os.getppid(), False

    def is_alive(self) -> bool:
        self.manager_dead = self.manager_dead or os.getppid() != self.manager_pid
        return not self.manager_dead


@dataclass(frozen=True)
class _IterableDatasetStopIteration:
    """A worker's dataset has ended."""

    worker_id: int


@dataclass(frozen=True)
class _ResumeIteration:
    """A new epoch of persistent workers."""

    seed: int | None = None


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """Four numbers of 32 bits that seed NumPy in a worker."""
    digest = hashlib.blake2b(f"{base_seed} {worker_id}".encode(), digest_size=16).digest()
    return [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4)]

# SPDX-License-Identifier: Apache-2.0
"""Functions of PyTorch by which it learns that a worker died. Here the channel to it tells that."""

from __future__ import annotations

from collections.abc import Iterable


def _set_worker_signal_handlers() -> None:
    """Does nothing."""


def _set_SIGCHLD_handler() -> None:  # noqa: N802
    """Does nothing."""


def _set_worker_pids(key: int, pids: Iterable[int]) -> None:
    """Does nothing."""


def _remove_worker_pids(key: int) -> None:
    """Does nothing."""

# SPDX-License-Identifier: Apache-2.0
"""multiprocessing, whose queues, pipes, pools and arguments carry tensors by sharing memory.

import libdl.multiprocessing as mp
queue = mp.Queue()
mp.Process(target=work, args=(queue, model.share_memory())).start()
"""

from __future__ import annotations

import multiprocessing as _standard
from multiprocessing import *  # noqa: F403

from .context import DefaultContext as _DefaultContext, Process as Process, default as _default
from .reductions import init_reductions as init_reductions
from .spawn import (
    ProcessContext as ProcessContext,
    ProcessException as ProcessException,
    ProcessExitedException as ProcessExitedException,
    ProcessRaisedException as ProcessRaisedException,
    SpawnContext as SpawnContext,
    spawn as spawn,
    start_processes as start_processes,
)

# The standard module's functions are the methods of its default context; these are ours'.
_OF_CONTEXT = [
    name for name in _standard.__all__ if hasattr(_DefaultContext, name) and name != "reducer"
]
globals().update({name: getattr(_default, name) for name in _OF_CONTEXT})
parent_process = _standard.parent_process

_STRATEGIES = {"file_descriptor", "file_system"}
_strategy = ["file_descriptor"]


def get_all_sharing_strategies() -> set[str]:
    """PyTorch's names."""
    return set(_STRATEGIES)


def get_sharing_strategy() -> str:
    """The one that was set; memory is shared by descriptors, whichever it is."""
    return _strategy[0]


def set_sharing_strategy(new_strategy: str) -> None:
    """Accepts PyTorch's names, and changes nothing."""
    if new_strategy not in _STRATEGIES:
        raise ValueError(
            f"set_sharing_strategy: argument 1 (new_strategy) is {new_strategy!r}, "
            f"wanted one of {sorted(_STRATEGIES)}"
        )
    _strategy[0] = new_strategy


__all__ = [
    *_standard.__all__,
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]

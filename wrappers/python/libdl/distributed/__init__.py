# SPDX-License-Identifier: Apache-2.0
"""Processes that train together, which are not offered: one process is alone here."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NoReturn

from .._C import Tensor


class ProcessGroup:
    """A group of processes, for annotations: none can be made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("distributed.ProcessGroup: groups of processes are not offered")


class ReduceOp(IntEnum):
    """How all_reduce would join the tensors of a group."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR = range(8)


def is_available() -> bool:
    """False: groups of processes are not offered."""
    return False


def is_initialized() -> bool:
    """False: there is no group of processes."""
    return False


def is_torchelastic_launched() -> bool:
    """False: no launcher of PyTorch's started this process."""
    return False


def init_process_group(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises: groups of processes are not offered."""
    raise NotImplementedError("distributed.init_process_group: groups of processes are not offered; "
                              "ask distributed.is_available() first")  # fmt: skip


def destroy_process_group(group: Any = None) -> NoReturn:
    """Raises an AssertionError, as PyTorch does without a group."""
    raise AssertionError("distributed.destroy_process_group: there is no group of processes")


def _no_group(function: str) -> NoReturn:
    raise ValueError(f"distributed.{function}: there is no group of processes; "
                     "ask distributed.is_initialized() first")  # fmt: skip


def get_rank(group: Any = None) -> NoReturn:
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("get_rank")


def get_world_size(group: Any = None) -> NoReturn:
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("get_world_size")


def get_backend(group: Any = None) -> NoReturn:
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("get_backend")


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None,
            timeout: Any = None) -> NoReturn:  # fmt: skip
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("barrier")


def all_reduce(tensor: Tensor, op: Any = None, group: Any = None,
               async_op: bool = False) -> NoReturn:  # fmt: skip
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("all_reduce")


def all_gather(tensor_list: Any, tensor: Tensor, group: Any = None,
               async_op: bool = False) -> NoReturn:  # fmt: skip
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("all_gather")


def broadcast(tensor: Tensor, src: Any = None, group: Any = None, async_op: bool = False,
              group_src: Any = None) -> NoReturn:  # fmt: skip
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("broadcast")


def new_group(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("new_group")


import typing as _typing  # noqa: E402

from .._missing import missing as _missing_names, public as _public_names  # noqa: E402

if _typing.TYPE_CHECKING:
    from . import nn as nn, rpc as rpc
else:  # so that type checkers report unknown names

    def __getattr__(name: str) -> Any:
        if name in ("nn", "rpc"):
            import importlib

            return importlib.import_module(f"{__name__}.{name}")
        return _missing_names(__name__)(name)

__dir__ = _public_names(__name__)

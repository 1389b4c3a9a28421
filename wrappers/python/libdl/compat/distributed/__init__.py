# SPDX-License-Identifier: Apache-2.0
"""Processes that train together, which are not offered: one process is alone here."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, NoReturn

from .._C import Tensor
from .._named_only import NamedOnly

_OFFERED = "groups of processes that train together are not offered"


class ProcessGroup:
    """A group of processes, for annotations: none can be made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("distributed.ProcessGroup: groups of processes are not offered")


class ReduceOp(IntEnum):
    """How all_reduce would join the tensors of a group."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR = range(8)


ReduceOp.RedOpType = ReduceOp  # type: ignore[attr-defined]


class group:  # noqa: N801  (PyTorch's name)
    """The group of all processes: there is none."""

    WORLD: ProcessGroup | None = None


class GroupMember:
    """The group of all processes, and who is in none."""

    WORLD: ProcessGroup | None = None
    NON_GROUP_MEMBER = -100


class Backend(str):
    """The name of what would carry messages."""

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL, FAKE = (
        "undefined",
        "gloo",
        "nccl",
        "ucc",
        "mpi",
        "xccl",
        "fake",
    )
    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, FAKE]
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL}

    def __new__(cls, name: str) -> Backend:
        return super().__new__(cls, name.lower())


class Store(NamedOnly, path="distributed.Store", reason=_OFFERED):
    """A name for annotations."""


class FileStore(Store, path="distributed.FileStore", reason=_OFFERED):
    """A name for annotations."""


class TCPStore(Store, path="distributed.TCPStore", reason=_OFFERED):
    """A name for annotations."""


class HashStore(Store, path="distributed.HashStore", reason=_OFFERED):
    """A name for annotations."""


class P2POp(NamedOnly, path="distributed.P2POp", reason=_OFFERED):
    """A name for annotations."""


class Work(NamedOnly, path="distributed.Work", reason=_OFFERED):
    """A name for annotations."""


def _never() -> bool:
    """False: groups of processes are not offered."""
    return False


is_gloo_available = is_mpi_available = is_nccl_available = is_ucc_available = is_xccl_available = (
    _never
)


def is_available() -> bool:
    """False: groups of processes are not offered."""
    return False


def is_initialized() -> bool:
    """False: there is no group of processes."""
    return False


def is_torchelastic_launched() -> bool:
    """False: no launcher of PyTorch's started this process."""
    return False


def init_process_group(*args: object, **kwargs: object) -> NoReturn:
    """Raises: groups of processes are not offered."""
    raise NotImplementedError(
        "distributed.init_process_group: groups of processes are not offered; "
        "ask distributed.is_available() first"
    )


def destroy_process_group(group: Any = None) -> NoReturn:
    """Raises an AssertionError, as PyTorch does without a group."""
    raise AssertionError("distributed.destroy_process_group: there is no group of processes")


def _no_group(function: str) -> NoReturn:
    raise ValueError(
        f"distributed.{function}: there is no group of processes; "
        "ask distributed.is_initialized() first"
    )


def get_rank(group: Any = None) -> NoReturn:
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("get_rank")


def get_world_size(group: Any = None) -> NoReturn:
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("get_world_size")


def get_backend(group: Any = None) -> NoReturn:
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("get_backend")


def barrier(
    group: Any = None, async_op: bool = False, device_ids: object = None, timeout: object = None
) -> NoReturn:
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("barrier")


def all_reduce(
    tensor: Tensor, op: Any = None, group: Any = None, async_op: bool = False
) -> NoReturn:
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("all_reduce")


def all_gather(
    tensor_list: object, tensor: Tensor, group: Any = None, async_op: bool = False
) -> NoReturn:
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("all_gather")


def broadcast(
    tensor: Tensor,
    src: Any = None,
    group: Any = None,
    async_op: bool = False,
    group_src: object = None,
) -> NoReturn:
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("broadcast")


def new_group(*args: object, **kwargs: object) -> NoReturn:
    """Raises a ValueError, as PyTorch does without a group."""
    _no_group("new_group")


if TYPE_CHECKING:
    from . import nn as nn, rpc as rpc

_LAZY_MODULES = (
    "_composable",
    "_functional_collectives",
    "_shard",
    "_tensor",
    "algorithms",
    "checkpoint",
    "constants",
    "device_mesh",
    "distributed_c10d",
    "elastic",
    "fsdp",
    "launcher",
    "nn",
    "optim",
    "pipelining",
    "rpc",
    "run",
    "tensor",
    "utils",
)
_LAZY_NAMES = {"DeviceMesh": "device_mesh", "init_device_mesh": "device_mesh"}
_ALONE = (
    "all_gather_coalesced",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "batch_isend_irecv",
    "broadcast_object_list",
    "gather",
    "gather_object",
    "get_global_rank",
    "get_group_rank",
    "get_process_group_ranks",
    "irecv",
    "isend",
    "monitored_barrier",
    "new_subgroups",
    "new_subgroups_by_enumeration",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
    "split_group",
    "wait",
)


def _without_group(name: str) -> Any:
    def refuse(*args: object, **kwargs: object) -> NoReturn:
        _no_group(name)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raises a ValueError, as PyTorch does without a group."
    return refuse


globals().update((name, _without_group(name)) for name in _ALONE)

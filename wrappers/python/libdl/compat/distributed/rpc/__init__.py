# SPDX-License-Identifier: Apache-2.0
"""Calls in other processes, which are not offered: names to import, which refuse to be used."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = [
    "BackendType",
    "PyRRef",
    "RRef",
    "TensorPipeRpcBackendOptions",
    "WorkerInfo",
    "functions",
    "get_worker_info",
    "init_rpc",
    "is_available",
    "remote",
    "rpc_async",
    "rpc_sync",
    "shutdown",
]


def is_available() -> bool:
    """False: calls in other processes are not offered."""
    return False


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"distributed.rpc.{name}: calls in other processes are not offered; "
        "multiprocessing starts processes that share tensors"
    )


def _refusing(name: str) -> Any:
    def refuse(*args: object, **kwargs: object) -> NoReturn:
        _refuse(name)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raises: calls in other processes are not offered."
    return refuse


init_rpc, shutdown = _refusing("init_rpc"), _refusing("shutdown")
rpc_sync, rpc_async, remote = _refusing("rpc_sync"), _refusing("rpc_async"), _refusing("remote")
get_worker_info = _refusing("get_worker_info")


class RRef:
    """A name for annotations and isinstance: none can be made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse(type(self).__name__)

    def __class_getitem__(cls, item: Any) -> type[RRef]:
        return cls


PyRRef = RRef


class WorkerInfo:
    """A name for annotations and isinstance: none can be made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("WorkerInfo")


class TensorPipeRpcBackendOptions:
    """A name for annotations and isinstance: none can be made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("TensorPipeRpcBackendOptions")


class BackendType:
    """Which way messages would go."""

    TENSORPIPE = "TENSORPIPE"


class functions:  # noqa: N801  (PyTorch's module of this name)
    @staticmethod
    def async_execution(fn: Any) -> Any:
        """Returns the function itself."""
        return fn

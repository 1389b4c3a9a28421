# SPDX-License-Identifier: Apache-2.0
"""Modules on several devices: on the CPU there is one, and there are no other processes yet."""

from __future__ import annotations

from typing import Any, NoReturn

from ..module import Module


class DataParallel(Module):
    """Calls the module that it holds, whose parameters are named "module. ...". PyTorch splits
    batches over GPUs; without GPUs it does the same as here.

    Shape: those of its module.

    Initialisation: that of its module.
    """

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None,
                 dim: int = 0) -> None:  # fmt: skip
        super().__init__()
        self.dim, self.module = dim, module
        if device_ids is not None and len(device_ids) > 1:
            raise NotImplementedError(f"DataParallel: device_ids is {device_ids}, and several "
                                      "devices are not offered yet")  # fmt: skip
        self.device_ids: list[Any] = []
        self.output_device = output_device

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(Module):
    """Refuses: there are no groups of processes yet."""

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("DistributedDataParallel: processes that train together are not "
                                  "offered yet: use the module itself")  # fmt: skip


def data_parallel(module: Module, inputs: Any, device_ids: Any = None, output_device: Any = None,
                  dim: int = 0, module_kwargs: Any = None) -> Any:  # fmt: skip
    """Calls the module; see DataParallel."""
    args = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    held = DataParallel(module, device_ids, output_device, dim)
    return held(*args, **(module_kwargs or {}))


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(f"nn.parallel.{name}: several devices are not offered yet, and there "
                              "is nothing to do on one")  # fmt: skip


def replicate(network: Any, devices: Any, detach: bool = False) -> NoReturn:
    """Refuses: copies of a module on several devices."""
    _refuse("replicate")


def scatter(inputs: Any, target_gpus: Any, dim: int = 0) -> NoReturn:
    """Refuses: parts of a batch for several devices."""
    _refuse("scatter")


def gather(outputs: Any, target_device: Any, dim: int = 0) -> NoReturn:
    """Refuses: the results of several devices on one of them."""
    _refuse("gather")


def parallel_apply(modules: Any, inputs: Any, kwargs_tup: Any = None,
                   devices: Any = None) -> NoReturn:  # fmt: skip
    """Refuses: modules on several devices, called at the same time."""
    _refuse("parallel_apply")


import typing as _typing  # noqa: E402

from ..._missing import missing as _missing_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__, "distributed", "scatter_gather")

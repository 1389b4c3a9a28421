# SPDX-License-Identifier: Apache-2.0
"""One module for batches: on the CPU there is one device to divide them among."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._types import DeviceLike
from ..modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """Calls the module that it holds, whose parameters are named "module. ...". PyTorch splits
    batches over GPUs; without GPUs it does the same as here.

    Shape: those of its module.

    Initialisation: that of its module.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[DeviceLike] | None = None,
        output_device: DeviceLike | None = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        self.dim, self.module = dim, module
        if device_ids is not None and len(device_ids) > 1:
            raise NotImplementedError(
                f"DataParallel: device_ids is {device_ids}, and several devices are not offered yet"
            )
        self.device_ids: list[Any] = []
        self.output_device = output_device

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[DeviceLike] | None = None,
    output_device: DeviceLike | None = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """Calls the module; see DataParallel."""
    args = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    held = DataParallel(module, device_ids, output_device, dim)
    return held(*args, **(module_kwargs or {}))

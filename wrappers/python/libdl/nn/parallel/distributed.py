# SPDX-License-Identifier: Apache-2.0
"""Modules of processes that train together: there are no groups of processes yet."""

from __future__ import annotations

from typing import Any

from ..modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """Refuses: there are no groups of processes yet."""

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "DistributedDataParallel: processes that train together are not "
            "offered yet: use the module itself"
        )

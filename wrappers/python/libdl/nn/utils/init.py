# SPDX-License-Identifier: Apache-2.0
"""Layers whose parameters are not drawn."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from ..modules.module import Module

M = TypeVar("M", bound=Module)


def skip_init(module_cls: type[M], *args: Any, **kwargs: Any) -> M:
    """A module whose parameters are to be set by the caller: made on meta, where nothing is drawn,
    it gets memory whose elements are arbitrary."""
    if not issubclass(module_cls, Module):
        raise RuntimeError(
            f"skip_init: argument 1 (module_cls) is {module_cls}, wanted a class of modules"
        )
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError(f"skip_init: {module_cls.__name__} has no argument device")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)

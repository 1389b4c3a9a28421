# SPDX-License-Identifier: Apache-2.0
"""Layers whose parameters are not drawn."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from ..._random import get_rng_state, set_rng_state
from ..module import Module

M = TypeVar("M", bound=Module)


def skip_init(module_cls: type[M], *args: Any, **kwargs: Any) -> M:
    """A module whose parameters are to be set by the caller: what they hold is arbitrary, and the
    default generator is left as it was."""
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"skip_init: argument 1 (module_cls) is {module_cls}, wanted a class of "
                           "modules")  # fmt: skip
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError(f"skip_init: {module_cls.__name__} has no argument device")
    before = get_rng_state()
    try:
        return module_cls(*args, **kwargs)
    finally:
        set_rng_state(before)

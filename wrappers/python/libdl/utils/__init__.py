# SPDX-License-Identifier: Apache-2.0
"""Helpers around training: libdl.utils.checkpoint, libdl.utils.intercept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import checkpoint as checkpoint
    from ._intercept import Call as Call
    from ._intercept import intercept as intercept

__all__ = ["Call", "checkpoint", "intercept"]


def __getattr__(name: str) -> Any:
    import importlib

    if name == "checkpoint":
        return importlib.import_module(".checkpoint", __name__)
    if name in ("Call", "intercept"):
        return getattr(importlib.import_module("._intercept", __name__), name)
    from .._missing import explain

    raise AttributeError(explain(name, __name__))


def __dir__() -> list[str]:
    return __all__

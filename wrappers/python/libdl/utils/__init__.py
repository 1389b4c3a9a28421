# SPDX-License-Identifier: Apache-2.0
"""Helpers around training: libdl.utils.checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import checkpoint as checkpoint

__all__ = ["checkpoint"]


def __getattr__(name: str) -> Any:
    if name == "checkpoint":
        import importlib

        return importlib.import_module(".checkpoint", __name__)
    from .._missing import explain

    raise AttributeError(explain(name, __name__))


def __dir__() -> list[str]:
    return __all__

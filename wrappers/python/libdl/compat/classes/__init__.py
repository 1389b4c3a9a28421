# SPDX-License-Identifier: Apache-2.0
"""PyTorch's torch.classes: classes of libraries that are compiled against it. There are none."""

from __future__ import annotations

from typing import Any, NoReturn

loaded_libraries: set[str] = set()


def load_library(path: str) -> NoReturn:
    """Raises OSError: such a library is compiled against PyTorch."""
    from ..ops import refuse_library

    refuse_library("classes", path)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise RuntimeError(f"classes.{name}: no library has registered classes under this name")

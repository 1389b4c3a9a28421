# SPDX-License-Identifier: Apache-2.0
"""The class of compiled modules: there are none."""

from __future__ import annotations

from typing import Any


class OptimizedModule:
    """A name for isinstance: compile() returns modules as they are, and none is of this class."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("OptimizedModule: nothing is compiled here; use the module")

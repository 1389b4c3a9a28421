# SPDX-License-Identifier: Apache-2.0
"""A setting of PyTorch that is stored and read back: memory that is not initialised changes no
result."""

from __future__ import annotations

import sys
import types

fill_uninitialized_memory: bool


class _Deterministic(types.ModuleType):
    _fills = True

    @property
    def fill_uninitialized_memory(self) -> bool:
        """Whether PyTorch fills new memory in its deterministic mode."""
        return self._fills

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise RuntimeError(
                f"fill_uninitialized_memory: found a {type(mode).__name__}, wanted a bool"
            )
        self._fills = mode


sys.modules[__name__].__class__ = _Deterministic

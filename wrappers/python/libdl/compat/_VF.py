# SPDX-License-Identifier: Apache-2.0
"""PyTorch's private torch._VF: functions of libdl by their names there."""

from __future__ import annotations

import sys
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(sys.modules["libdl"], name)

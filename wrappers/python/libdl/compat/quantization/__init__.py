# SPDX-License-Identifier: Apache-2.0
"""PyTorch's older path of libdl.ao.quantization."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from ..ao import quantization

    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(quantization, name)

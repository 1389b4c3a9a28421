# SPDX-License-Identifier: Apache-2.0
"""Under libdl.as_torch the package functorch, which PyTorch brings with it."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from .. import func
    from .._missing import NoName
    from . import make_functional as functional

    for place in (functional, func):
        if name in place.__all__:
            return getattr(place, name)
    raise NoName(__name__, name)

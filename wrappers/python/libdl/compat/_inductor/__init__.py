# SPDX-License-Identifier: Apache-2.0
"""The settings of PyTorch's compiler, which programs set. There is no compiler."""

from __future__ import annotations

from typing import Any

from . import config as config

__all__ = ["config"]


def cudagraph_mark_step_begin() -> None:
    """Changes nothing."""


def list_mode_options(mode: str | None = None, dynamic: bool | None = None) -> dict[str, Any]:
    """{}: there is no compiler to be set."""
    return {}


def list_options() -> list[str]:
    """[]: there is no compiler to be set."""
    return []

# SPDX-License-Identifier: Apache-2.0
"""The words with which a program tells PyTorch's launcher of its errors. There is no launcher."""

from __future__ import annotations

from typing import TypeVar

_T = TypeVar("_T")


class ChildFailedError(RuntimeError):
    """What a launcher would raise."""


def record(fn: _T, error_handler: object = None) -> _T:
    """Returns the function itself."""
    return fn

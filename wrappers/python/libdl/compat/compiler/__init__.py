# SPDX-License-Identifier: Apache-2.0
"""The words with which a program talks to PyTorch's compiler. Nothing is compiled here."""

from __future__ import annotations

import contextlib
from typing import Any

from .. import compile as compile

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "reset",
    "set_stance",
]


def is_compiling() -> bool:
    """False: nothing is compiled."""
    return False


def is_dynamo_compiling() -> bool:
    """False: nothing is compiled."""
    return False


def is_exporting() -> bool:
    """False: nothing is exported."""
    return False


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Returns the function itself; also a decorator with arguments."""
    return (lambda function: function) if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    """Returns the function itself."""
    return fn


def assume_constant_result(fn: Any) -> Any:
    """Returns the function itself."""
    return fn


def cudagraph_mark_step_begin() -> None:
    """Changes nothing."""


class set_stance(contextlib.ContextDecorator):
    """Changes nothing; a call, a context or a decorator, as in PyTorch."""

    def __init__(self, stance: str = "default", **options: Any) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


def reset() -> None:
    """Changes nothing: there is no cache of compiled code."""

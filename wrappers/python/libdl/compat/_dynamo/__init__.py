# SPDX-License-Identifier: Apache-2.0
"""The words with which programs steer PyTorch's tracer of bytecode. Nothing is traced here."""

from __future__ import annotations

from typing import Any, NoReturn

from . import config as config, eval_frame as eval_frame, utils as utils
from .eval_frame import OptimizedModule as OptimizedModule
from ..compiler import (
    allow_in_graph as allow_in_graph,
    assume_constant_result as assume_constant_result,
    disable as disable,
    is_compiling as is_compiling,
    reset as reset,
    set_stance as set_stance,
)


def optimize(*args: object, **kwargs: object) -> Any:
    """A decorator that returns the function or module itself."""
    return lambda function: function


def list_backends(*args: object, **kwargs: object) -> list[str]:
    """[]: there is no compiler."""
    return []


def graph_break(msg: str = "") -> None:
    """Changes nothing."""


def mark_dynamic(t: object, index: Any, **bounds: Any) -> None:
    """Changes nothing: every call takes any shape."""


def mark_static(t: object, index: Any = None) -> None:
    """Changes nothing."""


maybe_mark_dynamic = mark_dynamic
mark_static_address = mark_static


def explain(f: Any, *args: object, **kwargs: object) -> NoReturn:
    """Raises: there are no graphs to explain."""
    raise NotImplementedError(
        "_dynamo.explain: functions run eagerly, so there are no graphs and no breaks between them"
    )

# SPDX-License-Identifier: Apache-2.0
"""What programs use to say how an operator would be written as ONNX. Nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._named_only import refusing

_REASON = "models are not written as ONNX"
cast_pytorch_to_onnx: dict[str, Any] = {}
GLOBALS = None


def parse_args(*arg_descriptors: str) -> Callable[[Any], Any]:
    """A decorator that returns the function itself."""
    return lambda function: function


def quantized_args(*arg_q_descriptors: bool, **options: Any) -> Callable[[Any], Any]:
    """A decorator that returns the function itself."""
    return lambda function: function


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return refusing(f"onnx.symbolic_helper.{name}", _REASON)

# SPDX-License-Identifier: Apache-2.0
"""PyTorch's older words for operators that programs define; see libdl.library."""

from __future__ import annotations

from typing import Any

from .library import impl_abstract as impl_abstract, register_kernel as _register_kernel

__all__ = ["custom_op", "impl", "impl_abstract"]


def custom_op(qualname: str, func_or_schema: object = None) -> Any:
    """A new operator: of a schema, or a decorator of a function that shows what it takes."""
    from .library import define, infer_schema

    if isinstance(func_or_schema, str):
        define(qualname, func_or_schema)
        return None

    def decorate(function: Any) -> Any:
        define(qualname, infer_schema(function, mutates_args=()))
        return function

    return decorate if func_or_schema is None else decorate(func_or_schema)


def impl(qualname: str, *, device_types: object = ("cpu", "cuda"), func: Any = None) -> Any:
    """The function of an operator for types of devices; a decorator without func."""
    return _register_kernel(qualname, device_types, func)

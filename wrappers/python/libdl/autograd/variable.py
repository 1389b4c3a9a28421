# SPDX-License-Identifier: Apache-2.0
"""Variable, from the time when variables were not tensors."""

from __future__ import annotations

import warnings
from typing import Any

from .._C import Tensor


class _VariableKind(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableKind):
    """A leaf over the tensor's memory; from the time when variables were not tensors."""

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        if volatile:
            warnings.warn(
                "volatile was removed, and now means nothing: use libdl.no_grad()", stacklevel=2
            )
        if data is None:
            return Tensor()
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable: data must be a tensor, found a {type(data).__name__}")
        result = data.detach()
        if requires_grad:
            result.requires_grad = True
        return result


Variable.__module__ = "libdl.autograd"

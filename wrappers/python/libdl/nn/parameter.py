# SPDX-License-Identifier: Apache-2.0
"""Tensors that belong to modules."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import copy
from typing import Any

from .. import _C
from .._C import Tensor
from .._functions import empty
from .._overrides import _disabled_torch_function_impl
from .._printing import format_tensor
from .._tensor import twin


class Parameter(Tensor):
    """A leaf to be trained; assigned to a module, it becomes one of the module's parameters."""

    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        source = empty(0) if data is None else data
        made: Parameter = _C.make_subclass(cls, source)
        if requires_grad:
            made.requires_grad = True
        return made

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        pass

    def __repr__(self, **options: Any) -> str:
        return "Parameter containing:\n" + format_tensor(self, "tensor")

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) in memo:
            return memo[id(self)]
        made = type(self)(twin(self), self.requires_grad)
        memo[id(self)] = made
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return made


_C.register("parameter", Parameter)


class Buffer(Tensor):
    """A tensor that a module keeps without training it."""

    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        made: Buffer = _C.make_subclass(cls, empty(0) if data is None else data)
        made.persistent = persistent
        return made

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        pass

    persistent: bool

# SPDX-License-Identifier: Apache-2.0
"""Shapes and dtypes of a graph's values, found by running it."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..._C import Tensor
from ..._types import Size, contiguous_format, dtype as Dtype
from ..interpreter import Interpreter
from ..node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What a value is, without its elements."""

    shape: Size
    dtype: Dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    """contiguous_format; None if the tensor is not contiguous"""
    is_quantized: bool
    qparams: dict[str, Any]


def extract_tensor_metadata(result: Tensor) -> TensorMetadata:
    """The description of a tensor."""
    layout = contiguous_format if result.is_contiguous() else None
    return TensorMetadata(
        result.shape, result.dtype, result.requires_grad, result.stride(), layout, False, {}
    )


class ShapeProp(Interpreter):
    """Runs a graph and leaves in each node's meta what its value was: "tensor_meta", of the value's
    structure, if there is a tensor in it, and "type"."""

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        exists = False

        def described(value: Any) -> Any:
            nonlocal exists
            if not isinstance(value, Tensor):
                return value
            exists = True
            return extract_tensor_metadata(value)

        meta = map_aggregate(result, described)
        if exists:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """The result of a run with these arguments."""
        return super().run(*args)

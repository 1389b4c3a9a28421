# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of a mode for masks that are made of a function of indices under vmap."""

from __future__ import annotations

from typing import Any

from .._named_only import refusing
from ..overrides import TorchFunctionMode

__all__ = ["TransformGetItemToIndex", "trace_wrapped"]

trace_wrapped = refusing(
    "_dynamo._trace_wrapped_higher_order_op.trace_wrapped",
    "nothing is traced or compiled here: functions run eagerly",
)


class TransformGetItemToIndex(TorchFunctionMode):
    """Changes nothing: x[i] takes 0-d tensors that vmap maps over without a mode. (In PyTorch this
    mode makes of it a gather; else the index would have to be a number.)"""

    def __enter__(self) -> TransformGetItemToIndex:
        return self

    def __exit__(self, *raised: Any) -> None:
        pass

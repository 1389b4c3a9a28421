# SPDX-License-Identifier: Apache-2.0
"""Modules as functions of their parameters, under their older path."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from ..._C import Tensor
from ..modules.module import Module


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """libdl.func.functional_call."""
    from ...func import functional_call as call  # which needs Module

    return call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def _reparametrize_module(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    tie_weights: bool = False,
    strict: bool = False,
    stack_weights: bool = False,
) -> AbstractContextManager[None]:
    """Inside a with block, the module has other parameters and buffers."""
    from ...func._stateless import replaced

    return replaced(module, parameters_and_buffers, tie_weights, strict)

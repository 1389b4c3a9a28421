# SPDX-License-Identifier: Apache-2.0
"""Checks of optimizers' options, and the numbers that they keep as tensors."""

from __future__ import annotations

from typing import Any

from .._C import Tensor
from .._creation import tensor
from .._modes import get_default_dtype
from .._types import float32, float64

_INFINITY = float("inf")


def number(value: Any) -> float:
    """A host number; of a tensor, its only element."""
    return value.item() if isinstance(value, Tensor) else value


def check(name: str, value: Any, low: float, high: float = _INFINITY) -> None:
    """low <= value < high; infinity is allowed if there is no upper limit."""
    if isinstance(value, Tensor) and value.numel() != 1:
        raise ValueError(f"{name} has shape {tuple(value.shape)}, wanted one element")
    x = number(value)
    if not low <= x < high and not (high == _INFINITY and x == high):
        raise ValueError(f"{name} is {value}, wanted at least {low} and below {high}")


def check_betas(betas: Any) -> tuple[Any, Any]:
    """The two factors as they were given, but not as tensors."""
    check("betas[0]", betas[0], 0.0, 1.0)
    check("betas[1]", betas[1], 0.0, 1.0)
    if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
        raise ValueError("one of betas is a tensor, wanted both or none")
    return (number(betas[0]), number(betas[1])) if isinstance(betas[0], Tensor) else betas


def check_differentiable(name: str, differentiable: bool) -> None:
    if differentiable:  # steps are not recorded, so the gradient would be lost
        raise NotImplementedError(f"{name}: differentiable=True is not offered")


def check_fused(fused: bool | None, foreach: bool | None) -> None:
    if fused and foreach:
        raise RuntimeError("fused and foreach are both True, wanted one of them at most")


def scalar(value: float) -> Tensor:
    """A number of a state: float32, or float64 if that is the default dtype."""
    wide = get_default_dtype() is float64
    return tensor(float(value), dtype=float64 if wide else float32, device="cpu")

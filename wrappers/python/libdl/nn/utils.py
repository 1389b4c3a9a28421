# SPDX-License-Identifier: Apache-2.0
"""Gradients cut to size, and parameters as one vector."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .. import _functions as F
from .._C import Tensor
from .._modes import no_grad


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in given if p.grad is not None]


def clip_grad_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0,
                    error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:  # fmt: skip
    """Scales all gradients together so that their norm is at most max_norm; gives the norm."""
    gradients = _gradients(parameters)
    if not gradients:
        return F.zeros(())
    with no_grad():
        norms = F.stack([g.norm(norm_type) for g in gradients])
        total = norms.max() if math.isinf(norm_type) else norms.norm(norm_type)
        assert isinstance(total, Tensor)
        if error_if_nonfinite and not math.isfinite(total.item()):
            raise RuntimeError(f"clip_grad_norm_: the norm is {total.item()}")
        factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
        for gradient in gradients:
            gradient.mul_(factor)
    return total


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float,
                     foreach: bool | None = None) -> None:  # fmt: skip
    """Clamps each gradient's elements to -clip_value ... clip_value."""
    with no_grad():
        for gradient in _gradients(parameters):
            gradient.clamp_(-clip_value, clip_value)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters one after the other."""
    return F.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Writes a vector's parts into the parameters."""
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = vec[start : start + count].view(parameter.shape).detach()
        start += count

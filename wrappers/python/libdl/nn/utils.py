# SPDX-License-Identifier: Apache-2.0
"""Gradient clipping, and parameters as one vector."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Iterable

from .. import _C, _functions as F
from .._C import Tensor


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in given if p.grad is not None]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0,
    error_if_nonfinite: bool = False, foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """Scales all gradients so that their joint norm is at most max_norm; returns the old norm."""
    gradients = _gradients(parameters)
    if not gradients:
        return F.zeros(())
    return _C.clip_grad_norm(
        gradients, max_norm, norm_type, error_if_nonfinite
    )


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float,
                     foreach: bool | None = None) -> None:  # fmt: skip
    """Clamps each gradient's elements to -clip_value ... clip_value."""
    gradients = _gradients(parameters)
    if gradients:
        _C.clip_grad_value(gradients, clip_value)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters concatenated into one vector."""
    return F.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Writes the parts of a vector into the parameters."""
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = vec[start : start + count].view(parameter.shape).detach()
        start += count


import typing as _typing  # noqa: E402

from .._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)

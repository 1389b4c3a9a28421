# SPDX-License-Identifier: Apache-2.0
"""Gradient clipping."""

from __future__ import annotations

import math
import types
import warnings
from collections.abc import Iterable

from ... import _C
from ..._C import Tensor
from ..._creation import as_tensor
from ..._overrides import of_values

Tensors = Tensor | Iterable[Tensor]


def _gradients(parameters: Tensors) -> list[Tensor]:
    params = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in params if p.grad is not None]


def get_total_norm(
    tensors: Tensors,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all elements of the tensors together.

    Arguments:
        norm_type: a positive number; infinity (also "inf"): the largest size
        error_if_nonfinite: whether a norm that is NaN or infinite raises
        foreach: not used
    """
    arguments = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    return of_values(_C.total_norm, arguments, float(norm_type), error_if_nonfinite)


def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scales all gradients by max_norm / total_norm, if that is less than 1.

    An infinite max_norm leaves them as they are, whatever total_norm is."""
    gradients = _gradients(parameters)
    if gradients and max_norm != math.inf:
        norm = as_tensor(total_norm)
        of_values(_C.clip_grads_with_norm, gradients, float(max_norm), norm)


def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales all gradients so that their joint norm is at most max_norm; returns the old norm.
    An infinite max_norm leaves them as they are. The other arguments are those of
    get_total_norm."""
    params = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    if not params and isinstance(parameters, types.GeneratorType):
        warnings.warn("parameters is an empty generator: nothing is clipped", stacklevel=2)
    gradients = _gradients(params)
    if max_norm == math.inf:
        return get_total_norm(gradients, norm_type, error_if_nonfinite)
    options = float(max_norm), float(norm_type), error_if_nonfinite
    return of_values(_C.clip_grad_norm, gradients, *options)


def clip_grad_norm(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The old name of clip_grad_norm_."""
    warnings.warn("clip_grad_norm is now clip_grad_norm_", FutureWarning, stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Clamps each gradient's elements to -clip_value ... clip_value."""
    gradients = _gradients(parameters)
    if gradients and clip_value != math.inf:
        of_values(_C.clip_grad_value, gradients, float(clip_value))

# SPDX-License-Identifier: Apache-2.0
"""Parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable

from ... import _functions as F
from ..._C import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters concatenated into one vector."""
    result: Tensor = F.cat([p.reshape(-1) for p in parameters])
    return result


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Makes the parts of a vector the parameters' elements, in the vector's memory.

    The vector may be longer than the parameters together; a shorter one raises, and changes
    nothing."""
    if not isinstance(vec, Tensor):
        raise TypeError(
            f"vector_to_parameters: argument 1 (vec) is a {type(vec).__name__}, wanted a tensor"
        )
    filled = list(parameters)
    expected = sum(parameter.numel() for parameter in filled)
    if expected > vec.numel():
        raise RuntimeError(
            f"vector_to_parameters: argument 1 (vec) has {vec.numel()} elements, "
            f"wanted at least {expected}"
        )
    start = 0
    for parameter in filled:
        count = parameter.numel()
        parameter.data = vec[start : start + count].view(parameter.shape).detach()
        start += count

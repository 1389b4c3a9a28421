# SPDX-License-Identifier: Apache-2.0
"""Running sums of exponentials, composed of steps that double: log2(n) passes."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any

from . import _functions as f
from ._C import Tensor
from ._dimensions import one_dimension
from ._out import copied

__all__ = ["logcumsumexp"]


def _last(function: str, input: Tensor, dim: int) -> Tensor:
    """The tensor with dim as its last dimension."""
    dim = one_dimension(function, 2, dim, input.ndim)
    return f.movedim(input, dim, -1) if input.ndim else input.reshape(1)


def _back(made: Tensor, input: Tensor, dim: int) -> Tensor:
    return f.movedim(made, -1, dim) if input.ndim else made.reshape(())


def _one_by_one(x: Tensor) -> Tensor:
    """logcumsumexp of complex numbers: the order of the sums decides on multiples of 2 pi."""
    sums = list(x[..., :1].unbind(-1))
    for element in x[..., 1:].unbind(-1):
        sums.append(f.logaddexp(element, sums[-1]))
    return f.stack(sums, -1) if sums else x.clone()


def logcumsumexp(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the sum of exponentials of the elements so far along dim."""
    if not (input.is_floating_point() or input.is_complex()):
        raise NotImplementedError(f"logcumsumexp: argument 1 (input) is {input.dtype}, wanted a floating or "
                                  "complex dtype")  # fmt: skip
    x = _last("logcumsumexp", input, dim)
    if input.is_complex():
        return copied(_back(_one_by_one(x), input, dim), out)
    if input.itemsize == 2:  # each step would round
        x = x.float()
    step = 1
    while step < x.shape[-1]:
        # Beside -inf, which adds nothing, logaddexp would divide 0 by 0 in its gradient.
        before, after = x[..., :-step], x[..., step:]
        alone = before == -math.inf
        both = f.logaddexp(f.where(alone, f.zeros_like(before), before), after)
        x = f.cat([x[..., :step], f.where(alone, after, both)], -1)
        step *= 2
    made = _back(x, input, dim).to(input.dtype)
    return copied(made.clone() if made is input else made, out)


setattr(Tensor, logcumsumexp.__name__, logcumsumexp)

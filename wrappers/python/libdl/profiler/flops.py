# SPDX-License-Identifier: Apache-2.0
"""Floating-point operations of a call from its shapes; a multiplication with an addition is 2."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["flops_of"]

Shapes = Sequence[Any]  # of each argument or result: its sizes; [] where it has none
Count = Callable[[Shapes, Shapes], int]


def _product(left: int) -> Count:
    """Of a matrix product whose left factor is this argument: 2 K for each element."""
    return lambda inputs, outputs: 2 * math.prod(outputs[0]) * inputs[left][-1]


def _convolution(inputs: Shapes, outputs: Shapes) -> int:
    # The weight is [Cout, Cin / groups, *kernel].
    return 2 * math.prod(outputs[0]) * math.prod(inputs[1][1:])


def _transposed(inputs: Shapes, outputs: Shapes) -> int:
    # The weight is [Cin, Cout / groups, *kernel], and each input element meets one row of it.
    return 2 * math.prod(inputs[0]) * math.prod(inputs[1][1:])


def _attention(inputs: Shapes, outputs: Shapes) -> int:
    query, key, value = inputs[:3]
    return 2 * math.prod(query[:-1]) * key[-2] * (query[-1] + value[-1])


def _elementwise(inputs: Shapes, outputs: Shapes) -> int:
    return math.prod(outputs[0])


_COUNTS: dict[str, Count] = {
    **dict.fromkeys(("mm", "bmm", "matmul", "linear"), _product(0)),
    "addmm": _product(1),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), _convolution),
    **{f"conv_transpose{n}d": _transposed for n in (1, 2, 3)},
    "scaled_dot_product_attention": _attention,
    **dict.fromkeys(("add", "mul"), _elementwise),
}


def flops_of(name: str, given: Shapes, made: Shapes) -> int:
    """0 where it is not known."""
    count = _COUNTS.get(name)
    if count is None or not made:
        return 0
    try:
        return count(given, made)
    except (IndexError, TypeError):  # a part of that name, which has other arguments
        return 0

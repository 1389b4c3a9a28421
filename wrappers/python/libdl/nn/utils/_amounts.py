# SPDX-License-Identifier: Apache-2.0
"""How much is pruned, and masks of the least important."""

from __future__ import annotations

from numbers import Integral, Number
from typing import Any

from ..._C import Tensor


def check_amount(amount: Any) -> None:
    """A number of elements, or a part from 0 to 1."""
    if not isinstance(amount, Number) or isinstance(amount, (bool, complex)):
        raise TypeError(f"amount is a {type(amount).__name__}, wanted a number")
    number: Any = amount
    if number < 0 or (not isinstance(amount, Integral) and number > 1):
        raise ValueError(f"amount is {amount}, wanted a number of elements, or a part from 0 to 1")


def count_to_prune(amount: Any, count: int) -> int:
    """How many of count elements or slices are pruned."""
    if not isinstance(amount, Integral):
        return int(round(amount * count))
    if int(amount) > count:
        raise ValueError(f"amount is {amount}, wanted at most the {count} that there are")
    return int(amount)


def check_slices(t: Tensor) -> None:
    if t.ndim < 2:
        raise ValueError(f"a tensor of {t.ndim} dimensions has no slices to be pruned, wanted 2 or "
                         "more")  # fmt: skip


def check_dim(t: Tensor, dim: int) -> None:
    if not -t.ndim <= dim < t.ndim:
        raise IndexError(f"dim is {dim}, wanted {-t.ndim} to {t.ndim - 1}")


def least(scores: Tensor, count: int, mask: Tensor) -> Tensor:
    """The mask with zeros at the count smallest scores."""
    made = mask.clone()
    if count:
        places = scores.reshape(-1).topk(count, largest=False).indices
        flat = made.reshape(-1)
        flat[places] = 0
        made = flat.view(made.shape)
    return made


def norms(t: Tensor, n: Any, dim: int) -> Tensor:
    """The n-norm of each slice along dim."""
    others = [d for d in range(t.ndim) if d != dim % t.ndim]
    result: Tensor = t.norm(p=n, dim=others)
    return result


def structured_mask(kept: Tensor, t: Tensor, dim: int) -> Tensor:
    """The mask of a tensor whose slices along dim are kept where kept is 1."""
    shape = [1] * t.ndim
    shape[dim] = -1
    return kept.to(t.dtype).view(shape).expand(t.shape)

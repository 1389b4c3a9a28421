# SPDX-License-Identifier: Apache-2.0
"""Branches that a tensor chooses. Everything runs at once here, so one branch is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _functions as f
from ._C import Tensor
from ._vmap_levels import levels_of
from .utils._pytree import tree_flatten, tree_leaves, tree_unflatten

__all__ = ["cond"]


def cond(
    pred: bool | float | Tensor,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: tuple[Any, ...] | list[Any] = (),
) -> Any:
    """true_fn(*operands) or false_fn(*operands). Only the branch that pred chooses is called.

    Under vmap both branches run, and pred chooses between their results, sample by sample: they may
    not write operands, and a gradient that one branch makes NaN is NaN for the other's samples,
    too.

    pred       a truth, a number, or a tensor of one element
    operands   tensors, or tuples, lists and dicts of tensors

    Example:
        >>> x = torch.tensor([1., 2.])
        >>> torch.cond(x.sum() > 2, lambda x: x + 1, lambda x: x - 1, (x,))
        tensor([2., 3.])
    """
    if not isinstance(pred, (bool, int, float, Tensor)):
        raise RuntimeError(
            f"cond: argument 1 (pred) is {pred!r}, wanted a truth or a tensor of one element"
        )
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise RuntimeError(
            f"cond: argument 1 (pred) has shape {list(pred.shape)}, wanted one element"
        )
    for place, name, branch in ((2, "true_fn", true_fn), (3, "false_fn", false_fn)):
        if not callable(branch):
            raise RuntimeError(f"cond: argument {place} ({name}) is {branch!r}, wanted a function")
    if not isinstance(operands, (tuple, list)) or not all(
        isinstance(x, Tensor) for x in tree_leaves(list(operands))
    ):
        raise RuntimeError(
            f"cond: argument 4 (operands) is {operands!r}, wanted a tuple of tensors, or of "
            "tuples, lists and dicts of tensors"
        )
    if isinstance(pred, Tensor) and levels_of(pred):
        return _by_sample(pred, *(_unwritten(branch, operands) for branch in (true_fn, false_fn)))
    return (true_fn if pred else false_fn)(*operands)


def _unwritten(branch: Callable[..., Any], operands: Any) -> Any:
    """The branch's result for all samples, those of the other branch among them: it may not
    write."""
    before = [x._version for x in tree_leaves(list(operands))]
    result = branch(*operands)
    if [x._version for x in tree_leaves(list(operands))] != before:
        raise RuntimeError(
            "cond: argument 4 (operands) is written by a branch, which under vmap runs for all "
            "samples; return what is new"
        )
    return result


def _by_sample(pred: Tensor, one: Any, other: Any) -> Any:
    """For each sample the result of its branch."""
    (leaves, spec), (others, another) = tree_flatten(one), tree_flatten(other)
    if spec != another:
        raise RuntimeError(
            f"cond: true_fn returns {spec} and false_fn {another}, wanted the same structure "
            "under vmap"
        )
    truth = pred.reshape(()) != 0
    return tree_unflatten([f.where(truth, x, y) for x, y in zip(leaves, others, strict=True)], spec)

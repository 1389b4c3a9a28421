# SPDX-License-Identifier: Apache-2.0
"""Pruning: a parameter times a mask of zeros and ones.

NAME_orig is the parameter that is trained, NAME_mask a buffer, and NAME their product, which is
computed before every call of the module by the method, a forward pre-hook."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ... import _functions as F
from ..._C import Tensor
from ..modules.module import Module
from ._pruning import (
    BasePruningMethod as BasePruningMethod, CustomFromMask as CustomFromMask, Identity as Identity,
    L1Unstructured as L1Unstructured, LnStructured as LnStructured,
    PruningContainer as PruningContainer, RandomStructured as RandomStructured,
    RandomUnstructured as RandomUnstructured, method_of,
)  # fmt: skip


def identity(module: Module, name: str) -> Module:
    """Prunes nothing, but makes the parameter one that is."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prunes random elements of a parameter; returns the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: float,
                    importance_scores: Tensor | None = None) -> Module:  # fmt: skip
    """Prunes the elements closest to 0; returns the module."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prunes random slices along a dimension; returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Module, name: str, amount: float, n: Any, dim: int,
                  importance_scores: Tensor | None = None) -> Module:  # fmt: skip
    """Prunes the slices along a dimension with the smallest n-norm; returns the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prunes by a mask; returns the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters: Iterable[tuple[Module, str]], pruning_method: Any,
                        importance_scores: Any = None, **kwargs: Any) -> None:  # fmt: skip
    """Prunes several parameters as if they were one.

    Arguments:
        parameters: modules, and the name of a parameter of each
        pruning_method: an unstructured method's class; kwargs: its arguments
        importance_scores: tensors by (module, name), where they are not the parameters themselves
    """
    places = list(parameters)
    if importance_scores is not None and not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured: argument 3 (importance_scores) is a "
                        f"{type(importance_scores).__name__}, wanted a dict")  # fmt: skip
    given = importance_scores or {}
    scores = [given.get(place, getattr(*place)).detach() for place in places]
    left = [getattr(module, f"{name}_mask", F.ones_like(score))
            for (module, name), score in zip(places, scores)]  # fmt: skip
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(f"global_unstructured: argument 2 (pruning_method) is "
                        f"{method.PRUNING_TYPE}, wanted an unstructured one")  # fmt: skip
    mask = container.compute_mask(F.cat([score.reshape(-1) for score in scores]),
                                  F.cat([part.reshape(-1) for part in left]))  # fmt: skip
    start = 0
    for (module, name), score in zip(places, scores):
        part = mask[start : start + score.numel()].view(score.shape)
        custom_from_mask(module, name, mask=part)
        start += score.numel()


def remove(module: Module, name: str) -> Module:
    """Makes a pruned parameter an ordinary one, for good; returns the module."""
    number, method = method_of(module, name)
    if method is None:
        raise ValueError(f"{type(module).__name__}: {name!r} is not pruned")
    method.remove(module)
    del module._forward_pre_hooks[number]
    return module


def is_pruned(module: Module) -> bool:
    """Whether a parameter of the module or below it is pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for part in module.modules()
        for hook in part._forward_pre_hooks.values()
    )

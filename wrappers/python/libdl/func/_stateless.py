# SPDX-License-Identifier: Apache-2.0
"""Modules as functions of their parameters."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from .. import _functions as F
from .._C import Tensor
from ..nn.modules.module import Module


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """module(*args, **kwargs) with parameters and buffers replaced by other tensors, by name. The
    module itself is unchanged afterwards.

    Arguments:
        parameter_and_buffer_dicts: the tensors by name, or several such dictionaries
        args: a tuple of arguments, or a single one
        tie_weights: whether a tensor with several names in the module is replaced under all of them
        strict: whether every parameter and buffer must be named, and nothing else
    """
    arguments = _merged(parameter_and_buffer_dicts)
    values = () if args is None else args if isinstance(args, tuple) else (args,)
    with replaced(module, arguments, tie_weights, strict):
        return module(*values, **(kwargs or {}))


@contextlib.contextmanager
def replaced(
    module: Module, values: dict[str, Tensor], tie_weights: bool, strict: bool
) -> Iterator[None]:
    """Inside a with block, the module has other parameters and buffers."""
    places = _places(module)
    if tie_weights:
        values = _tied(values, places)  # one name is enough of a tensor that has several
    if strict:
        _check_names(module, values, places)
    results = [(*places[name], value) for name, value in values.items() if name in places]
    before = [(holder, key, holder[key]) for holder, key, _ in results]
    try:
        for holder, key, value in results:
            holder[key] = value
        yield
    finally:
        for holder, key, value in before:
            holder[key] = value


def _merged(values: Any) -> dict[str, Tensor]:
    if isinstance(values, dict):
        merged = dict(values)
    elif isinstance(values, (tuple, list)):
        merged = {}
        for one in values:
            if not isinstance(one, dict):
                raise ValueError(
                    f"functional_call: found a {type(one).__name__}, wanted dictionaries of tensors"
                )
            twice = sorted(merged.keys() & one.keys())
            if twice:
                raise ValueError(f"functional_call: {twice} is in more than one dictionary")
            merged.update(one)
    else:
        raise ValueError(
            f"functional_call: found a {type(values).__name__}, wanted a dictionary of tensors, or "
            "a sequence of them"
        )
    for name, value in merged.items():
        if not isinstance(value, Tensor):
            raise TypeError(f"functional_call: {name} is a {type(value).__name__}, not a tensor")
    return merged


def _places(module: Module) -> dict[str, tuple[dict[str, Any], str]]:
    """The place of each parameter and buffer, by name; shared ones appear under all their names."""
    collected: dict[str, tuple[dict[str, Any], str]] = {}
    for prefix, part in module.named_modules(remove_duplicate=False):
        for holder in (part._parameters, part._buffers):
            for key, value in holder.items():
                if value is not None:
                    collected[f"{prefix}.{key}" if prefix else key] = (holder, key)
    return collected


def _check_names(module: Module, values: dict[str, Tensor], places: dict[str, Any]) -> None:
    extra = sorted(values.keys() - places.keys())
    absent = sorted(places.keys() - values.keys())
    if extra or absent:
        raise RuntimeError(
            f"functional_call of {type(module).__name__}: "
            + "; ".join(
                part
                for part in (
                    f"unexpected keys {extra}" if extra else "",
                    f"missing keys {absent}" if absent else "",
                )
                if part
            )
        )


def _tied(values: dict[str, Tensor], places: dict[str, Any]) -> dict[str, Tensor]:
    """All names of one tensor get the tensor given for one of them."""
    groups: dict[int, list[str]] = {}
    for name, (holder, key) in places.items():
        groups.setdefault(id(holder[key]), []).append(name)
    full = dict(values)
    for names in groups.values():
        named = [name for name in names if name in values]
        if not named:
            continue
        if any(values[name] is not values[named[0]] for name in named):
            raise ValueError(f"functional_call: {named} are one tensor and were given several")
        full.update(dict.fromkeys(names, values[named[0]]))
    return full


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of several modules of the same kind, stacked by name."""
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: found no models, wanted at least one")
    if any(model.training != models[0].training for model in models):
        raise RuntimeError("stack_module_state: some models train and some do not")
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: the models are of several classes, wanted one")
    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    return (
        {
            name: F.stack([one[name].detach() for one in parameters]).requires_grad_(
                parameters[0][name].requires_grad
            )
            for name in parameters[0]
        },
        {name: F.stack([one[name] for one in buffers]) for name in buffers[0]},
    )

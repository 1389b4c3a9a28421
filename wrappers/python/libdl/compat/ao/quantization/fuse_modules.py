# SPDX-License-Identifier: Apache-2.0
"""Neighbouring modules of a model as one."""

from __future__ import annotations

import copy
from typing import Any

from ... import nn
from ..._named_only import refusing
from ...nn.utils.fusion import fuse_conv_bn_eval

__all__ = ["fuse_known_modules", "fuse_modules", "fuse_modules_qat"]

fuse_modules_qat = refusing(
    "ao.quantization.fuse_modules_qat", "training with fused modules is not offered"
)
fuse_known_modules = refusing("ao.quantization.fuse_known_modules", "use fuse_modules")


def fuse_modules(
    model: Any,
    modules_to_fuse: Any,
    inplace: bool = False,
    fuser_func: Any = None,
    fuse_custom_config_dict: Any = None,
) -> Any:
    """A model in evaluation in which each list of names became one module: a convolution with the
    batch norm behind it, and a ReLU behind that. The others' places hold Identity.

    NotImplementedError for what is not a convolution, a batch norm and a ReLU in this order."""
    model = model if inplace else copy.deepcopy(model)
    lists = modules_to_fuse
    if lists and isinstance(lists[0], str):
        lists = [lists]
    for names in lists:
        _fuse(model, names)
    return model


def _fuse(model: Any, names: Any) -> None:
    parts = [model.get_submodule(name) for name in names]
    if any(part.training for part in parts):
        raise NotImplementedError(f"fuse_modules: {names} are in training, wanted eval()")
    kinds = [type(part).__name__.rstrip("123d") for part in parts]
    if kinds not in (
        ["Conv", "BatchNorm"],
        ["Conv", "BatchNorm", "ReLU"],
        ["Conv", "ReLU"],
        ["Linear", "ReLU"],
    ):
        raise NotImplementedError(
            f"fuse_modules: found {', '.join(kinds)}, wanted a convolution, a batch norm and a ReLU"
        )
    first = fuse_conv_bn_eval(parts[0], parts[1]) if kinds[1] == "BatchNorm" else parts[0]
    result = nn.Sequential(first, parts[-1]) if kinds[-1] == "ReLU" else first
    for name, part in zip(names, [result, *(nn.Identity() for _ in names[1:])], strict=True):
        parent, _, last = name.rpartition(".")
        setattr(model.get_submodule(parent), last, part.eval())

# SPDX-License-Identifier: Apache-2.0
"""Weight normalisation in its older form: NAME_g and NAME_v are the parameters, and NAME is
computed before every call. The newer form is parametrizations.weight_norm."""

from __future__ import annotations

import functools
import warnings
from typing import Any, TypeVar

from ..._C import Tensor
from ..modules.module import Module
from ..parameter import Parameter
from ._norms import copied_with_module, directed, lengths

T = TypeVar("T", bound=Module)


class WeightNorm:
    """The hook that computes the weight."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """The direction of NAME_v with the lengths NAME_g."""
        parts = [getattr(module, f"{self.name}_v"), getattr(module, f"{self.name}_g")]
        directed_along = functools.partial(directed, dim=self.dim)
        return copied_with_module(directed_along(*parts), parts, directed_along)

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> WeightNorm:
        """Puts NAME_g and NAME_v in the place of a parameter."""
        if find(module, name) is not None:
            raise RuntimeError(
                f"weight_norm: {type(module).__name__} has a weight norm of {name!r} already"
            )
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        del module._parameters[name]
        module.register_parameter(f"{name}_g", Parameter(lengths(weight, hook.dim).detach()))
        module.register_parameter(f"{name}_v", Parameter(weight.detach()))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Module) -> None:
        """Makes the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[f"{self.name}_g"]
        del module._parameters[f"{self.name}_v"]
        setattr(module, self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def find(module: Module, name: str) -> int | None:
    """The number of the hook of that name."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            return number
    return None


def weight_norm(module: T, name: str = "weight", dim: int | None = 0) -> T:
    """Trains the length and the direction of a weight instead of the weight itself. Returns the
    module; dim: of which each slice has a length, None: the weight as a whole."""
    warnings.warn(
        "weight_norm is deprecated, please use parametrizations.weight_norm instead",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: T, name: str = "weight") -> T:
    """Makes the weight a parameter again. Returns the module."""
    number = find(module, name)
    if number is None:
        raise ValueError(
            f"remove_weight_norm: {type(module).__name__} has no weight norm of {name!r}"
        )
    hook: Any = module._forward_pre_hooks.pop(number)
    hook.remove(module)
    return module

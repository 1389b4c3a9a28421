# SPDX-License-Identifier: Apache-2.0
"""Spectral normalisation in its older form: NAME_orig is the parameter, and NAME is computed before
every call. The newer form is parametrizations.spectral_norm."""

from __future__ import annotations

from typing import Any, TypeVar

from ... import _functions as F
from ..._C import Tensor
from ..module import Module
from ..parameter import Parameter
from ._norms import as_matrix, dim_of_outputs, drawn_vectors, power_iterations

T = TypeVar("T", bound=Module)


class SpectralNorm:
    """The hook that computes the weight."""

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0,
                 eps: float = 1e-12) -> None:  # fmt: skip
        if n_power_iterations <= 0:
            raise ValueError("spectral_norm: n_power_iterations is "
                             f"{n_power_iterations}, wanted 1 or more")  # fmt: skip
        self.name, self.dim = name, dim
        self.n_power_iterations, self.eps = n_power_iterations, eps

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Tensor:
        """NAME_orig divided by its largest singular value, as NAME_u and NAME_v tell it."""
        weight = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            power_iterations(matrix.detach(), u, v, self.n_power_iterations, self.eps)
            u, v = u.clone(), v.clone()  # later calls overwrite them before backward
        result: Tensor = weight / F.dot(u, F.mv(matrix, v))
        return result

    @staticmethod
    def apply(module: Module, name: str, n_power_iterations: int, dim: int,
              eps: float) -> SpectralNorm:  # fmt: skip
        """Puts NAME_orig in the place of a parameter."""
        if find(module, name) is not None:
            raise RuntimeError(f"spectral_norm: {type(module).__name__} has a spectral norm of "
                               f"{name!r} already")  # fmt: skip
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"spectral_norm: {type(module).__name__} has no parameter {name!r}")
        u, v = drawn_vectors(as_matrix(weight.detach(), dim), eps)
        del module._parameters[name]
        module.register_parameter(f"{name}_orig", weight)
        setattr(module, name, weight.detach())
        module.register_buffer(f"{name}_u", u)
        module.register_buffer(f"{name}_v", v)
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Module) -> None:
        """Makes the weight a parameter again."""
        weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for part in ("u", "v", "orig"):
            delattr(module, f"{self.name}_{part}")
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


def find(module: Module, name: str) -> int | None:
    """The number of the hook of that name."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            return number
    return None


def spectral_norm(module: T, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
                  dim: int | None = None) -> T:  # fmt: skip
    """Divides a weight by its largest singular value. Returns the module.

    Arguments:
        n_power_iterations: steps towards the singular value for each call in training
        eps: the least length that a vector is divided by
        dim: of the weight as a matrix, the rows' dimension; None: that of the layer's outputs
    """
    where = dim_of_outputs(module) if dim is None else dim
    SpectralNorm.apply(module, name, n_power_iterations, where, eps)
    return module


def remove_spectral_norm(module: T, name: str = "weight") -> T:
    """Makes the weight a parameter again. Returns the module."""
    number = find(module, name)
    if number is None:
        raise ValueError(f"remove_spectral_norm: {type(module).__name__} has no spectral norm of "
                         f"{name!r}")  # fmt: skip
    hook: Any = module._forward_pre_hooks.pop(number)
    hook.remove(module)
    return module

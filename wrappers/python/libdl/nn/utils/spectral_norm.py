# SPDX-License-Identifier: Apache-2.0
"""Spectral normalisation in its older form: NAME_orig is the parameter, and NAME is computed before
every call. The newer form is parametrizations.spectral_norm."""

from __future__ import annotations

from typing import Any, TypeVar

from ... import _functions as F
from ..._C import Tensor
from ..._modes import no_grad
from ..functional import normalize
from ..modules.module import Module
from ..parameter import Parameter, is_lazy
from ._norms import as_matrix, copied_with_module, dim_of_outputs, drawn_vectors

__all__ = [
    "SpectralNorm",
    "SpectralNormLoadStateDictPreHook",
    "SpectralNormStateDictHook",
    "remove_spectral_norm",
    "spectral_norm",
]

T = TypeVar("T", bound=Module)


class SpectralNorm:
    """The hook that computes the weight. Each iteration renews v by u and then u by v: u is the
    direction of W v after every call."""

    _version = 1  # of the state: v is in it, and the normalised weight is not

    def __init__(
        self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"spectral_norm: n_power_iterations is {n_power_iterations}, wanted 1 or more"
            )
        self.name, self.dim = name, dim
        self.n_power_iterations, self.eps = n_power_iterations, eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """The weight with the outputs' dimension first, and all others as one."""
        return as_matrix(weight, self.dim)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """NAME_orig divided by its largest singular value, as NAME_u and NAME_v tell it."""
        weight = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(F.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(normalize(F.mv(matrix, v), dim=0, eps=self.eps))
            u, v = u.clone(), v.clone()  # later calls overwrite them before backward
        return copied_with_module(
            self._normalised(weight, u, v), [weight], lambda copied: self._normalised(copied, u, v)
        )

    def _normalised(self, weight: Tensor, u: Tensor, v: Tensor) -> Tensor:
        result: Tensor = weight / F.dot(u, F.mv(self.reshape_weight_to_matrix(weight), v))
        return result

    @staticmethod
    def apply(
        module: Module, name: str, n_power_iterations: int, dim: int, eps: float
    ) -> SpectralNorm:
        """Puts NAME_orig in the place of a parameter."""
        if find(module, name) is not None:
            raise RuntimeError(
                f"spectral_norm: {type(module).__name__} has a spectral norm of {name!r} already"
            )
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"spectral_norm: {type(module).__name__} has no parameter {name!r}")
        if is_lazy(weight):
            raise ValueError(
                f"spectral_norm: the parameter {name!r} of {type(module).__name__} has "
                "no shape yet: call the module first"
            )
        u, v = drawn_vectors(hook.reshape_weight_to_matrix(weight.detach()), eps)
        del module._parameters[name]
        module.register_parameter(f"{name}_orig", weight)
        setattr(module, name, weight.detach())
        module.register_buffer(f"{name}_u", u)
        module.register_buffer(f"{name}_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook

    def remove(self, module: Module) -> None:
        """Makes the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for part in ("u", "v", "orig"):
            delattr(module, f"{self.name}_{part}")
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


class SpectralNormStateDictHook:
    """Notes the version in a state's metadata."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self, module: Module, state_dict: dict[str, Any], prefix: str, local_metadata: Any
    ) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        key = f"{self.fn.name}.version"
        if key in versions:
            raise RuntimeError(f"spectral_norm: the metadata has {key!r} already")
        versions[key] = self.fn._version


class SpectralNormLoadStateDictPreHook:
    """Refuses states of PyTorch before 1.0, which have the normalised weight instead of v."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *reports: Any
    ) -> None:
        key = prefix + self.fn.name
        version = local_metadata.get("spectral_norm", {}).get(f"{self.fn.name}.version")
        if version is None and key in state_dict and f"{key}_orig" in state_dict:
            raise NotImplementedError(
                f"spectral_norm: the state has {key!r}, as of PyTorch before 1.0, from which "
                f"{key + '_v'!r} is not computed: load and save it with PyTorch first"
            )


def find(module: Module, name: str) -> int | None:
    """The number of the hook of that name."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            return number
    return None


def spectral_norm(
    module: T,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> T:
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
        raise ValueError(
            f"remove_spectral_norm: {type(module).__name__} has no spectral norm of {name!r}"
        )
    hook: Any = module._forward_pre_hooks.pop(number)
    hook.remove(module)
    for hooks in (module._state_dict_hooks, module._load_state_dict_pre_hooks):
        for number, one in list(hooks.items()):
            if getattr(one, "fn", None) is hook:
                del hooks[number]
    return module

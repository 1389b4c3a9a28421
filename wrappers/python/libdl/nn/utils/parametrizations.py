# SPDX-License-Identifier: Apache-2.0
"""Parametrizations: weights as length times direction, of spectral norm 1, and orthogonal."""

from __future__ import annotations

from typing import Any, TypeVar

from ... import _functions as F
from ..._C import Tensor
from ..._modes import no_grad
from ..functional import normalize
from ..modules.module import Module
from . import parametrize
from ._norms import as_matrix, dim_of_outputs, directed, drawn_vectors, lengths
from ._orthogonal import orthogonal as orthogonal

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

T = TypeVar("T", bound=Module)


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return directed(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return lengths(weight, self.dim), weight


def weight_norm(module: T, name: str = "weight", dim: int | None = 0) -> T:
    """Trains the length (original0) and the direction (original1) of a weight. Returns the module;
    dim: of which each slice has a length, None: the weight as a whole."""
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def take_older_names(module: Any, state_dict: Any, prefix: str, *others: Any) -> None:
        older = f"{prefix}{name}_g", f"{prefix}{name}_v"
        if all(key in state_dict for key in older):
            for i, key in enumerate(older):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(take_older_names)
    return module


class _SpectralNorm(Module):
    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0,
                 eps: float = 1e-12) -> None:  # fmt: skip
        super().__init__()
        if n_power_iterations <= 0:
            raise ValueError("spectral_norm: n_power_iterations is "
                             f"{n_power_iterations}, wanted 1 or more")  # fmt: skip
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(f"spectral_norm: dim is {dim}, wanted {-ndim} to {ndim - 1}")
        self.dim, self.eps, self.n_power_iterations = dim % ndim, eps, n_power_iterations
        if ndim > 1:  # of a vector it is the length, which needs no iterations
            matrix = self._reshape_weight_to_matrix(weight.detach())
            u, v = drawn_vectors(matrix, eps)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        return as_matrix(weight, self.dim)

    def _power_method(self, weight_mat: Tensor, n_power_iterations: int) -> None:
        """Brings both vectors, in place, closer to those of the largest singular value; u first."""
        with no_grad():
            for _ in range(n_power_iterations):
                self._u.copy_(normalize(F.mv(weight_mat, self._v), dim=0, eps=self.eps))
                self._v.copy_(normalize(F.mv(weight_mat.t(), self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # Copies, because later calls overwrite them before backward.
        u, v = self._u.clone(), self._v.clone()
        result: Tensor = weight / F.dot(u, F.mv(matrix, v))
        return result

    def right_inverse(self, value: Tensor) -> Tensor:
        return value  # which is not divided again: its norm is what forward makes it


def spectral_norm(module: T, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
                  dim: int | None = None) -> T:  # fmt: skip
    """Divides a weight by its largest singular value. Returns the module.

    Arguments:
        n_power_iterations: steps towards the singular value for each use in training
        eps: the least length that a vector is divided by
        dim: of the weight as a matrix, the rows' dimension; None: that of the layer's outputs
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"spectral_norm: {type(module).__name__} has no parameter or buffer "
                         f"{name!r}")  # fmt: skip
    where = dim_of_outputs(module) if dim is None else dim
    parametrize.register_parametrization(
        module, name, _SpectralNorm(weight, n_power_iterations, where, eps)
    )
    return module

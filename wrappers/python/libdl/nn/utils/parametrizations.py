# SPDX-License-Identifier: Apache-2.0
"""Parametrizations: weights as length times direction, of spectral norm 1, and orthogonal."""

from __future__ import annotations

import math
from typing import Any, TypeVar

from ... import _functions as F
from ..._C import Tensor
from ..._modes import no_grad
from ..._types import complex128, float64
from ...autograd.function import Function
from ..functional import normalize
from ..init import orthonormal_rows
from ..modules.module import Module
from . import parametrize
from ._norms import as_matrix, dim_of_outputs, directed, drawn_vectors, lengths

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

T = TypeVar("T", bound=Module)
_MAPS = ("matrix_exp", "cayley", "householder")


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

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        if n_power_iterations <= 0:
            raise ValueError(
                f"spectral_norm: n_power_iterations is {n_power_iterations}, wanted 1 or more"
            )
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


def spectral_norm(
    module: T,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> T:
    """Divides a weight by its largest singular value. Returns the module.

    Arguments:
        n_power_iterations: steps towards the singular value for each use in training
        eps: the least length that a vector is divided by
        dim: of the weight as a matrix, the rows' dimension; None: that of the layer's outputs
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(
            f"spectral_norm: {type(module).__name__} has no parameter or buffer {name!r}"
        )
    where = dim_of_outputs(module) if dim is None else dim
    parametrize.register_parametrization(
        module, name, _SpectralNorm(weight, n_power_iterations, where, eps)
    )
    return module


# -- orthonormal rows or columns, computed from matrices without constraints -----------------------


def orthogonal(
    module: T,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> T:
    """Keeps a weight orthogonal: its rows or columns, whichever are fewer, orthonormal. More than
    two dimensions: a batch of matrices. Returns the module.

    Arguments:
        orthogonal_map: how it is computed: "matrix_exp" or "cayley", of a skew-symmetric matrix, or
            "householder", by reflections; None: the first for square weights, else the last
        use_trivialization: whether it is computed relative to an orthogonal matrix that is kept,
            so that orthogonal weights may be assigned with any map
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"orthogonal: {type(module).__name__} has no parameter or buffer {name!r}")
    if weight.ndim < 2:
        raise ValueError(f"orthogonal: {name!r} has {weight.ndim} dimensions, wanted 2 or more")
    square = weight.shape[-2] == weight.shape[-1] or weight.is_complex()
    chosen = (
        ("matrix_exp" if square else "householder") if orthogonal_map is None else orthogonal_map
    )
    if chosen not in _MAPS:
        raise ValueError(f"orthogonal: orthogonal_map is {chosen!r}, wanted one of {_MAPS}")
    if chosen == "householder" and weight.is_complex():
        raise ValueError(
            "orthogonal: orthogonal_map is 'householder', which complex weights do not have"
        )
    result = _Orthogonal(weight, chosen, use_trivialization)
    parametrize.register_parametrization(module, name, result, unsafe=True)
    return module


class _Orthogonal(Module):
    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        wide = X.shape[-2] < X.shape[-1]
        x = X.transpose(-2, -1) if wide else X
        n, k = x.shape[-2:]
        if self.orthogonal_map == "householder":
            q = _of_reflections(x)
        else:
            low = x.tril()
            if n != k:
                low = F.cat([low, low.new_zeros((*low.shape[:-1], n - k))], -1)
            skew = low - _adjoint(low)
            q = (matrix_exp if self.orthogonal_map == "matrix_exp" else _cayley)(skew)[..., :k]
        if "base" in self._buffers:
            assert self.base is not None
            q = self.base @ q
        return q.transpose(-2, -1) if wide else q

    def right_inverse(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise ValueError(f"found a matrix of shape {Q.shape}, wanted {self.shape}")
        wide = Q.shape[-2] < Q.shape[-1]
        q = Q.transpose(-2, -1) if wide else Q
        n, k = q.shape[-2:]
        if "base" in self._buffers:
            if n != k:
                q = F.cat([q, F.randn_like(q.new_empty((*q.shape[:-1], n - k)))], -1)
            self.base = _orthonormal_columns(q)
            result = F.zeros_like(Q)
            result.diagonal(0, -2, -1).fill_(-1)
            return result
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                f"a weight computed by {self.orthogonal_map} cannot be assigned "
                "to with use_trivialization=False"
            )
        reflections = _reflections(q)
        return reflections.transpose(-2, -1) if wide else reflections


def _adjoint(a: Tensor) -> Tensor:
    turned = a.transpose(-2, -1)
    return turned.conj() if a.is_complex() else turned


def _wide(a: Tensor) -> Tensor:
    """The same in double precision, in which all of this is computed."""
    return a.to(complex128 if a.is_complex() else float64)


def _eye(a: Tensor, columns: int | None = None) -> Tensor:
    n = a.shape[-2]
    return F.eye(n, n if columns is None else columns, dtype=a.dtype, device=a.device)


def matrix_exp(a: Tensor) -> Tensor:
    """The exponential of square matrices, by Taylor's series of a / 2^s, squared s times."""
    x = _wide(a)
    norm = float(x.detach().abs().sum(-2).max().item()) if x.numel() else 0.0
    squarings = max(0, math.ceil(math.log2(norm)) + 1) if norm > 0 else 0
    x = x * 0.5**squarings
    result = _eye(x).expand(x.shape)
    for order in range(18, 0, -1):  # at norm 1/2 the next term is below 2^-75
        result = _eye(x) + (x @ result) / order
    for _ in range(squarings):
        result = result @ result
    return result.to(a.dtype)


class _Inverse(Function):
    """The inverse of matrices that have one, by Newton's iteration."""

    @staticmethod
    def vmap(info: Any, in_dims: Any, a: Tensor) -> tuple[Any, int]:
        return _Inverse.apply(a.movedim(in_dims[0], 0)), 0

    @staticmethod
    def forward(ctx: Any, a: Tensor) -> Tensor:
        one = _eye(a)
        largest = a.abs().sum(-1, keepdim=True).amax(-2, keepdim=True)
        largest = largest * a.abs().sum(-2, keepdim=True).amax(-1, keepdim=True)
        x = _adjoint(a) / largest
        error = math.inf
        while True:
            residual = one - a @ x
            before, error = error, float(residual.abs().amax().item()) if a.numel() else 0.0
            if not error < before or error == 0:  # as small as rounding allows
                break
            x = x + x @ residual
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return -(_adjoint(x) @ gradient @ _adjoint(x))


def _cayley(a: Tensor) -> Tensor:
    """(1 - a / 2)^-1 (1 + a / 2)."""
    x = _wide(a)
    inverse: Tensor = _Inverse.apply(_eye(x) - x / 2)
    return (inverse @ (_eye(x) + x / 2)).to(a.dtype)


def _of_reflections(x: Tensor) -> Tensor:
    """The first columns of the product of reflections, whose vectors are below the diagonal, times
    the signs on it. With V of these vectors the product is 1 - V S V', where the inverse of S has
    1 / tau on its diagonal and V'V above it."""
    wide = _wide(x)
    k = wide.shape[-1]
    vectors = wide.tril(-1) + _eye(wide, k)
    products = vectors.transpose(-2, -1) @ vectors
    # tau is 2 / (1 + the square of the part below the diagonal), which makes each a reflection
    inverse: Tensor = _Inverse.apply(products.triu(1) + products * _eye(products) / 2)
    top = vectors[..., :k, :].transpose(-2, -1)
    q = _eye(wide, k) - vectors @ (inverse @ top)
    signs = x.detach().diagonal(0, -2, -1).trunc().to(wide.dtype)
    return (q * signs.unsqueeze(-2)).to(x.dtype)


def _orthonormal_columns(q: Tensor) -> Tensor:
    """Of each matrix of a batch."""
    with no_grad():
        matrices = _wide(q).reshape(-1, *q.shape[-2:])
        results = [_adjoint(orthonormal_rows(_adjoint(one))) for one in matrices]
        return F.stack(results).reshape(q.shape).to(q.dtype)


def _reflections(q: Tensor) -> Tensor:
    """The reflections whose product has q's columns, as _of_reflections reads them."""
    with no_grad():
        matrices = _wide(q).clone().reshape(-1, *q.shape[-2:])
        for a in matrices:
            for i in range(a.shape[-1]):
                first, below = float(a[i, i].item()), a[i + 1 :, i].clone()
                length = math.hypot(first, float(below.norm().item()))
                turned = bool(below.any().item())
                pivot = -math.copysign(length, first) if turned else first
                below = below / (first - pivot) if turned else below
                tau = (pivot - first) / pivot if turned else 2.0
                rest = a[i:, i + 1 :].clone()
                vector = F.cat([below.new_ones(1), below])
                a[i:, i + 1 :] = rest - tau * vector.unsqueeze(1) * (vector @ rest).unsqueeze(0)
                a[i + 1 :, i] = below
                a[i, i] = math.copysign(1.0, pivot if turned else -first)
        return matrices.reshape(q.shape).to(q.dtype)

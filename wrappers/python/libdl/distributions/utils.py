# SPDX-License-Identifier: Apache-2.0
"""What distributions share with programs that define their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, overload

from .. import as_tensor, broadcast_tensors, enable_grad, finfo, get_default_dtype, ones, randn
from .._C import Tensor
from .._types import DeviceLike, DtypeLike, Number

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

T = TypeVar("T")
R = TypeVar("R")

euler_constant = 0.57721566490153286060


def broadcast_all(*values: Tensor | Number) -> tuple[Tensor, ...]:
    """The values as tensors of one shape; numbers take dtype and device of the first tensor.

    A float beside integers has the default dtype.
    """
    if wrong := [v for v in values if not isinstance(v, (Tensor, bool, int, float))]:
        raise ValueError(f"broadcast_all: found {wrong[0]!r}, wanted tensors and numbers")
    first = next((v for v in values if isinstance(v, Tensor)), None)
    dtype = get_default_dtype() if first is None else first.dtype
    device = None if first is None else first.device

    def tensor_of(value: Any) -> Tensor:
        if isinstance(value, Tensor):
            return value
        fits = dtype.is_floating_point or not isinstance(value, float)
        kind = dtype if fits else get_default_dtype()
        return as_tensor(value, dtype=kind, device=device)

    return tuple(broadcast_tensors(*map(tensor_of, values)))


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over so many last dimensions."""
    return value.sum(tuple(range(-dim, 0))) if dim else value


def _standard_normal(
    shape: Sequence[int], dtype: DtypeLike | None, device: DeviceLike | None
) -> Tensor:
    """Standard normal numbers."""
    return randn(shape, dtype=dtype, device=device)


def clamp_probs(probs: Tensor) -> Tensor:
    """The probabilities, eps away from 0 and 1, so that their logarithms are finite."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Log-odds, or else unnormalized logarithms along the last dimension, to probabilities."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities to log-odds, or else to logarithms; 0 and 1 give finite numbers."""
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


class lazy_property(Generic[T, R]):
    """An attribute that is computed at its first use, with history, and then kept."""

    def __init__(self, wrapped: Callable[[T], R]) -> None:
        self.wrapped, self.__doc__ = wrapped, wrapped.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> lazy_property[T, R]: ...
    @overload
    def __get__(self, instance: T, owner: type | None = None) -> R: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        # Python looks here first from now on, because this class has no __set__.
        instance.__dict__[self.name] = value
        return value


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The elements of [..., n, n] on and below a diagonal, row by row, as [..., k]."""
    n = mat.shape[-1]
    if not -n < diag < n:
        raise ValueError(f"tril_matrix_to_vec: diag is {diag}, wanted {1 - n} to {n - 1}")
    return mat[..., _below(n, diag, mat)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The matrix [..., n, n] whose elements on and below a diagonal are those of [..., k]."""
    k, n = vec.shape[-1], 0
    while (held := sum(min(max(i + 1 + diag, 0), n) for i in range(n))) < k:
        n += 1
    if held > k or n <= abs(diag):
        raise ValueError(f"vec_to_tril_matrix: {k} elements fill no triangle up to diagonal {diag}")
    mat = vec.new_zeros((*vec.shape[:-1], n, n))
    mat[..., _below(n, diag, vec)] = vec
    return mat


def _below(n: int, diag: int, like: Tensor) -> Tensor:
    return ones(n, n, device=like.device).tril(diag) != 0

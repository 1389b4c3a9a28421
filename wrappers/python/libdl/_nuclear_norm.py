# SPDX-License-Identifier: Apache-2.0
"""norm(p="nuc"): the nuclear norm, the sum of a matrix's singular values.

The singular value decomposition A = U diag(s) V^H uses the one-sided Jacobi method (G. H. Golub,
C. F. Van Loan, Matrix Computations, 4th ed., section 8.6.3): rotations make the columns of A
orthogonal, in all disjoint pairs of columns at once. It is accurate to a few ulp in float64, and
meant for small matrices: it costs about ten products of the matrix with itself.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from . import _C, _functions
from ._C import Tensor
from ._creation import tensor
from ._vmap_levels import needs_loop
from ._modes import no_grad
from ._types import DtypeLike, complex128, dtype, float64
from .autograd.function import Function, once_differentiable

MOST_SWEEPS = 60
EPSILON = 2.0**-52


class Decomposition(NamedTuple):
    """Of matrices with at least as many rows as columns; complex128 or float64."""

    u: Tensor  # [..., m, n]; the columns of singular values 0 are 0
    s: Tensor  # [..., n], in no order
    v: Tensor  # [..., n, n]


def nuclear_norm(
    input: Tensor, dim: int | Sequence[int] | None, keepdim: bool, dtype: DtypeLike | None
) -> Tensor:
    """input: floating or complex; NaN or infinity gives NaN. dim: a pair, or None for a matrix."""
    x = input if dtype is None else input.to(dtype)
    if not (x.is_floating_point() or x.is_complex()):
        raise TypeError(
            f"norm: argument 1 (input) is {_name(x)}, wanted a floating or complex "
            "dtype for p='nuc'"
        )
    dims = _pair(x.ndim, dim)
    matrices = x.movedim(dims, (-2, -1))
    if matrices.shape[-2] < matrices.shape[-1]:
        matrices = matrices.mT
    norms = NuclearNorm.apply(matrices)
    if keepdim:
        for d in sorted(dims):
            norms = norms.unsqueeze(d)
    return norms


def _pair(ndim: int, dim: int | Sequence[int] | None) -> tuple[int, ...]:
    dims = [dim] if isinstance(dim, int) else range(ndim) if dim is None else list(dim)
    for d in dims:
        if not -ndim <= d < ndim:
            raise IndexError(f"norm: argument 3 (dim) names {d}, wanted {-ndim} to {ndim - 1}")
    if len(dims) != 2 or (dims[0] - dims[1]) % ndim == 0:
        raise ValueError(
            f"norm: argument 3 (dim) is {list(dims)}, wanted two dimensions for p='nuc'"
        )
    return tuple(d % ndim for d in dims)


def _name(x: Tensor) -> str:
    return str(x.dtype).rpartition(".")[2]


class NuclearNorm(Function):
    """The gradient is U V^H, without the singular values that are 0; of zeros it is the identity,
    as in PyTorch."""

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Tensor) -> tuple[Tensor, int]:
        if _C.forward_level(1):  # a batch of tangents does not reach those of the polar factor
            raise needs_loop("vmap: the nuclear norm runs in forward mode one by one")
        return NuclearNorm.apply(x.movedim(in_dims[0], 0)), 0

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.found = decompose(x)
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return ctx.found.s.sum(-1).to(_real_dtype(x))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        return g[..., None, None] * PolarFactor.apply(ctx.saved_tensors[0], ctx.found)

    @staticmethod
    def jvp(ctx: Any, t: Tensor) -> Tensor:
        product = PolarFactor.apply(ctx.saved_tensors[0], ctx.found).conj() * t
        return (product.real if product.is_complex() else product).sum((-2, -1))


class PolarFactor(Function):
    """U V^H. Its derivative is the second derivative of the nuclear norm, and so is symmetric."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, value: Decomposition) -> Tensor:
        ctx.found = value
        result = value.u @ value.v.mH
        zeros = (value.s == 0).all(-1)[..., None, None]
        diagonal = _C.eye(x.shape[-2], x.shape[-1], result.dtype, result.device)
        return _functions.where(zeros, diagonal, result).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        return _derivative(ctx.found, g), None

    @staticmethod
    def jvp(ctx: Any, t: Tensor, unused: None) -> Tensor:
        return _derivative(ctx.found, t)


def _derivative(value: Decomposition, t: Tensor) -> Tensor:
    u, s, v = value
    x = t.to(u.dtype)
    turned = u.mH @ x @ v
    within = (turned - turned.mH) * _inverse(s[..., :, None] + s[..., None, :])
    beyond = (x @ v - u @ turned) * _inverse(s)[..., None, :]
    return ((u @ within + beyond) @ v.mH).to(t.dtype)


def _inverse(s: Tensor) -> Tensor:
    return _functions.where(s > 0, 1 / s, 0.0)


def _real_dtype(x: Tensor) -> dtype:
    return x.real.dtype if x.is_complex() else x.dtype


@no_grad()
def decompose(x: Tensor) -> Decomposition:
    """x: [..., m, n], m >= n. Computed in float64 or complex128, without history."""
    wide = x.detach().to(complex128 if x.is_complex() else float64)
    m, n = wide.shape[-2:]
    if wide.numel() == 0:
        return Decomposition(wide, wide.abs().sum(-2), _identity(n, wide))
    largest = wide.abs().amax((-2, -1), keepdim=True)
    scale = _functions.where((largest > 0) & largest.isfinite(), largest, 1.0)
    # Each row is a column of x / scale followed by a column of V; both are rotated together.
    rows = _turned(_functions.cat([(wide / scale).mT, _identity(n, wide)], -1), m)
    columns, v = rows[..., :m].mT, rows[..., m:].mT
    s = columns.abs().square().sum(-2).sqrt()
    # The rounding errors in a column that should be 0 have no meaningful direction.
    s = _functions.where(s > s.amax(-1, keepdim=True) * (m * EPSILON), s, s * 0)
    return Decomposition(columns * _inverse(s)[..., None, :], s * scale[..., 0], v)


def _identity(n: int, like: Tensor) -> Tensor:
    return _C.eye(n, None, like.dtype, like.device).expand(*like.shape[:-2], n, n)


def _turned(rows: Tensor, m: int) -> Tensor:
    """The rows after rotations that make their first m entries orthogonal."""
    n = rows.shape[-2]
    if n < 2:
        return rows
    if n % 2:  # a row of zeros, so that each row has a partner
        return _turned(_functions.cat([rows, rows[..., :1, :] * 0], -2), m)[..., :n, :]
    half = n // 2
    # The first row stays, the others rotate: after n - 1 rounds every pair has met.
    upper, lower = range(half), range(half, n)
    places = [0, half, *upper[1:-1], *lower[1:], upper[-1]] if half > 1 else [0, 1]
    order = tensor(places, device=rows.device)
    for _ in range(MOST_SWEEPS):
        largest = 0.0
        for _ in range(n - 1):
            rows, cosine = _rotated(rows, m, half)
            largest = max(largest, cosine)
            rows = rows.index_select(-2, order)
        if not largest > m * EPSILON:  # stops for NaN, too
            break
    return rows


def _rotated(rows: Tensor, m: int, half: int) -> tuple[Tensor, float]:
    """The rows after each one of the first half is rotated with its partner in the second, and the
    largest cosine that there was between two partners."""
    p, q = rows[..., :half, :], rows[..., half:, :]
    pp = p[..., :m].abs().square().sum(-1)
    qq = q[..., :m].abs().square().sum(-1)
    pq = (p[..., :m].conj() * q[..., :m]).sum(-1)
    size = pq.abs()
    apart = size > 0
    cosine = _functions.where(apart, size / (pp * qq).sqrt(), size)
    phase = _functions.where(apart, pq.conj() / size, 1.0)
    zeta = (qq - pp) / (2 * size)
    sign = 1 - 2 * (zeta < 0).to(zeta.dtype)
    tangent = _functions.where(apart, sign / (zeta.abs() + (1 + zeta.square()).sqrt()), 0.0)
    c = 1 / (1 + tangent.square()).sqrt()
    c, s = c[..., None], (c * tangent)[..., None]
    q = q * phase[..., None]
    return _functions.cat([c * p - s * q, s * p + c * q], -2), float(cosine.max())

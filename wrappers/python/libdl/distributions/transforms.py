# SPDX-License-Identifier: Apache-2.0
"""Functions of random values, with the logarithm of their derivative."""

# Sets that depend on parameters are properties where the base declares an attribute, as in PyTorch.
# mypy: disable-error-code="no-any-return,override"
from __future__ import annotations

import copy
import math
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import (
    Size,
    arange,
    broadcast_shapes,
    cat,
    cumsum,
    eye,
    finfo,
    full_like,
    stack,
    zeros_like,
)
from .._C import Tensor
from ..nn.functional import logsigmoid, pad, softplus
from . import constraints
from .utils import broadcast_all, tril_matrix_to_vec, vec_to_tril_matrix

if TYPE_CHECKING:
    from .distribution import Distribution

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]


# -- the base of all, inverses and chains ----------------------------------------------------------


def sum_last(value: Tensor, dims: int) -> Tensor:
    """The sum over that many last dimensions."""
    return value.flatten(value.ndim - dims).sum(-1) if dims else value


def with_events(constraint: constraints.Constraint, event_dim: int) -> constraints.Constraint:
    """The constraint, with so many more dimensions of the batch in the event as are lacking."""
    lacking = event_dim - constraint.event_dim
    return constraints.independent(constraint, lacking) if lacking > 0 else constraint


class Transform:
    """A function between two sets, whose logarithm of |det J| is known.

    A subclass sets domain, codomain and bijective, and defines _call(x), _inverse(y) and
    log_abs_det_jacobian(x, y), where y is f(x). An inverse of a function that is not bijective
    gives one x of several.

    Arguments:
        cache_size: 1 keeps the last x and y, so that inv(y) is x itself; 0 does not
    """

    domain: constraints.Constraint
    codomain: constraints.Constraint
    bijective: bool = False

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError(f"{type(self).__name__}: cache_size is {cache_size}, wanted 0 or 1")
        self._cache_size = cache_size
        self._cached_x_y: tuple[Any, Any] = (None, None)
        self._inv: Any = None
        super().__init__()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None}  # a weak reference cannot be pickled

    @property
    def event_dim(self) -> int:
        """How many dimensions of x and of y belong together."""
        if self.domain.event_dim != self.codomain.event_dim:
            raise ValueError(f"{type(self).__name__}: event_dim of domain and codomain differ")
        return self.domain.event_dim

    @property
    def inv(self) -> Transform:
        """The inverse transform."""
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = _InverseTransform(self)
            self._inv = weakref.ref(inverse)
        return inverse

    @property
    def sign(self) -> int | Tensor:
        """1 if it is increasing, -1 if decreasing; for scalar bijections."""
        raise NotImplementedError(f"{type(self).__name__} has no sign")

    def with_cache(self, cache_size: int = 1) -> Transform:
        """This transform with another cache_size."""
        if self._cache_size == cache_size:
            return self
        new = copy.copy(self)
        Transform.__init__(new, cache_size)
        return new

    def __call__(self, x: Tensor) -> Tensor:
        if not self._cache_size:
            return self._call(x)
        if x is not self._cached_x_y[0]:
            self._cached_x_y = x, self._call(x)
        return self._cached_x_y[1]

    def _inv_call(self, y: Tensor) -> Tensor:
        if not self._cache_size:
            return self._inverse(y)
        if y is not self._cached_x_y[1]:
            self._cached_x_y = self._inverse(y), y
        return self._cached_x_y[0]

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} defines no _call")

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no inverse")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |det dy/dx| of each event."""
        raise NotImplementedError(f"{type(self).__name__} has no log_abs_det_jacobian")

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of y for that of x."""
        return shape

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of x for that of y."""
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _InverseTransform(Transform):
    def __init__(self, transform: Transform) -> None:
        super().__init__()
        self._inv: Any = transform

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    @property
    def domain(self) -> constraints.Constraint:
        return self._inv.codomain

    @property
    def codomain(self) -> constraints.Constraint:
        return self._inv.domain

    @property
    def bijective(self) -> bool:
        return self._inv.bijective

    @property
    def sign(self) -> int | Tensor:
        return self._inv.sign

    @property
    def inv(self) -> Transform:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self.inv.with_cache(cache_size).inv

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)

    def _inv_call(self, y: Tensor) -> Tensor:
        return self._inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self._inv.forward_shape(shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"_InverseTransform({self._inv!r})"


class ComposeTransform(Transform):
    """Several transforms, one after the other.

    Arguments:
        parts: the transforms, the first to apply first; without any it is the identity
        cache_size: see Transform; the parts get it, too
    """

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [p.with_cache(cache_size) for p in parts] if cache_size else list(parts)

    @property
    def domain(self) -> constraints.Constraint:
        if not self.parts:
            return constraints.real
        dims = 0
        for part in reversed(self.parts):
            dims = max(dims, part.codomain.event_dim)
            dims += part.domain.event_dim - part.codomain.event_dim
        return with_events(self.parts[0].domain, dims)

    @property
    def codomain(self) -> constraints.Constraint:
        if not self.parts:
            return constraints.real
        dims = 0
        for part in self.parts:
            dims = max(dims, part.domain.event_dim)
            dims += part.codomain.event_dim - part.domain.event_dim
        return with_events(self.parts[-1].codomain, dims)

    @property
    def bijective(self) -> bool:
        return all(p.bijective for p in self.parts)

    @property
    def sign(self) -> int | Tensor:
        sign: int | Tensor = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    @property
    def inv(self) -> Transform:
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = ComposeTransform([p.inv for p in reversed(self.parts)])
            self._inv = weakref.ref(inverse)
            inverse._inv = weakref.ref(self)
        return inverse

    def with_cache(self, cache_size: int = 1) -> ComposeTransform:
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y: Tensor) -> Tensor:
        return self.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        total: Any = 0
        dims = self.domain.event_dim
        for part, before, after in zip(self.parts, values, values[1:]):
            term = part.log_abs_det_jacobian(before, after)
            total = total + sum_last(term, dims - part.domain.event_dim)
            dims += part.codomain.event_dim - part.domain.event_dim
        return total

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        inside = ",\n    ".join(map(repr, self.parts))
        return f"ComposeTransform(\n    {inside}\n)"


identity_transform = ComposeTransform([])


# -- made of other transforms, and of shapes -------------------------------------------------------


class IndependentTransform(Transform):
    """A transform of whose batch the last dimensions belong to the event.

    Arguments:
        base_transform: the transform
        reinterpreted_batch_ndims: how many dimensions
        cache_size: see Transform
    """

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> IndependentTransform:
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size)

    @property
    def domain(self) -> constraints.Constraint:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> constraints.Constraint:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:
        return self.base_transform.bijective

    @property
    def sign(self) -> int | Tensor:
        return self.base_transform.sign

    def _check(self, value: Tensor, expected: int) -> Tensor:
        if value.ndim < expected:
            raise ValueError(
                f"IndependentTransform: the value has {value.ndim} dimensions, "
                f"wanted {expected} or more"
            )
        return value

    def _call(self, x: Tensor) -> Tensor:
        return self.base_transform(self._check(x, self.domain.event_dim))

    def _inverse(self, y: Tensor) -> Tensor:
        return self.base_transform.inv(self._check(y, self.codomain.event_dim))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        result = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_last(result, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """Events of shape in_shape in another shape, of as many elements."""

    bijective = True

    def __init__(
        self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0
    ) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError(
                f"ReshapeTransform: out_shape is {list(out_shape)}, wanted one of "
                f"{self.in_shape.numel()} elements as {list(in_shape)}"
            )
        super().__init__(cache_size)

    @property
    def domain(self) -> constraints.Constraint:
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> constraints.Constraint:
        return constraints.independent(constraints.real, len(self.out_shape))

    def _batch(self, shape: Sequence[int], event: Size) -> Size:
        shape = Size(shape)
        dims = len(shape) - len(event)
        if dims < 0 or shape[dims:] != event:
            raise ValueError(
                f"ReshapeTransform: shape is {list(shape)}, which does not end in {list(event)}"
            )
        return shape[:dims]

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[: x.ndim - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(y.shape[: y.ndim - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(self._batch(x.shape, self.in_shape))

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self._batch(shape, self.in_shape) + self.out_shape

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self._batch(shape, self.out_shape) + self.in_shape


class _OfParts(Transform):
    transforms: list[Transform]

    @property
    def bijective(self) -> bool:
        return all(t.bijective for t in self.transforms)


class CatTransform(_OfParts):
    """One transform for each part of a dimension.

    Arguments:
        tseq: the transforms
        dim: the dimension
        lengths: how long each part is; None: 1
        cache_size: see Transform
    """

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise ValueError(
                f"CatTransform: {len(self.lengths)} lengths, wanted {len(self.transforms)}"
            )
        self.dim = dim

    @property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """The dimension's size."""
        return sum(self.lengths)

    @property
    def domain(self) -> constraints.Constraint:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> constraints.Constraint:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)

    def with_cache(self, cache_size: int = 1) -> CatTransform:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _call(self, x: Tensor) -> Tensor:
        parts = x.split(self.lengths, self.dim)
        return cat([t(part) for t, part in zip(self.transforms, parts)], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        parts = y.split(self.lengths, self.dim)
        return cat([t.inv(part) for t, part in zip(self.transforms, parts)], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        parts = zip(
            self.transforms, x.split(self.lengths, self.dim), y.split(self.lengths, self.dim)
        )
        terms = [
            sum_last(t.log_abs_det_jacobian(before, after), self.event_dim - t.event_dim)
            for t, before, after in parts
        ]
        # Seen from the end, the dimension lies in the batch, or in the event that is summed up.
        dim = (self.dim if self.dim < 0 else self.dim - x.ndim) + self.event_dim
        if dim < 0:
            return cat(terms, dim)
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total


class StackTransform(_OfParts):
    """One transform for each index of a dimension."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def domain(self) -> constraints.Constraint:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @property
    def codomain(self) -> constraints.Constraint:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)

    def with_cache(self, cache_size: int = 1) -> StackTransform:
        if self._cache_size == cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    def _slices(self, x: Tensor) -> tuple[Tensor, ...]:
        if x.shape[self.dim] != len(self.transforms):
            raise ValueError(
                f"StackTransform: dimension {self.dim} has size {x.shape[self.dim]}, "
                f"wanted {len(self.transforms)}"
            )
        return x.unbind(self.dim)

    def _call(self, x: Tensor) -> Tensor:
        return stack([t(s) for t, s in zip(self.transforms, self._slices(x))], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return stack([t.inv(s) for t, s in zip(self.transforms, self._slices(y))], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        slices = zip(self.transforms, self._slices(x), self._slices(y))
        return stack([t.log_abs_det_jacobian(*pair) for t, *pair in slices], self.dim)


class CumulativeDistributionTransform(Transform):
    """The cdf of a distribution of numbers, which its values go through to the unit interval."""

    bijective, sign = True, 1
    codomain = constraints.unit_interval

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> constraints.Constraint:
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)


# -- of single elements ----------------------------------------------------------------------------


class _Unparametrized(Transform):
    """Two of one type are equal."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = None  # type: ignore[assignment]


class ExpTransform(_Unparametrized):
    """y = exp(x)."""

    domain, codomain = constraints.real, constraints.positive
    bijective, sign = True, 1

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    """y = x^exponent, of positive numbers."""

    domain, codomain = constraints.positive, constraints.positive
    bijective = True

    def __init__(self, exponent: Tensor | float, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @property
    def sign(self) -> int | Tensor:
        return self.exponent.sign()

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool((self.exponent == other.exponent).all())

    __hash__ = None  # type: ignore[assignment]


class SigmoidTransform(_Unparametrized):
    """y = 1 / (1 + exp(-x)), kept away from 0 and 1."""

    domain, codomain = constraints.real, constraints.unit_interval
    bijective, sign = True, 1

    def _call(self, x: Tensor) -> Tensor:
        limits = finfo(x.dtype)
        return x.sigmoid().clamp(min=limits.tiny, max=1 - limits.eps)

    def _inverse(self, y: Tensor) -> Tensor:
        limits = finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(_Unparametrized):
    """y = log(1 + exp(x)); y = x above 20."""

    domain, codomain = constraints.real, constraints.positive
    bijective, sign = True, 1

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-(-y).expm1()).log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(_Unparametrized):
    """y = tanh(x). Its derivative is found from x, because 1 - y^2 loses digits near |y| = 1."""

    domain, codomain = constraints.real, constraints.interval(-1.0, 1.0)
    bijective, sign = True, 1

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2 * (math.log(2) - x - softplus(-2 * x))


class AbsTransform(_Unparametrized):
    """y = |x|; the inverse gives the x that is not negative."""

    domain, codomain = constraints.real, constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    """y = loc + scale * x; event_dim dimensions belong together."""

    bijective = True

    def __init__(
        self, loc: Tensor | float, scale: Tensor | float, event_dim: int = 0, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @property
    def domain(self) -> constraints.Constraint:
        dims = self._event_dim
        return constraints.independent(constraints.real, dims) if dims else constraints.real

    codomain = domain

    @property
    def sign(self) -> int | Tensor:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, Tensor):
            result = self.scale.abs().log().expand(self._shape(x.shape))
        else:
            result = full_like(x, math.log(abs(self.scale)))
        return sum_last(result, self._event_dim)

    def _shape(self, shape: Sequence[int]) -> Size:
        own = (getattr(value, "shape", ()) for value in (self.loc, self.scale))
        return broadcast_shapes(shape, *own)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self._shape(shape)

    inverse_shape = forward_shape

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        return all(_equal(a, b) for a, b in ((self.loc, other.loc), (self.scale, other.scale)))

    __hash__ = None  # type: ignore[assignment]


def _equal(a: Tensor | float, b: Tensor | float) -> bool:
    same = a == b
    return bool(same.all()) if isinstance(same, Tensor) else same


# -- of vectors and matrices -----------------------------------------------------------------------


class _OfVectors(_Unparametrized):
    def _check(self, shape: tuple[int, ...], dims: int = 1) -> tuple[int, ...]:
        if len(shape) < dims:
            raise ValueError(
                f"{type(self).__name__}: shape is {list(shape)}, wanted {dims} or more dimensions"
            )
        return shape

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self._check(shape)

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self._check(shape)


class SoftmaxTransform(_OfVectors):
    """y = exp(x) / sum(exp(x)); the inverse gives log(y)."""

    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return x.softmax(-1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()


class StickBreakingTransform(_OfVectors):
    """[..., n] to the simplex of [..., n + 1]: x tells what part of the rest each element takes.

    x = 0 takes equal parts, as in Stan's reference manual, "Unit simplex".
    """

    domain, codomain = constraints.real_vector, constraints.simplex
    bijective = True

    def _shifted(self, x: Tensor) -> Tensor:
        left = arange(x.shape[-1], 0, -1, dtype=x.dtype, device=x.device)
        return x - left.log()

    def _call(self, x: Tensor) -> Tensor:
        part = self._shifted(x).sigmoid()
        left = (1 - part).cumprod(-1)
        return pad(part, [0, 1], value=1.0) * pad(left, [1, 0], value=1.0)

    def _inverse(self, y: Tensor) -> Tensor:
        taken = y[..., :-1]
        left = (1 - cumsum(taken, -1)).clamp(min=finfo(y.dtype).tiny)
        count = arange(taken.shape[-1], 0, -1, dtype=y.dtype, device=y.device)
        return taken.log() - left.log() + count.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        # dy_i/dx_i = y_i (1 - part_i), and the matrix is triangular.
        return (logsigmoid(-self._shifted(x)) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self._check(shape)[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self._check(shape)[:-1] + (shape[-1] - 1,)


class LowerCholeskyTransform(_Unparametrized):
    """The lower triangle of a matrix, with the exponential of its diagonal."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(0, -2, -1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(0, -2, -1).log().diag_embed()


class PositiveDefiniteTransform(_Unparametrized):
    """L L^T, where L is the LowerCholeskyTransform of a matrix."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        from ._triangles import cholesky

        return LowerCholeskyTransform().inv(cholesky(y))


class CorrCholeskyTransform(_OfVectors):
    """[..., n (n - 1) / 2] to the Cholesky factors of correlation matrices, [..., n, n].

    The elements' tanh are canonical partial correlations, from which each row is broken like a
    stick; see Lewandowski, Kurowicka, Joe 2009.
    """

    domain, codomain = constraints.real_vector, constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = finfo(x.dtype).eps
        partial = vec_to_tril_matrix(x.tanh().clamp(min=eps - 1, max=1 - eps), diag=-1)
        left = (1 - partial.square()).sqrt().cumprod(-1)
        unit = eye(partial.shape[-1], dtype=x.dtype, device=x.device)
        return (partial + unit) * pad(left[..., :-1], [1, 0], value=1.0)

    def _left(self, y: Tensor) -> Tensor:
        """1 minus the squares of each row up to there."""
        return 1 - cumsum(y.square(), -1)

    def _inverse(self, y: Tensor) -> Tensor:
        before = pad(self._left(y)[..., :-1], [1, 0], value=1.0)
        return (tril_matrix_to_vec(y, -1) / tril_matrix_to_vec(before, -1).sqrt()).atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        rows = self._left(y)
        stick = 0.5 * (tril_matrix_to_vec(rows, -2).log().sum(-1) if y.shape[-1] > 2 else 0.0)
        return stick - 2 * (x + softplus(-2 * x) - math.log(2)).sum(-1)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        k = self._check(shape)[-1]
        n = round((1 + math.sqrt(1 + 8 * k)) / 2)
        if n * (n - 1) // 2 != k:
            raise ValueError(f"CorrCholeskyTransform: the last size is {k}, wanted n (n - 1) / 2")
        return shape[:-1] + (n, n)

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        *_, rows, columns = self._check(shape, 2)
        if rows != columns:
            raise ValueError(f"CorrCholeskyTransform: shape is {list(shape)}, wanted [..., n, n]")
        return shape[:-2] + (rows * (rows - 1) // 2,)

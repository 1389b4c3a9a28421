# SPDX-License-Identifier: Apache-2.0
"""The base of all transforms, their inverses, and chains of them."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import copy
import weakref
from collections.abc import Sequence
from typing import Any

from .. import zeros_like
from .._C import Tensor
from . import constraints


def sum_last(value: Tensor, dims: int) -> Tensor:
    """The sum over that many last dimensions."""
    return value.flatten(value.ndim - dims).sum(-1) if dims else value


def with_events(constraint: Any, event_dim: int) -> Any:
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

    domain: Any
    codomain: Any
    bijective: Any = False

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
    def inv(self) -> Any:
        """The inverse transform."""
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = _InverseTransform(self)
            self._inv = weakref.ref(inverse)
        return inverse

    @property
    def sign(self) -> Any:
        """1 if it is increasing, -1 if decreasing; for scalar bijections."""
        raise NotImplementedError(f"{type(self).__name__} has no sign")

    def with_cache(self, cache_size: int = 1) -> Any:
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

    def forward_shape(self, shape: Any) -> Any:
        """The shape of y for that of x."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
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
    def domain(self) -> Any:
        return self._inv.codomain

    @property
    def codomain(self) -> Any:
        return self._inv.domain

    @property
    def bijective(self) -> Any:
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        return self._inv.sign

    @property
    def inv(self) -> Any:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Any:
        return self.inv.with_cache(cache_size).inv

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)

    def _inv_call(self, y: Tensor) -> Tensor:
        return self._inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
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
    def domain(self) -> Any:
        if not self.parts:
            return constraints.real
        dims = 0
        for part in reversed(self.parts):
            dims = max(dims, part.codomain.event_dim)
            dims += part.domain.event_dim - part.codomain.event_dim
        return with_events(self.parts[0].domain, dims)

    @property
    def codomain(self) -> Any:
        if not self.parts:
            return constraints.real
        dims = 0
        for part in self.parts:
            dims = max(dims, part.domain.event_dim)
            dims += part.codomain.event_dim - part.domain.event_dim
        return with_events(self.parts[-1].codomain, dims)

    @property
    def bijective(self) -> Any:
        return all(p.bijective for p in self.parts)

    @property
    def sign(self) -> Any:
        sign = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    @property
    def inv(self) -> Any:
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = ComposeTransform([p.inv for p in reversed(self.parts)])
            self._inv = weakref.ref(inverse)
            inverse._inv = weakref.ref(self)
        return inverse

    def with_cache(self, cache_size: int = 1) -> Any:
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

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        inside = ",\n    ".join(map(repr, self.parts))
        return f"ComposeTransform(\n    {inside}\n)"

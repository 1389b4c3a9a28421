# SPDX-License-Identifier: Apache-2.0
"""torch._foreach_add and its kin: one operator for lists of tensors, which optimizers call.

Each tensor of the first list is one call of the operator of that name. The results are a tuple; a
function that ends in _ writes in place and returns its list. Partners are one number or 0-d tensor
for all, or a list of numbers or tensors, one for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ._C import Tensor
from ._types import DtypeLike

if TYPE_CHECKING:
    from ._types import Number

_UNARY = (
    "abs",
    "acos",
    "asin",
    "atan",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "expm1",
    "floor",
    "frac",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "neg",
    "reciprocal",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
)
_BINARY = ("clamp_max", "clamp_min", "div", "maximum", "minimum", "mul", "pow")
# Methods of two tensors only, or that have no form in place.
_SPELLED = {"maximum": "clamp_min", "minimum": "clamp_max"}
_PARTNERS = ("other", "scalar", "scalars", "tensor", "exponent")


def _listed(function: str, tensors: Sequence[Tensor], name: str = "self") -> list[Tensor]:
    if not isinstance(tensors, list | tuple):
        kind = type(tensors).__name__
        raise TypeError(f"{function}: {name} is a {kind}, wanted a list or tuple of tensors")
    if not tensors:
        raise RuntimeError(f"{function}: {name} is empty, wanted at least one tensor")
    for i, x in enumerate(tensors):
        if not isinstance(x, Tensor):
            kind = type(x).__name__
            raise TypeError(f"{function}: {name}[{i}] is a {kind}, wanted a tensor")
    return list(tensors)


def _each(function: str, partner: object, count: int, name: str) -> Sequence[Any]:
    """The partner of each of count tensors."""
    if not isinstance(partner, list | tuple):
        if isinstance(partner, Tensor) and partner.dim():
            shape = list(partner.shape)
            raise RuntimeError(
                f"{function}: {name} has shape {shape}, wanted a 0-d tensor or a list"
            )
        return [partner] * count
    if len(partner) != count:
        raise RuntimeError(f"{function}: {name} has {len(partner)} elements, wanted {count}")
    if any(isinstance(y, Tensor) for y in partner):
        _listed(function, partner, name)
    return partner


def _finish(tensors: Sequence[Tensor], results: Iterator[Any], in_place: bool) -> Sequence[Tensor]:
    done = tuple(results)
    return tensors if in_place else done


def _unary(name: str, in_place: bool) -> Callable[..., Any]:
    method, function = name + "_" * in_place, f"_foreach_{name}{'_' * in_place}"

    def call(self: Sequence[Tensor]) -> Sequence[Tensor]:
        listed = _listed(function, self)
        return _finish(self, (getattr(x, method)() for x in listed), in_place)

    return call


def _binary(name: str, in_place: bool, scaled: bool = False) -> Callable[..., Any]:
    method = _SPELLED.get(name, name) + "_" * in_place
    function = f"_foreach_{name}{'_' * in_place}"

    def call(self: Any, *others: Any, alpha: Any = 1, **named: Any) -> Sequence[Tensor]:
        arguments = [*others, *(named.pop(key) for key in _PARTNERS if key in named)]
        if named or len(arguments) != 1 or (alpha != 1 and not scaled):
            raise TypeError(f"{function}: wanted a list of tensors and one partner, other")
        extra = {} if alpha == 1 else {"alpha": alpha}
        if name == "pow" and not in_place and not isinstance(self, list | tuple):
            listed = _listed(function, arguments[0], "exponent")
            return tuple(self**y for y in listed)
        listed = _listed(function, self)
        pairs = zip(listed, _each(function, arguments[0], len(listed), "other"), strict=True)
        return _finish(self, (getattr(x, method)(y, **extra) for x, y in pairs), in_place)

    return call


def _ternary(name: str, in_place: bool) -> Callable[..., Any]:
    method, function = name + "_" * in_place, f"_foreach_{name}{'_' * in_place}"

    def call(
        self: Sequence[Tensor],
        tensor1: Sequence[Tensor],
        tensor2: Sequence[Tensor],
        value: Number | Sequence[Number] | Tensor = 1,
        *,
        scalars: Sequence[Number] | Tensor | None = None,
    ) -> Sequence[Tensor]:
        listed = _listed(function, self)
        factors = value if scalars is None else scalars
        if isinstance(factors, Tensor):
            factors = factors.tolist()
        rows = zip(
            listed,
            _each(function, _listed(function, tensor1, "tensor1"), len(listed), "tensor1"),
            _each(function, _listed(function, tensor2, "tensor2"), len(listed), "tensor2"),
            _each(function, factors, len(listed), "value"),
            strict=True,
        )
        return _finish(self, (getattr(x, method)(y, z, value=v) for x, y, z, v in rows), in_place)

    return call


def _lerp(in_place: bool) -> Callable[..., Any]:
    method, function = "lerp" + "_" * in_place, f"_foreach_lerp{'_' * in_place}"

    def call(
        self: Sequence[Tensor],
        tensors1: Sequence[Tensor],
        weight: Number | Sequence[Tensor] | Sequence[Number] | None = None,
        *,
        weights: Number | Sequence[Tensor] | Sequence[Number] | None = None,
    ) -> Sequence[Tensor]:
        listed, weight = _listed(function, self), weights if weight is None else weight
        rows = zip(
            listed,
            _each(function, _listed(function, tensors1, "tensors1"), len(listed), "tensors1"),
            _each(function, weight, len(listed), "weight"),
            strict=True,
        )
        return _finish(self, (getattr(x, method)(y, w) for x, y, w in rows), in_place)

    return call


def _foreach_norm(
    self: Sequence[Tensor], ord: float = 2, dtype: DtypeLike | None = None
) -> tuple[Tensor, ...]:
    from .linalg import vector_norm

    return tuple(vector_norm(x, ord, dtype=dtype) for x in _listed("_foreach_norm", self))


def _foreach_max(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    return tuple(x.max() for x in _listed("_foreach_max", self))


def _foreach_clone(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    return tuple(x.clone() for x in _listed("_foreach_clone", self))


def _foreach_zero_(self: Sequence[Tensor]) -> Sequence[Tensor]:
    return _finish(self, (x.zero_() for x in _listed("_foreach_zero_", self)), True)


def _foreach_copy_(
    self: Sequence[Tensor], src: Sequence[Tensor], non_blocking: bool = False
) -> Sequence[Tensor]:
    listed, sources = _listed("_foreach_copy_", self), _listed("_foreach_copy_", src, "src")
    pairs = zip(listed, _each("_foreach_copy_", sources, len(listed), "src"), strict=True)
    return _finish(self, (x.copy_(y, non_blocking) for x, y in pairs), True)


def _make() -> None:
    for in_place in (False, True):
        functions = {name: _unary(name, in_place) for name in _UNARY}
        functions |= {name: _binary(name, in_place) for name in _BINARY}
        functions |= {name: _binary(name, in_place, scaled=True) for name in ("add", "sub")}
        functions |= {name: _ternary(name, in_place) for name in ("addcdiv", "addcmul")}
        functions["lerp"] = _lerp(in_place)
        for name, function in functions.items():
            function.__name__ = function.__qualname__ = f"_foreach_{name}{'_' * in_place}"
            globals()[function.__name__] = function


_make()

# SPDX-License-Identifier: Apache-2.0
"""The rules by which operators compute a batch, and what rules have in common."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import _functions as F
from .._C import Tensor
from .._levels import Level, batched, spread, value_at
from .._overrides import DisableTorchFunction

Rule = Callable[["Call"], Any]
RULES: dict[str, Rule] = {}


class Call(NamedTuple):
    """One call that a level sees."""

    level: Level
    func: Callable[..., Any]
    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    seen: Callable[[], Any]  # a context in which the level sees what a rule calls

    @property
    def is_batched(self) -> bool:
        """Whether an argument is batched in this level."""
        return any_batched(self.level, self.args) or any_batched(self.level, self.kwargs.values())

    @property
    def writes(self) -> bool:
        """Whether the first argument is written."""
        return self.name == "__setitem__" or (
            self.name.endswith("_") and not self.name.endswith("__")
        ) or self.name in _WRITING  # fmt: skip

    def value(self, x: Any) -> Tensor | None:
        return value_at(x, self.level)

    def wrapped(self, answer: Any) -> Any:
        """Values as batched tensors, also in tuples."""
        if isinstance(answer, Tensor):
            return batched(answer, self.level)
        if isinstance(answer, (tuple, list)):
            made = [self.wrapped(item) for item in answer]
            return type(answer)(*made) if hasattr(answer, "_fields") else type(answer)(made)
        return answer

    def named(self) -> dict[str, Any]:
        """The arguments by name, without the defaults; sizes that may stand alone as a tuple."""
        signature = _signature(self.func)
        if signature is None:  # a method of C's: sizes
            return {"input": self.args[0], "sizes": self.args[1:], **self.kwargs}
        arguments = dict(signature.bind(*self.args, **self.kwargs).arguments)
        return {
            "input" if i == 0 and name in _FIRST else name.rstrip("_"): value
            for i, (name, value) in enumerate(arguments.items())
        }

    def unwritable(self) -> RuntimeError:
        return RuntimeError(
            f"vmap: {self.name} in place is not possible: an argument is mapped over and has more "
            "elements than self, which is not; make self of something mapped over, as by new_zeros, "
            "or use the form that is not in place"
        )


_FIRST = {"self", "tensor", "tensors", "x"}
_WRITING = {"__iand__", "__ior__", "__ixor__", "__ipow__", "__ilshift__", "__irshift__"}


@functools.lru_cache(maxsize=1024)
def _signature(func: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(func)
    except ValueError:
        return None


def any_batched(level: Level, values: Any) -> bool:
    return any(
        value_at(x, level) is not None
        or (isinstance(x, (tuple, list)) and any_batched(level, x))
        or (isinstance(x, dict) and any_batched(level, x.values()))
        for x in values
    )


def rule(*names: str) -> Callable[[Rule], Rule]:
    """The rule of these operators."""

    def enter(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return enter


def ranked(value: Tensor, rank: int) -> Tensor:
    """Values of samples that get leading dimensions of size 1, up to the rank."""
    missing = rank - (value.ndim - 1)
    return value.view(value.shape[0], *[1] * missing, *value.shape[1:]) if missing > 0 else value


# -- elementwise -----------------------------------------------------------------------------------

_UNARY = (
    "abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan "
    "atanh bitwise_not ceil clamp clip conj conj_physical cos cosh deg2rad digamma erf erfc erfinv "
    "exp exp2 expm1 fix floor frac frexp i0 imag isfinite isinf isnan isneginf isposinf isreal "
    "lgamma log log10 log1p log2 logical_not logit mvlgamma nan_to_num neg negative positive "
    "polygamma rad2deg real reciprocal round rsqrt sgn sigmoid sign signbit sin sinc sinh sqrt "
    "square tan tanh trunc clone detach zeros_like ones_like full_like empty_like celu elu gelu "
    "hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu relu6 selu silu "
    "softplus softshrink softsign tanhshrink threshold contiguous "
    "to type float double half bfloat16 int long short char byte bool cfloat cdouble cpu cuda "
    "type_as requires_grad_ detach_ zero_ fill_ data.__get__ real.__get__ "
    "imag.__get__ __abs__ __neg__ __invert__ __pos__ "
    "special_ndtr special_ndtri special_log_ndtr special_erfcx i0e i1 i1e ndtr ndtri log_ndtr "
    "erfcx entr xlog1py view_as_real view_as_complex fill retain_grad resolve_conj resolve_neg"
).split()
_BINARY = (
    "add sub subtract mul multiply div divide true_divide floor_divide remainder fmod pow "
    "float_power atan2 arctan2 maximum minimum fmax fmin eq ne lt le gt ge greater greater_equal "
    "less less_equal not_equal logical_and logical_or logical_xor bitwise_and bitwise_or "
    "bitwise_xor bitwise_left_shift bitwise_right_shift hypot copysign nextafter heaviside gcd lcm "
    "ldexp logaddexp logaddexp2 xlogy rsub lerp addcmul addcdiv where masked_fill isclose copy "
    "igamma igammac zeta polar complex __radd__ __rsub__ __rmul__ __rtruediv__ __rfloordiv__ "
    "__rmod__ __pow__ __rpow__ __eq__ __ne__ __and__ __or__ __xor__ __rand__ __ror__ __rxor__ "
    "__lshift__ __rshift__ __rlshift__ __rrshift__ __floordiv__ __iand__ __ior__ __ixor__ "
    "__ipow__ __ilshift__ __irshift__ __rdiv__"
).split()
_WRITTEN = [name + "_" for name in _UNARY + _BINARY if "_" not in name[-1:] and "." not in name]


@rule(*_UNARY, *_BINARY, *_WRITTEN)
def elementwise(call: Call) -> Any:
    """Samples are aligned at their last dimensions, as broadcasting wants them."""
    if call.kwargs.get("out") is not None:
        return NotImplemented
    tensors = [x for x in (*call.args, *call.kwargs.values()) if isinstance(x, Tensor)]
    rank = max(x.ndim for x in tensors)
    if call.writes:
        if call.value(call.args[0]) is None:
            raise call.unwritable()
        rank = max(rank, call.args[0].ndim)
        if call.name == "fill_" and any_batched(call.level, call.args[1:]):
            call.args[0].value.copy_(ranked(call.args[1].value, rank))
            return call.args[0]
    common = _common(tensors) if len(tensors) > 1 else None

    def aligned(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return x
        value = call.value(x)
        if value is None:
            return x.reshape(1) if x.ndim == rank == 0 else x
        if x.ndim == 0 < rank and common is not None and x.dtype.is_floating_point:
            value = value.to(common)  # a number by itself does not promote
        return ranked(value, rank) if len(tensors) > 1 else value

    args = tuple(aligned(x) for x in call.args)
    kwargs = {name: aligned(x) for name, x in call.kwargs.items()}
    answer = call.func(*args, **kwargs)
    return call.args[0] if call.writes else call.wrapped(answer)


def _common(tensors: list[Tensor]) -> Any:
    """The dtype of a result, if numbers among the tensors have another."""
    with DisableTorchFunction():
        wide = [x for x in tensors if x.ndim > 0 and x.dtype.is_floating_point]
        return wide[0].dtype if wide else None


# -- over dimensions -------------------------------------------------------------------------------

# The default of dim: "all", or the dimension.
_OVER: dict[str, Any] = {
    **dict.fromkeys(
        "sum nansum mean nanmean prod amax amin aminmax all any argmax argmin median nanmedian std "
        "var std_mean var_mean norm count_nonzero max min logsumexp".split(), "all"
    ),
    **dict.fromkeys(
        "softmax log_softmax softmin cumsum cumprod cummax cummin logcumsumexp flip".split(),
        "required",
    ),
    **dict.fromkeys("sort argsort topk kthvalue mode diff".split(), -1),
    **dict.fromkeys("glu".split(), -1),
}  # fmt: skip


@rule(*_OVER)
def over(call: Call) -> Any:
    """A reduction, or what works along a dimension: the batch is one more in front."""
    given = call.named()
    x = given.pop("input")
    value = call.value(x)
    if value is None or given.get("out") is not None or any_batched(call.level, given.values()):
        return _other_operand(call)
    if isinstance(given.get("dim"), Tensor) or given.get("other") is not None:
        return _other_operand(call)
    axis = given.pop("axis", None)
    dim = given.pop("dim", given.pop("dims", axis))
    if (keepdims := given.pop("keepdims", None)) is not None:
        given["keepdim"] = keepdims
    default = _OVER[call.name]
    if dim is None and default == "all":
        return call.wrapped(_over_all(call, value, given))
    if dim is None:
        if default == "required":
            return NotImplemented
        dim = default
    if x.ndim == 0:
        answer = call.func(value.unsqueeze(1), dim=shifted(dim, 1), **given)
        return call.wrapped(_each(answer, lambda y: y.squeeze(1) if y.ndim > 1 else y))
    if call.name == "flip":
        while isinstance(dim, tuple) and len(dim) == 1 and isinstance(dim[0], (tuple, list)):
            dim = tuple(dim[0])
        return call.wrapped(value.flip(shifted(dim, x.ndim)))
    return call.wrapped(call.func(value, dim=shifted(dim, x.ndim), **given))


def _other_operand(call: Call) -> Any:
    return elementwise(call) if call.name in ("max", "min") else NotImplemented


def _over_all(call: Call, value: Tensor, given: dict[str, Any]) -> Any:
    keep = given.pop("keepdim", False)
    flat = value.flatten(1) if value.ndim > 1 else value.unsqueeze(1)
    func = {"max": F.amax, "min": F.amin}.get(call.name, call.func)
    answer = func(flat, dim=1, **given)
    if call.name in ("median", "nanmedian"):
        answer = answer[0]
    ones = [1] * (value.ndim - 1)
    return _each(answer, lambda y: y.view(y.shape[0], *ones)) if keep else answer


def _each(answer: Any, change: Callable[[Tensor], Tensor]) -> Any:
    return change(answer) if isinstance(answer, Tensor) else type(answer)(map(change, answer)) if (
        not hasattr(answer, "_fields")) else type(answer)(*map(change, answer))  # fmt: skip


def shifted(dim: Any, rank: int) -> Any:
    """A sample's dimension, or several, as dimensions of the values."""
    if isinstance(dim, (tuple, list)):
        return tuple(shifted(d, rank) for d in dim)
    if not -max(rank, 1) <= dim < max(rank, 1):
        raise IndexError(f"dimension {dim} is out of range for a tensor of {rank} dimensions")
    return dim % max(rank, 1) + 1


from . import (  # noqa: E402
    _rules_calls as _rules_calls, _rules_layers as _rules_layers, _rules_shapes as _rules_shapes,
)  # fmt: skip

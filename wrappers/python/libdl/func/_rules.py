# SPDX-License-Identifier: Apache-2.0
"""The rules by which operators compute a batch, and what rules have in common."""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from .. import _functions as F
from .._C import Tensor
from .._kinds import ELEMENTWISE
from .._vmap_levels import Level, Open, batched, needs_loop, value_at
from .._types import bfloat16, dtype as Dtype, float16, float32, promote_types

if TYPE_CHECKING:
    from types import NotImplementedType

# Tensors, or what holds them; None of what only writes; NotImplemented leaves the call to a loop.
Answer: TypeAlias = "Tensor | tuple[Any, ...] | list[Any] | NotImplementedType | None"
Rule = Callable[["Call"], Answer]
T = TypeVar("T")
RULES: dict[str, Rule] = {}
DRAWING: set[str] = set()  # what may draw random numbers, and asks the level by itself


class Call(NamedTuple):
    """One call that a level sees."""

    level: Level
    func: Callable[..., Any]
    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    around: tuple[Any, Any]  # what OPEN held when the operator was called

    def seen(self) -> Open:
        """A block in which the level sees what a rule calls."""
        return Open(*self.around)

    @property
    def is_batched(self) -> bool:
        """Whether an argument is batched in this level."""
        return any_batched(self.level, self.args) or any_batched(self.level, self.kwargs.values())

    @property
    def writes(self) -> bool:
        """Whether the first argument is written."""
        return (
            self.name == "__setitem__"
            or (self.name.endswith("_") and not self.name.endswith("__"))
            or self.name in _WRITING
        )

    def value(self, x: object) -> Tensor | None:
        return value_at(x, self.level)

    def wrapped(self, answer: T) -> T:
        """Values as batched tensors, also in tuples."""
        if isinstance(answer, Tensor):
            return batched(answer, self.level)  # type: ignore[return-value]
        if isinstance(answer, (tuple, list)):
            results = [self.wrapped(item) for item in answer]
            kind: Any = type(answer)
            return kind(*results) if hasattr(answer, "_fields") else kind(results)
        return answer

    def named(self) -> dict[str, Any]:
        return named(self.name, self.func, self.args, self.kwargs)

    def unwritable(self) -> RuntimeError:
        return needs_loop(
            f"vmap: {self.name} in place is not possible: an argument is mapped over and has more "
            "elements than self, which is not; make self of something mapped over, as by "
            "new_zeros, or use the form that is not in place"
        )


def named(name: str, func: Callable[..., Any], args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments by name, without the defaults; sizes that may stand alone as a tuple."""
    signature = _signature(func)
    if signature is not None and "arguments" in signature.parameters and name[-1] == "_":
        signature = _signature(getattr(F, name[:-1]))  # made by _out.in_place
    if signature is None:  # a method of C's: sizes
        return {"input": args[0], "sizes": args[1:], **kwargs}
    arguments = dict(signature.bind(*args, **kwargs).arguments)
    return {
        "input" if i == 0 and key in _FIRST else key.rstrip("_"): value
        for i, (key, value) in enumerate(arguments.items())
    }


_FIRST = {"self", "tensor", "tensors", "x"}
_WRITING = {"__iand__", "__ior__", "__ixor__", "__ipow__", "__ilshift__", "__irshift__"}


@functools.lru_cache(maxsize=1024)
def _signature(func: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(func)
    except ValueError:
        return None


def any_batched(level: Level, values: Iterable[Any]) -> bool:
    return any(
        value_at(x, level) is not None
        or (isinstance(x, (tuple, list)) and any_batched(level, x))
        or (isinstance(x, dict) and any_batched(level, x.values()))
        for x in values
    )


def drawing(*names: str) -> Callable[[Rule], Rule]:
    """The rule of these operators, which may draw random numbers."""

    def enter(function: Rule) -> Rule:
        function.draws = True  # type: ignore[attr-defined]
        DRAWING.update(names)
        return rule(*names)(function)

    return enter


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

# What is elementwise and no operator of the headers: methods, and what Python composes.
_COMPOSED = (
    "frexp imag positive real clone detach zeros_like ones_like full_like empty_like "
    "contiguous type float double half bfloat16 int long short char "
    "byte bool cfloat cdouble cpu cuda requires_grad_ detach_ zero_ __abs__ __neg__ __invert__ "
    "__pos__ special_ndtr special_ndtri special_log_ndtr special_erfcx entr view_as_real "
    "view_as_complex retain_grad resolve_conj resolve_neg rsub copy zeta __radd__ "
    "__rsub__ __rmul__ __rtruediv__ __rfloordiv__ __rmod__ __pow__ __rpow__ __eq__ __ne__ __and__ "
    "__or__ __xor__ __rand__ __ror__ __rxor__ __lshift__ __rshift__ __rlshift__ __rrshift__ "
    "__floordiv__ __iand__ __ior__ __ixor__ __ipow__ __ilshift__ __irshift__ __rdiv__"
).split()
_ELEMENTWISE = (*ELEMENTWISE, *_COMPOSED)
_WRITTEN = [name + "_" for name in _ELEMENTWISE if name[-1] != "_" and "." not in name]


@rule(*_ELEMENTWISE, *_WRITTEN)
def elementwise(call: Call) -> Answer:
    """Samples are aligned at their last dimensions, as broadcasting wants them."""
    if call.kwargs.get("out") is not None:
        return NotImplemented
    if call.name == "where" and len(call.args) + len(call.kwargs) == 1:
        return RULES["nonzero"](call)
    tensors = [x for x in (*call.args, *call.kwargs.values()) if isinstance(x, Tensor)]
    rank = max(x.ndim for x in tensors)
    if call.writes:
        if call.value(call.args[0]) is None:
            raise call.unwritable()
        rank = max(rank, call.args[0].ndim)
    wide, common = _common(call, tensors) if len(tensors) > 1 else (True, None)

    def aligned(x: object) -> Any:
        if not isinstance(x, Tensor):
            return x
        value = call.value(x)
        if value is None:
            return x if wide or x.ndim else x.reshape(1)
        if x.ndim == 0 < rank and common is not None:
            value = value.to(_weakened(x.dtype, common))  # a number by itself does not promote
        return ranked(value, rank) if len(tensors) > 1 else value

    args = tuple(aligned(x) for x in call.args)
    kwargs = {name: aligned(x) for name, x in call.kwargs.items()}
    answer = call.func(*args, **kwargs)
    if call.writes:
        return call.args[0]
    if common in _HALVES and isinstance(answer, Tensor) and answer.dtype is float32:
        answer = answer.to(common)
    return call.wrapped(answer)


_HALVES = (float16, bfloat16)


def _common(call: Call, tensors: list[Tensor]) -> tuple[bool, Any]:
    """Whether an operand has dimensions, and if there are 0-d ones beside, the dtype that those
    with dimensions have in common."""
    condition = call.name == "where" and bool(call.args) and call.args[0] is tensors[0]
    operands = tensors[1:] if condition else tensors
    wide = [x.dtype for x in operands if x.ndim > 0]
    if not wide or len(wide) == len(operands):
        return bool(wide), None
    return True, functools.reduce(promote_types, wide)


def _category(dtype: Dtype) -> int:
    return 3 if dtype.is_complex else 2 if dtype.is_floating_point else int(dtype.name != "bool")


def _weakened(own: Dtype, common: Dtype) -> Dtype:
    """What a 0-d tensor of the dtype is among tensors with dimensions that have the common one."""
    if _category(own) == _category(common):
        # In 16 bits operators compute with all digits of the number, and round the result.
        return float32 if common in _HALVES and own not in _HALVES else common
    if own.is_floating_point and common.is_complex:
        return common.to_real()
    return own


@rule("type_as", "to")
def as_other(call: Call) -> Answer:
    """As another tensor: of that the dtype and device alone count."""
    x, *rest = call.args
    other = rest[0] if rest else call.kwargs.get("other")
    if not isinstance(other, Tensor):
        return elementwise(call)
    with call.seen():
        return x.to(other.device, other.dtype)


@rule("masked_fill", "masked_fill_", "fill", "fill_")
def filled(call: Call) -> Answer:
    """The number that fills may be another one for each sample."""
    arguments = call.named()
    x, number = arguments["input"], arguments["value"]
    if not isinstance(number, Tensor) or call.kwargs.get("out") is not None:
        return elementwise(call)
    if number.ndim:
        raise RuntimeError(
            f"{call.name}: value has {number.ndim} dimensions, wanted a 0-d tensor or a number"
        )
    if call.writes and call.value(x) is None:
        raise call.unwritable()
    with call.seen():
        number = number.to(x.dtype)
        if "mask" in arguments:
            y = F.where(arguments["mask"], number, x)
        else:
            y = number.expand(x.shape).clone()
        return x.copy_(y) if call.writes else y


# -- over dimensions -------------------------------------------------------------------------------

# The default of dim: "all", or the dimension.
_OVER: dict[str, Any] = {
    **dict.fromkeys(
        "sum nansum mean nanmean prod amax amin aminmax all any argmax argmin median nanmedian std "
        "var std_mean var_mean norm count_nonzero max min logsumexp".split(),
        "all",
    ),
    **dict.fromkeys(
        "softmax log_softmax softmin cumsum cumprod cummax cummin logcumsumexp flip".split(),
        "required",
    ),
    **dict.fromkeys("sort argsort topk kthvalue mode".split(), -1),
    **dict.fromkeys("glu".split(), -1),
}


@rule(*_OVER)
def over(call: Call) -> Answer:
    """A reduction, or what works along a dimension: the batch is one more in front."""
    arguments = call.named()
    x = arguments.pop("input")
    value = call.value(x)
    if (
        value is None
        or arguments.get("out") is not None
        or any_batched(call.level, arguments.values())
    ):
        return _other_operand(call)
    if isinstance(arguments.get("dim"), Tensor) or arguments.get("other") is not None:
        return _other_operand(call)
    if arguments.get("p") == "nuc" or arguments.get("ord") is not None:
        return NotImplemented
    axis = arguments.pop("axis", None)
    dim = arguments.pop("dim", arguments.pop("dims", axis))
    if isinstance(dim, bool):  # std(unbiased)
        dim = arguments.update(correction=int(dim))
    if (keepdims := arguments.pop("keepdims", None)) is not None:
        arguments["keepdim"] = keepdims
    default = _OVER[call.name]
    if (
        isinstance(dim, (tuple, list))
        and not dim
        and default == "all"
        and (_reduces_all(call, x, arguments))
    ):
        dim = None
    if dim is None and default == "all":
        return call.wrapped(_over_all(call, value, arguments))
    if dim is None:
        if default == "required":
            return NotImplemented
        dim = default
    if x.ndim == 0:
        answer = call.func(value.unsqueeze(1), dim=shifted(dim, 1), **arguments)
        return call.wrapped(_each(answer, lambda y: y.squeeze(1) if y.ndim > 1 else y))
    if call.name == "flip":
        while isinstance(dim, tuple) and len(dim) == 1 and isinstance(dim[0], (tuple, list)):
            dim = tuple(dim[0])
        return call.wrapped(value.flip(shifted(dim, x.ndim)))
    return call.wrapped(call.func(value, dim=shifted(dim, x.ndim), **arguments))


def _reduces_all(call: Call, x: Tensor, values: dict[str, Any]) -> bool:
    """Whether no dimensions mean all of them; some reductions then reduce none."""
    probe = F.ones([1] * x.ndim, dtype=x.dtype)
    options = {name: False if name == "keepdim" else option for name, option in values.items()}
    answer = call.func(probe, dim=(), **options)
    return x.ndim == 0 or (answer if isinstance(answer, Tensor) else answer[0]).ndim == 0


def _other_operand(call: Call) -> Answer:
    return elementwise(call) if call.name in ("max", "min") else NotImplemented


def _over_all(call: Call, value: Tensor, values: dict[str, Any]) -> Answer:
    keep = values.pop("keepdim", False)
    flat = value.flatten(1) if value.ndim > 1 else value.unsqueeze(1)
    func = {"max": F.amax, "min": F.amin}.get(call.name, call.func)
    answer = func(flat, dim=1, **values)
    if call.name in ("median", "nanmedian"):
        answer = answer[0]
    ones = [1] * (value.ndim - 1)
    return _each(answer, lambda y: y.view(y.shape[0], *ones)) if keep else answer


def _each(answer: Any, change: Callable[[Tensor], Tensor]) -> Any:
    return (
        change(answer)
        if isinstance(answer, Tensor)
        else type(answer)(map(change, answer))
        if (not hasattr(answer, "_fields"))
        else type(answer)(*map(change, answer))
    )


def shifted(dim: Any, rank: int) -> Any:
    """A sample's dimension, or several, as dimensions of the values."""
    if isinstance(dim, (tuple, list)):
        return tuple(shifted(d, rank) for d in dim)
    if not -max(rank, 1) <= dim < max(rank, 1):
        raise IndexError(f"dimension {dim} is out of range for a tensor of {rank} dimensions")
    return dim % max(rank, 1) + 1

# SPDX-License-Identifier: Apache-2.0
"""What an operator does with batched tensors: its rule, its parts, or one sample after another."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from .. import _functions as F, _methods, _relays, _slots
from .._C import Tensor
from .._kinds import COMPOSED
from .._vmap_levels import HANDLER, OPEN, Batched, Level, Open
from .._overrides import DRAWN, disabled
from ..utils import _pytree as pytree
from . import _rules_layers as _rules_layers  # the rules of layers
from ._composed import run_composed
from ._one_by_one import may_draw, one_by_one
from ._rules import DRAWING, RULES, Call
from ._rules_calls import draws
from ._rules_shapes import RESHAPING

_GENERATED = {F.__file__, _methods.__file__}
# Composed, but of operators that do not know all arguments of their parts' classes.
_WHOLE = {"lstm", "gru", "rnn_tanh", "rnn_relu", "batch_norm", "instance_norm",
          "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
          "fractional_max_pool3d_with_indices"}  # fmt: skip
# Questions that the stand-in answers for every sample.
_METADATA = {
    "__len__", "dim", "element_size", "get_device", "is_complex", "is_contiguous", "is_conj",
    "is_floating_point", "is_inference", "is_neg", "is_pinned", "is_same_size", "is_shared",
    "is_signed", "ndimension", "nelement", "numel", "result_type", "size", "stride",
}  # fmt: skip
_GEOMETRY = {"shape", "dtype", "device", "ndim"}


def _innermost(found: Level | None, values: Any) -> Level | None:
    """The innermost level among those of the values and the one found before."""
    for x in values:
        kind = type(x)
        if kind is Batched:
            level = x.__dict__["level"]
            if found is None or level.number > found.number or not level.is_open:
                found = level
        elif kind is tuple or kind is list:
            found = _innermost(found, x)
        elif kind is dict:
            found = _innermost(found, x.values())
    return found


def _through_class(func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """An operator that was given a batched tensor."""
    level = _innermost(_innermost(None, args), kwargs.values())
    if level is None:  # deep inside an argument
        leaves = pytree.tree_leaves((args, kwargs))
        level = _innermost(None, leaves)
    assert level is not None
    name = name_of(func)
    if not level.is_open:
        raise RuntimeError(
            f"{name}: an argument is a tensor of a vmap that has ended; a function under "
            "vmap must return what is to be used outside"
        )
    if name in DRAWING and OPEN.levels:  # also for samples of the levels inside
        level = OPEN.levels[-1]
    return apply(level, func, name, args, kwargs)


HANDLER.append(_through_class)


def _through_generator(func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """An operator that takes a generator, and was given no batched tensor."""
    levels, inside = OPEN.levels, OPEN.inside
    if not levels and not inside:
        return NotImplemented
    if not draws(name_of(func), func, args, kwargs):
        levels = inside = ()
    if inside:  # it is a part of another operator
        level, how = inside[-1]
        may_draw(level, name_of(func), repeatable=how == "loop")
        with Open(levels, inside[:-1]):
            return func(*args, **kwargs)
    if levels:
        return apply(levels[-1], func, name_of(func), args, kwargs)
    with Open((), ()):
        return func(*args, **kwargs)


DRAWN.append(_through_generator)


def name_of(func: Callable[..., Any]) -> str:
    """The operator's name; of an attribute: "shape.__get__"."""
    if func in _NAMES:
        return _NAMES[func]
    name = getattr(func, "__name__", str(func))
    if name in ("__get__", "__set__"):
        own = func.__self__  # type: ignore[attr-defined]
        return f"{_ATTRIBUTES.get(own) or own.__name__}.{name}"
    return name


_ATTRIBUTES: dict[Any, str] = {}  # the names of properties, which do not know them
# Functions whose names are those of others: linalg.norm, whose arguments are not norm's, and
# special.gammainc, which is igamma.
_NAMES: dict[Any, str] = {}


def apply(level: Level, func: Callable[..., Any], name: str, args: Any, kwargs: Any) -> Any:
    """The call in one level. What it does with the values happens outside of that level."""
    levels, inside = OPEN.levels, OPEN.inside
    outer = levels[: level.number - 1]
    rule = RULES.get(name)
    if name in ("eq", "ne", "__eq__", "__ne__") and _is_no_operand(args):
        return "ne" in name
    call = Call(level, func, name, args, kwargs, (levels, inside))
    if rule is None and (name in _METADATA or name.endswith(".__get__")):
        with disabled():  # of a sample: its shape, dtype, device
            return func(*args, **kwargs)
    if rule is None and name.endswith(".__set__"):
        raise RuntimeError(f"vmap: {name.removesuffix('.__set__')} of a tensor that is mapped over "
                           "cannot be set")  # fmt: skip
    parts = _parts_of(func) if name not in _WHOLE else None
    if rule is None and parts is not None:
        return _run_parts(func, parts, args, kwargs)
    if rule is None or not getattr(rule, "draws", False):
        inside = (*inside, (level, "rule"))
    with Open(outer, inside):
        answer = NotImplemented if rule is None else rule(call)
    if answer is not NotImplemented or _answers_not(rule, call):
        return answer
    if parts is not None:
        return _run_parts(func, parts, args, kwargs)
    if name.removesuffix("_") in COMPOSED:
        return _composed(call)
    return one_by_one(call)


def _composed(call: Call) -> Any:
    """What is written takes the result of the form that makes a new tensor."""
    kwargs = dict(call.kwargs)
    out = kwargs.pop("out", None)
    func, written = call.func, call.args[0] if call.writes else out
    if call.writes:
        func = getattr(Tensor, call.name.removesuffix("_"))
    with call.seen():
        made = run_composed(func, call.args, kwargs)
        return made if written is None else written.copy_(made)


def _is_no_operand(args: Any) -> bool:
    """x == None, and the like."""
    return len(args) == 2 and (args[1] is None or isinstance(args[1], (str, bytes, type)))


def _answers_not(rule: Any, call: Call) -> bool:
    """Whether NotImplemented is the operator's own answer: to an operand that is none."""
    return bool(rule is not None and call.name.startswith("__") and len(call.args) == 2
                and not isinstance(call.args[1], (Tensor, int, float, complex)))  # fmt: skip


def _parts_of(func: Callable[..., Any]) -> Callable[..., Any] | None:
    """The body of a function that is composed of other operators in Python; None inside of it, where
    an operator of the same name calls for it."""
    relay = (getattr(func, "__kwdefaults__", None) or {}).get("_relay")
    if relay is None or relay.code.co_filename in _GENERATED or func in OPEN.parts:
        return None
    own: types.FunctionType = relay.own
    return own


def _run_parts(func: Callable[..., Any], parts: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    before = OPEN.parts
    OPEN.parts = (*before, func)
    try:
        return parts(*args, **kwargs)
    finally:
        OPEN.parts = before


def prepare() -> None:
    """What C and composed functions do by themselves goes to the class where it has a batched
    tensor. Once: functions with a rule then relay for ever."""
    for name, own in _slots.originals().items():
        stand_in = _slots._stand_ins[name]
        if name in _GEOMETRY or isinstance(stand_in, _slots._Operator):
            continue
        if isinstance(own, property):
            _ATTRIBUTES[own] = name
        attribute = isinstance(stand_in, _slots._Attribute)
        setattr(Batched, name, _attribute(own) if attribute else _reader(stand_in.shown))
    for relay in _relays.relays():
        name = relay.name.rpartition(".")[2]
        if relay.code.co_filename.endswith(_WITH_NAMES):
            name = _NAMES[relay.function] = relay.name
        elif relay.name.startswith("libdl.special."):
            name = _NAMES[relay.function] = relay.code.co_name
        own_file = relay.code.co_filename.rpartition("/")[2]
        composed = relay.code.co_filename not in _GENERATED and own_file not in _DIRECT
        if (composed and name in RULES) or name in RESHAPING:
            relay.keep(_may_draw if name in DRAWING else None)
    for name in _READING:
        setattr(Batched, name, _reader(getattr(Tensor, name)))


_WITH_NAMES = ("linalg.py", "_top_level.py")
# Slots for which C does not ask the class.
_READING = ("__bool__", "__float__", "__int__", "__index__", "__complex__", "__contains__")


def _reader(own: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(own)
    def read(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _through_class(own, (self, *args), kwargs)

    return read


def _attribute(own: Any) -> property:
    return property(
        lambda self: _through_class(own.__get__, (self,), {}),
        lambda self, value: _through_class(own.__set__, (self, value), {}),
    )


def _may_draw(func: Callable[..., Any]) -> bool:
    """Whether a level is to see a composed function that may draw, whatever its arguments."""
    return bool(OPEN.levels or OPEN.inside) and func not in OPEN.parts


# Files whose functions hand calls to classes with the arguments in order.
_DIRECT = {"_overloads.py", "_tensor.py"}
prepare()

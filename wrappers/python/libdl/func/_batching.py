# SPDX-License-Identifier: Apache-2.0
"""What an operator does with batched tensors: its rule, its parts, or one sample after another."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from .. import _C, _functional, _functions as F, _methods, _overridable_functions
from .._C import Overridable, Overridden, Tensor
from .._kinds import COMPOSED
from .._overrides import DRAWN, RUNNING, by_position, disabled, dispatch, listed_operands
from .._vmap_levels import HANDLER, OPEN, Batched, Level, Open
from ..utils import _pytree as pytree
from . import _rules_layers as _rules_layers  # the rules of layers
from ._composed import run_composed
from ._one_by_one import may_draw, one_by_one
from ._rules import DRAWING, RULES, Call
from ._rules_calls import draws
from ._rules_shapes import RESHAPING

_GENERATED = {F.__file__, _functional.__file__, _methods.__file__}
# Composed, but of operators that do not know all arguments of their parts' classes.
_WHOLE = {
    "lstm",
    "gru",
    "rnn_tanh",
    "rnn_relu",
    "batch_norm",
    "instance_norm",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
}
# Questions that the stand-in answers for every sample.
_METADATA = {
    "__len__",
    "dim",
    "element_size",
    "get_device",
    "is_complex",
    "is_contiguous",
    "is_conj",
    "is_floating_point",
    "is_inference",
    "is_neg",
    "is_pinned",
    "is_same_size",
    "is_shared",
    "is_signed",
    "ndimension",
    "nelement",
    "numel",
    "result_type",
    "size",
    "stride",
}


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
    if kwargs and isinstance(func, Overridable):
        args, kwargs = by_position(func, args, kwargs)
    name = name_of(func)
    if not level.is_open:
        raise RuntimeError(
            f"{name}: an argument is a tensor of a vmap that has ended; a function under "
            "vmap must return what is to be used outside"
        )
    if name in DRAWING and OPEN.levels:  # also for samples of the levels inside
        level = OPEN.levels[-1]
    return apply(level, func, name, args, kwargs)


def _of_batch(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call that nobody but a level sees, as C tells it."""
    return _through_class(func, listed_operands(func, args), kwargs)


HANDLER.append(_through_class)
_C.register("batch", _of_batch)


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
        raise RuntimeError(
            f"vmap: {name.removesuffix('.__set__')} of a tensor that is mapped over cannot be set"
        )
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
    return bool(
        rule is not None
        and call.name.startswith("__")
        and len(call.args) == 2
        and not isinstance(call.args[1], (Tensor, int, float, complex))
    )


def _parts_of(func: Callable[..., Any]) -> Callable[..., Any] | None:
    """The body of a function that is composed of other operators in Python; None inside of it,
    where an operator of the same name calls for it."""
    if (
        not isinstance(func, Overridable)
        or func.__code__.co_filename in _GENERATED
        or (func in RUNNING.parts)
    ):
        return None
    own: types.FunctionType = func.__wrapped__
    return own


def _run_parts(func: Callable[..., Any], parts: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    before = RUNNING.parts
    RUNNING.parts = (*before, func)
    try:
        return parts(*args, **kwargs)
    except Overridden:
        if not hasattr(_C, func.__name__):
            raise
        return dispatch(func, args, kwargs)  # C's own function has no parts
    finally:
        RUNNING.parts = before


def prepare() -> None:
    """Names that functions do not tell, and which functions a level sees: of those composed in
    Python the ones that have a rule, and they whatever the arguments, if they may draw."""
    for name, own in _overridable_functions.of_c().items():
        if isinstance(own, property):
            _ATTRIBUTES[own] = name
    for function, shown in _overridable_functions.functions().items():
        name, code = shown.name.rpartition(".")[2], function.__code__
        if code.co_filename.endswith(_WITH_NAMES):
            name = _NAMES[function] = shown.name
        elif shown.name.startswith("libdl.special."):
            name = _NAMES[function] = code.co_name
        composed = code.co_filename not in _GENERATED
        ruled = composed and name in RULES
        function.draws = ruled and name in DRAWING
        function.inside = composed and not ruled and name not in RESHAPING


_WITH_NAMES = ("linalg.py", "_top_level.py")
prepare()

# SPDX-License-Identifier: Apache-2.0
"""__torch_function__: classes and modes that override operators.

Public functions of tensors are objects of overridable, a class of C's: before the function runs it
asks whether this thread has modes, or an argument a class that overrides. Then, and only then, the
call comes to dispatch() with the arguments as the program wrote them.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, TypeVar

from . import _C
from ._C import Overridable, Tensor, overridable
from ._errors import rename_error

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")


def operator(direct: tuple[Any, ...] | None, renamed: tuple[Any, ...] | None) -> Callable[[F], F]:
    """overridable for a generated function. direct: how C makes the usual calls by itself; renamed:
    what rename_error takes behind the error."""
    return functools.partial(overridable, direct=direct, renamed=renamed)


_C.register("rename_error", rename_error)

# The class of tensors that are mapped over, once there are any: no class of a program.
SAMPLES: set[type] = set()


@contextmanager
def disabled() -> Iterator[None]:
    """Disables __torch_function__ on this thread, also that of tensors that are mapped over."""
    before = _C.disable_overriding(2)
    try:
        yield
    finally:
        _C.disable_overriding(before)


class DisableTorchFunctionSubclass:
    """with libdl.DisableTorchFunctionSubclass(): classes do not override operators."""

    def __enter__(self) -> None:
        self._before = _C.disable_overriding(1)
        if self._before > 1:
            _C.disable_overriding(self._before)

    def __exit__(self, *exception: object) -> None:
        _C.disable_overriding(self._before)


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """with libdl.DisableTorchFunction(): neither classes nor modes override operators."""

    def __enter__(self) -> None:
        super().__enter__()
        self._hidden = modes.swap([])

    def __exit__(self, *exception: object) -> None:
        modes.swap(self._hidden)
        super().__exit__(*exception)


class _Modes(threading.local):
    """The thread's modes, the innermost last."""

    def __init__(self) -> None:
        self.stack: list[Any] = []

    def push(self, mode: Any) -> None:
        self.stack.append(mode)
        _C.intercept_modes(True)

    def pop(self) -> Any:
        mode = self.stack.pop()
        _C.intercept_modes(bool(self.stack))
        return mode

    def swap(self, stack: list[Any]) -> list[Any]:
        """Takes another stack, and returns what was."""
        before, self.stack = self.stack, stack
        _C.intercept_modes(bool(stack))
        return before


modes = _Modes()


def through_mode(
    func: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    is_operator: bool = False,
) -> Any:
    """Asks the innermost mode, which meanwhile does not see calls itself; if it leaves the call
    alone, the arguments' classes. An operator may answer NotImplemented to Python."""
    mode = modes.pop()
    try:
        overriding = _overriding(args, kwargs)
        types = tuple(type(value) for value in overriding if type(value) not in SAMPLES)
        answer = mode.__torch_function__(func, types, args, kwargs)
        if answer is not NotImplemented or (is_operator and not overriding):
            return answer
        return _by_classes(func, overriding, args, kwargs)
    finally:
        modes.push(mode)


def _disabled_torch_function_impl(
    cls: type,
    func: Callable[..., Any],
    types: Iterable[type],
    args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
) -> Any:
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


_C.register("disabled_override", _disabled_torch_function_impl)
# Where PyTorch's programs find them.
vars(_C).update(
    DisableTorchFunction=DisableTorchFunction,
    DisableTorchFunctionSubclass=DisableTorchFunctionSubclass,
    _disabled_torch_function_impl=_disabled_torch_function_impl,
)


def _converted(answer: Any, cls: type[Tensor]) -> Any:
    """The tensors as objects of the class, but those of which there is a sample only."""
    if isinstance(answer, Tensor):
        keeps = type(answer) in SAMPLES or isinstance(answer, cls)
        return answer if keeps else _C.as_subclass(answer, cls)
    if type(answer) in (tuple, list):
        return type(answer)(_converted(item, cls) for item in answer)
    if isinstance(answer, tuple) and hasattr(answer, "_fields"):
        return type(answer)(*(_converted(item, cls) for item in answer))
    return answer


# Attributes that are one object, whoever asks.
UNCONVERTED: set[Any] = {vars(Tensor)[name].__get__ for name in ("_base", "grad")}


def _torch_function(
    cls: type[Tensor],
    func: Callable[..., Any],
    types: Iterable[type],
    args: Any = (),
    kwargs: Any = None,
) -> Any:
    """The default that subclasses inherit: runs the operator, and returns objects of the class."""
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        answer = func(*args, **(kwargs or {}))
        return answer if cls is Tensor or func in UNCONVERTED else _converted(answer, cls)


Tensor.__torch_function__ = classmethod(_torch_function)  # type: ignore[assignment]


def _overriding(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """An argument of each overriding class: subclasses before their bases, otherwise from left to
    right. A tensor that is mapped over is the last: to classes it is an ordinary one."""
    values: list[Any] = _C.overriding(args, kwargs)
    if len(values) < 2:
        return values
    results: list[Any] = []
    for value in values:
        kind = type(value)
        if all(kind is not type(other) for other in results):
            place = next(
                (i for i, other in enumerate(results) if issubclass(kind, type(other))),
                len(results),
            )
            results.insert(place, value)
    return sorted(results, key=lambda value: type(value) in SAMPLES)


def of_values(function: Callable[..., R], *args: object, **options: object) -> R:
    """What no class carries out instead, a step or a place in the graph: the function of tensors as
    they are. Those of a batch still raise."""
    try:
        return function(*args, **options)
    except _C.Overridden:
        with DisableTorchFunctionSubclass():
            return function(*args, **options)


def by_class(*values: object) -> bool:
    """Whether a class of a program is to be asked about a call with these values."""
    return any(_C.has_override(value) and type(value) not in SAMPLES for value in values)


def listed_operands(func: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments; einsum's operands are told one by one."""
    listed = len(args) == 2 and isinstance(args[1], (list, tuple))
    if listed and getattr(func, "__name__", "") == "einsum":
        return (args[0], *args[1])
    return args


# -- calls of public functions ---------------------------------------------------------------------


class _Running(threading.local):
    """The composed functions whose body this thread is running for a batch."""

    def __init__(self) -> None:
        self.parts: tuple[Callable[..., Any], ...] = ()


RUNNING = _Running()


def dispatch(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call that somebody is to see: the innermost mode, the classes of arguments, or an open
    vmap."""
    overriding = _overriding(args, kwargs)
    kinds = {type(value) for value in overriding}
    if not modes.stack and kinds <= SAMPLES:
        if not kinds and func in RUNNING.parts:
            return func.__wrapped__(*args, **kwargs)  # type: ignore[attr-defined]
        return _by_classes(func, overriding, args, kwargs)
    if isinstance(func, Overridable):
        from . import _overridable_functions as shown

        if not kinds & SAMPLES:
            if not modes.stack and func.of_values:
                with disabled():
                    return func(*args, **kwargs)
            if other := shown.instead(func, args, kwargs):
                indexed, named = other
                return indexed(**named)
        args, kwargs = shown.as_seen(func, args, kwargs)
    if modes.stack:
        return through_mode(func, args, kwargs)
    return _by_classes(func, overriding, args, kwargs)


_C.register("dispatch", dispatch)


@functools.lru_cache(maxsize=2048)
def _positions(func: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the parameters that may be given by position."""
    from ._overridable_functions import signature_of

    names = []
    for parameter in signature_of(func).parameters.values():
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            break
        names.append(parameter.name)
    return tuple(names)


def by_position(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The same arguments, by position as far as that goes."""
    left, positional = dict(kwargs), list(args)
    for name in _positions(func)[len(args) :]:
        if name not in left:
            break
        positional.append(left.pop(name))
    return tuple(positional), left


# Called with (function, arguments, keyword arguments) of an operator that may draw; NotImplemented
# where no vmap watches it.
DRAWN: list[Callable[..., Any]] = []


def override(func: Callable[..., Any], *args: object, **kwargs: object) -> Any:
    """Asks the arguments' classes."""
    return _by_classes(func, _overriding(args, kwargs), args, kwargs)


def _by_classes(
    func: Callable[..., Any], overriding: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The same, with what _overriding found."""
    args = listed_operands(func, args)
    if not overriding and DRAWN:
        answer = DRAWN[0](func, args, kwargs)
        if answer is not NotImplemented:
            return answer
    types = tuple(type(value) for value in overriding)
    if len(types) > 1 and types[-1] in SAMPLES:  # not a class that can be asked instead
        overriding, types = overriding[:-1], types[:-1]
    for value in overriding:
        answer = type(value).__torch_function__(func, types, args, kwargs)
        if answer is not NotImplemented:
            return answer
    names = ", ".join(kind.__name__ for kind in types)
    name = getattr(func, "__name__", func)
    raise TypeError(f"{name}: no class of its arguments ({names}) carries it out")


# Operators go to a class or mode as the methods that they stand for, as in PyTorch.
_METHODS = {
    "__abs__": "abs",
    "__add__": "add",
    "__ge__": "ge",
    "__gt__": "gt",
    "__iadd__": "add_",
    "__ifloordiv__": "floor_divide_",
    "__imod__": "remainder_",
    "__imul__": "mul_",
    "__isub__": "sub_",
    "__itruediv__": "div_",
    "__le__": "le",
    "__lt__": "lt",
    "__matmul__": "matmul",
    "__mod__": "remainder",
    "__mul__": "mul",
    "__ne__": "ne",
    "__neg__": "neg",
    "__pos__": "positive",
    "__radd__": "add",
    "__rand__": "bitwise_and",
    "__rmul__": "mul",
    "__ror__": "bitwise_or",
    "__rxor__": "bitwise_xor",
    "__sub__": "sub",
    "__truediv__": "div",
}


def method_of(operator: Callable[..., Any]) -> Callable[..., Any]:
    """Tensor.add for Tensor.__add__; operators without a method of the name stay as they are."""
    name = _METHODS.get(operator.__name__)
    return operator if name is None else getattr(Tensor, name, operator)


def own_methods(functions: dict[str, Any]) -> None:
    """Gives Tensor functions of its own where it has the package's, so that a class or mode can
    tell x.add(y) from libdl.add(x, y)."""
    for name, shared in list(vars(Tensor).items()):
        if isinstance(shared, Overridable) and shared is functions.get(name, shared.__name__):
            setattr(Tensor, name, own_function(shared, name, "libdl", f"Tensor.{name}"))


def own_function(shared: Any, name: str, module: str, qualified: str = "") -> Overridable:
    """The same function as an object of its own, for a class or mode to tell the names apart."""
    inner = shared.__wrapped__
    result = FunctionType(
        inner.__code__, inner.__globals__, name, inner.__defaults__, inner.__closure__
    )
    result.__kwdefaults__, result.__doc__ = inner.__kwdefaults__, shared.__doc__
    result.__annotations__ = inner.__annotations__
    result.__dict__.update(inner.__dict__)  # where inspect finds the signature
    result.__module__, result.__qualname__ = module, qualified or name
    return shared.around(result)


def own_functions(space: dict[str, Any], names: Iterable[str]) -> None:
    """Gives a module functions of its own for these names, which are those of others."""
    for name in names:
        if isinstance(space[name], Overridable):
            space[name] = own_function(space[name], name, space["__name__"])


def _override_operator(operator: Callable[..., Any], *args: object) -> Any:
    """A call of an operator, which modes are shown as a method if that takes the operands: no
    arrays."""
    if not modes.stack:
        return override(method_of(operator), *args)
    fitting = (Tensor,) if "matmul" in operator.__name__ else (Tensor, int, float, complex)
    shown = method_of(operator) if all(isinstance(x, fitting) for x in args[1:]) else operator
    return through_mode(shown, args, {}, is_operator=operator.__name__ != "__getitem__")


_C.register("override", _override_operator)

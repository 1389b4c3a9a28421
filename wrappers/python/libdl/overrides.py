# SPDX-License-Identifier: Apache-2.0
"""Overriding of operators: by classes with __torch_function__, and by modes, which see every call
of their thread."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from typing import Any, Self, TypeVar

from . import _C
from ._C import Tensor
from ._overridable_functions import UNSEEN, UNSEEN_METHODS, functions, namespaces, of_c
from ._overrides import (
    DisableTorchFunction as DisableTorchFunction,
    DisableTorchFunctionSubclass as DisableTorchFunctionSubclass,
    UNCONVERTED,
    _disabled_torch_function_impl as _disabled_torch_function_impl,
    modes,
    override,
    through_mode,
)

__all__ = [
    "BaseTorchFunctionMode",
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "TorchFunctionMode",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")


class TorchFunctionMode:
    """with a mode of this class, each call of the thread goes to its __torch_function__.

    Those are calls of functions, methods and operators, attributes of tensors, and the making of
    tensors, all from Python.
    While __torch_function__ runs, calls go to the mode around it. It may return NotImplemented to
    leave a call to the classes of its arguments."""

    inner: TorchFunctionMode

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: Any = None,
    ) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no method __torch_function__")

    def __enter__(self) -> Self:
        modes.push(self)
        return self

    def __exit__(self, *exception: object) -> None:
        modes.pop()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchFunctionMode:
        """A mode of the class; PyTorch's older name for the constructor."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that carries out each call as it is."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: Any = None,
    ) -> Any:
        return func(*args, **(kwargs or {}))


# -- for functions of the program that can be overridden -------------------------------------------


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether a mode is on, or the class of an argument overrides operators."""
    return bool(modes.stack) or any(_C.has_override(value) for value in relevant_args)


def has_torch_function_unary(tensor: object) -> bool:
    """has_torch_function of one argument."""
    return has_torch_function((tensor,))


def has_torch_function_variadic(*tensors: object) -> bool:
    """has_torch_function of several arguments."""
    return has_torch_function(tensors)


def handle_torch_function(
    public_api: Callable[..., R], relevant_args: Iterable[Any], /, *args: Any, **kwargs: Any
) -> R:
    """What the mode, or the class of an argument, makes of public_api(*args, **kwargs).

    Raises: TypeError if all of them return NotImplemented."""
    result: R = (
        through_mode(public_api, args, kwargs)
        if modes.stack
        else override(public_api, *args, **kwargs)
    )
    return result


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[F], F]:
    """A decorator: the function can be overridden by what dispatcher(*args, **kwargs) returns of
    its arguments."""

    def decorated(func: F) -> F:
        @functools.wraps(func)
        def overridable(*args: object, **kwargs: object) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(overridable, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return overridable  # type: ignore[return-value]

    return decorated


def is_tensor_like(inp: object) -> bool:
    """Whether the object is a tensor, or its class has __torch_function__."""
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


# -- about the library's functions -----------------------------------------------------------------


@functools.cache
def _names() -> dict[Any, str]:
    """The qualified name of each function that can be overridden."""
    collected: dict[Any, str] = {function: shown.name for function, shown in functions().items()}
    collected[Tensor.__getitem__] = "libdl.Tensor.__getitem__"
    for name, own in of_c().items():
        if isinstance(own, (types.GetSetDescriptorType, property)):
            collected[own.__get__] = f"libdl.Tensor.{name}.__get__"
            collected[own.__set__] = f"libdl.Tensor.{name}.__set__"
        else:
            collected[own] = f"libdl.Tensor.{name}"
    return collected


def resolve_name(f: object) -> str | None:
    """The function's name in a program, "libdl.add"; None if it is none of the library's. A
    function that is also a method has the function's name."""
    if isinstance(f, str):
        return None
    for table in (_names(), _created()):
        if f in table:
            return table[f]
    return None


@functools.cache
def _created() -> dict[Any, str]:
    methods = {getattr(Tensor, name): f"libdl.Tensor.{name}" for name in UNSEEN_METHODS}
    return {f: f"libdl.{f.__name__}" for f in get_ignored_functions()} | methods


def _modules() -> dict[str, types.ModuleType]:
    """The modules that have public functions, by their names."""
    return {space.name: space.module for space in reversed(namespaces())}  # each name's first


@functools.cache
def get_ignored_functions() -> set[Callable[..., Any]]:
    """Functions of the library that no argument can override: those that create tensors, which
    modes see, and settings and files, which nothing overrides."""
    libdl = _modules()["libdl"]
    creations = (
        "arange as_tensor asarray empty empty_strided eye from_dlpack full linspace normal ones "
        "rand randint randn randperm sparse_coo_tensor tensor zeros"
    ).split()
    names = [*creations, *UNSEEN, *(n for n in vars(libdl) if n[:4] in ("get_", "set_"))]
    collected = {f for f in (getattr(libdl, name) for name in names) if not isinstance(f, type)}
    return collected | {getattr(Tensor, name) for name in UNSEEN_METHODS}


@functools.cache
def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """The functions that a class can override, by the module or class that has them."""
    spaces: dict[str, Any] = {**_modules(), "libdl.Tensor": Tensor}
    collected: dict[Any, list[Any]] = {space: [] for space in spaces.values()}
    ignored = get_ignored_functions()
    for function, name in _names().items():
        attribute = name.endswith((".__get__", ".__set__"))
        space = name.removesuffix(".__get__").removesuffix(".__set__").rpartition(".")[0]
        if function not in ignored and (attribute or callable(function)):
            collected[spaces[space]].append(function)
    return collected


@functools.cache
def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """For each function that a class can override, a stand-in that takes the same arguments and
    returns -1."""
    return {
        function: _stand_in(function)
        for functions in get_overridable_functions().values()
        for function in functions
    }


def _stand_in(function: Callable[..., Any]) -> Callable[..., Any]:
    import inspect

    try:
        signature = inspect.signature(function)
    except ValueError:  # of C, without a signature
        return lambda *args, **kwargs: -1

    def stand_in(*args: object, **kwargs: object) -> int:
        signature.bind(*args, **kwargs)
        return -1

    stand_in.__signature__ = signature  # type: ignore[attr-defined]
    return stand_in


def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """The attributes whose values a subclass gets as they are, not as objects of its class."""
    return set(UNCONVERTED)


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether the function is a method of Tensor, or reads or writes an attribute of it."""
    if getattr(func, "__name__", "") in ("__get__", "__set__"):
        return func in _names()
    return getattr(Tensor, getattr(func, "__name__", ""), None) is func

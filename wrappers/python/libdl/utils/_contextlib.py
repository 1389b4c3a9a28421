# SPDX-License-Identifier: Apache-2.0
"""Context managers that also decorate functions, generators and classes."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Generator
from types import TracebackType
from typing import Any, Self, TypeVar, overload

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")


def context_decorator(ctx: object, func: F) -> F:
    """The function, each call inside ctx, or inside what ctx() makes. A generator runs inside
    whenever it is resumed. Of a class the methods are not meant, but the constructor."""
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise AssertionError(
            f"context_decorator: {ctx} is a context manager and callable, wanted either"
        )
    factory: Callable[[], Any] = ctx if callable(ctx) else lambda: ctx
    if inspect.isclass(func):
        raise RuntimeError(
            f"context_decorator: found the class {func.__name__}, wanted a function; decorate its "
            "__init__"
        )
    if inspect.isgeneratorfunction(func):
        return _around_generator(factory, func)

    @functools.wraps(func)
    def inside(*args: object, **kwargs: object) -> Any:
        with factory():
            return func(*args, **kwargs)

    return inside  # type: ignore[return-value]


def _around_generator(factory: Callable[[], Any], func: F) -> F:
    @functools.wraps(func)
    def generate(*args: object, **kwargs: object) -> Generator[Any, Any, Any]:
        running = func(*args, **kwargs)
        try:
            with factory():
                item = running.send(None)
            while True:
                try:
                    value = yield item
                except GeneratorExit:
                    with factory():
                        running.close()
                    raise
                except BaseException as error:
                    with factory():
                        item = running.throw(error)
                else:
                    with factory():
                        item = running.send(value)
        except StopIteration as stop:
            return stop.value

    return generate  # type: ignore[return-value]


class _DecoratorContextManager:
    """A base of context managers that decorate, too: each call is inside a copy."""

    def __call__(self, orig_func: F) -> F:
        if inspect.isclass(orig_func):
            warnings.warn(
                f"{type(self).__name__}: a class is decorated; decorate its methods",
                FutureWarning,
                stacklevel=2,
            )
            decorated: Any = functools.wraps(orig_func)(lambda *a, **k: self._run(orig_func, a, k))
            return decorated  # type: ignore[no-any-return]
        return context_decorator(self.clone, orig_func)

    def _run(self, function: Callable[..., R], args: Any, kwargs: Any) -> R:
        with self.clone():
            return function(*args, **kwargs)

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        raise NotImplementedError

    def clone(self) -> Self:
        """Another of the class; whose constructor takes arguments overrides it."""
        return type(self)()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """Also a decorator without parentheses: the class decorates what it is called with."""

    @overload
    def __new__(cls, orig_func: F) -> F: ...  # type: ignore[misc]
    @overload
    def __new__(cls, orig_func: None = None) -> Self: ...
    def __new__(cls, orig_func: Any = None) -> Any:
        return super().__new__(cls) if orig_func is None else cls()(orig_func)

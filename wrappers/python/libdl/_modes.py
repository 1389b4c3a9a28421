# SPDX-License-Identifier: Apache-2.0
"""The modes of a thread: recording, inference mode, the default dtype."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Self, TypeVar

from . import _C
from ._types import DtypeLike, dtype, float64

F = TypeVar("F", bound=Callable[..., Any])


class _Mode:
    """A context manager that is also a decorator; decorated generators run each step in it."""

    __slots__ = ()

    def __call__(self, function: F) -> F:
        import inspect

        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def stepwise(*args: object, **kwargs: object) -> Any:
                generator = function(*args, **kwargs)
                with self._again():
                    value = next(generator, _END)
                while value is not _END:
                    try:
                        sent = yield value
                    except GeneratorExit:
                        with self._again():
                            generator.close()
                        raise
                    except BaseException as error:
                        with self._again():
                            try:
                                value = generator.throw(error)
                            except StopIteration as stop:
                                return stop.value
                    else:
                        with self._again():
                            try:
                                value = generator.send(sent)
                            except StopIteration as stop:
                                return stop.value
                return None

            return stepwise  # type: ignore[return-value]

        @functools.wraps(function)
        def guarded(*args: object, **kwargs: object) -> Any:
            with self._again():
                return function(*args, **kwargs)

        return guarded  # type: ignore[return-value]

    def _again(self) -> Self:
        return type(self)()

    def clone(self) -> Self:
        """Another one like it."""
        return self._again()

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *exception: object) -> None:
        raise NotImplementedError


_END = object()


class no_grad(_C.NoGrad, _Mode):
    """Nothing is recorded inside: with libdl.no_grad(): ... or @libdl.no_grad().

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.no_grad():
        ...     y = 2 * x
        >>> y.requires_grad
        False
    """

    __slots__ = ()


class enable_grad(_C.EnableGrad, _Mode):
    """Operations are recorded inside, also within no_grad."""

    __slots__ = ()


class set_grad_enabled(_Mode):
    """Switches recording on or off, for good or within a with statement."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(f"set_grad_enabled: mode is a {type(mode).__name__}, wanted a bool")
        self.mode = mode
        self._before = _C.set_grad_enabled(mode)

    def __call__(self, function: F) -> F:
        _C.set_grad_enabled(self._before)
        return super().__call__(function)

    def _again(self) -> set_grad_enabled:
        return set_grad_enabled(self.mode)

    def clone(self) -> set_grad_enabled:
        """Another one like it; unlike the first, it changes nothing before it is entered."""
        before = _C.grad_enabled()
        result = set_grad_enabled(self.mode)
        _C.set_grad_enabled(before)
        return result

    def __enter__(self) -> None:
        _C.set_grad_enabled(self.mode)

    def __exit__(self, *exception: object) -> None:
        _C.set_grad_enabled(self._before)


class inference_mode(_Mode):
    """Nothing is recorded inside, and results can never take part in recording.
    inference_mode(False) ends the mode and no_grad for a while.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.inference_mode():
        ...     y = 2 * x
        >>> y.requires_grad, y.is_inference()
        (False, True)
    """

    def __new__(cls, mode: Any = True) -> Any:
        instance = object.__new__(cls)
        if callable(mode):
            instance.mode = True
            return instance(mode)
        return instance

    def __init__(self, mode: Any = True) -> None:
        self.mode = bool(mode)

    def _again(self) -> inference_mode:
        return inference_mode(self.mode)

    def __enter__(self) -> None:
        self._before = _C.set_inference_mode(self.mode)
        self._grad = _C.set_grad_enabled(not self.mode)

    def __exit__(self, *exception: object) -> None:
        _C.set_inference_mode(self._before)
        _C.set_grad_enabled(self._grad)


class set_multithreading_enabled(_Mode):
    """Changes nothing: a backward pass runs on the thread that calls it."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def _again(self) -> set_multithreading_enabled:
        return set_multithreading_enabled(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass


class check_copies(_Mode):
    """Inside, a ConversionWarning at each line that makes a hidden representation of a tensor, such
    as the panels of a matrix that is multiplied by again and again; it names operator and bytes."""

    def __init__(self, mode: bool = True) -> None:
        self._mode = mode

    def _again(self) -> check_copies:
        return check_copies(self._mode)

    def __enter__(self) -> None:
        self._before = _C.set_check_copies(self._mode)

    def __exit__(self, *exception: object) -> None:
        _C.set_check_copies(self._before)


is_grad_enabled: Callable[[], bool] = _C.grad_enabled
is_inference_mode_enabled: Callable[[], bool] = _C.inference_mode


def get_default_dtype() -> dtype:
    """The floating dtype of numbers and of new tensors if none is given."""
    return _C.dtype_of_code(_C.default_dtype())


def set_default_dtype(d: DtypeLike) -> None:
    """Sets the floating dtype of numbers and of new tensors if none is given."""
    chosen = float64 if d is float else d
    if not isinstance(chosen, dtype) or not chosen.is_floating_point:
        raise TypeError(f"set_default_dtype: found {d!r}, wanted a floating dtype")
    _C.set_default_dtype(chosen)

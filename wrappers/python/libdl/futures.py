# SPDX-License-Identifier: Apache-2.0
"""Results that come later."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from ._types import DeviceLike

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")


class Future(Generic[T]):
    """A value or an exception that another thread sets, once. devices is accepted and has no
    effect: what is set can be used at once."""

    def __init__(self, *, devices: Sequence[DeviceLike] | None = None) -> None:
        self._done = threading.Condition()
        self._is_set = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Any], Any]] = []

    def done(self) -> bool:
        """Whether a value or an exception is there."""
        return self._is_set

    def wait(self) -> T:
        """Waits, and returns the value or raises the exception."""
        with self._done:
            self._done.wait_for(lambda: self._is_set)
        return self.value()

    def value(self) -> T:
        """The value, without waiting; raises the exception, or RuntimeError if there is nothing."""
        if not self._is_set:
            raise RuntimeError("Future.value: it is not done; wait() waits for the value")
        if self._error is not None:
            raise self._error
        value: T = self._value
        return value

    def then(self, callback: Callable[[Future[T]], Any]) -> Future[Any]:
        """A future of callback(self), which is called as soon as this one is done, by the thread
        that sets it; at once if it is done already."""
        result: Future[Any] = Future()

        def run(future: Future[T]) -> None:
            try:
                result.set_result(callback(future))
            except Exception as error:  # one kind for all, as in PyTorch
                text = RuntimeError(f"then: the callback raised {type(error).__name__}: {error}")
                text.__cause__ = error
                result.set_exception(text)

        self._when_done(run)
        return result

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Calls callback(self) as then() does, for its effect: an exception in it is printed."""

        def run(future: Future[T]) -> None:
            try:
                callback(future)
            except Exception:
                import traceback

                traceback.print_exc()

        self._when_done(run)

    def set_result(self, result: T) -> None:
        """Sets the value. RuntimeError if the future is done."""
        self._set(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Sets an exception, which wait() and value() raise."""
        if not isinstance(result, BaseException):
            raise AssertionError(f"Future.set_exception: found {result!r}, wanted an exception")
        self._set(None, result)

    def _set(self, value: Any, error: BaseException | None) -> None:
        with self._done:
            if self._is_set:
                raise RuntimeError("Future: a value or an exception has been set already")
            self._value, self._error, self._is_set = value, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._done.notify_all()
        for callback in callbacks:
            callback(self)

    def _when_done(self, callback: Callable[[Any], Any]) -> None:
        with self._done:
            if not self._is_set:
                self._callbacks.append(callback)
                return
        callback(self)


def collect_all(futures: Sequence[Future[Any]]) -> Future[list[Future[Any]]]:
    """A future of the list of these futures, done when all of them are."""
    result: Future[list[Future[Any]]] = Future()
    left = [len(futures)]
    guard = threading.Lock()

    def count(_: Future[Any]) -> None:
        with guard:
            left[0] -= 1
            last = left[0] == 0
        if last:
            result.set_result(list(futures))

    for future in futures:
        future._when_done(count)
    if not futures:
        result.set_result([])
    return result


def wait_all(futures: Sequence[Future[Any]]) -> list[Any]:
    """Waits for all, and returns their values or raises the first exception among them."""
    return [future.wait() for future in collect_all(futures).wait()]

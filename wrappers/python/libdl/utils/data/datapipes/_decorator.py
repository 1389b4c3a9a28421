# SPDX-License-Identifier: Apache-2.0
"""Decorators of pipes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, TypeVar

from .datapipe import IterDataPipe, MapDataPipe

_Made = TypeVar("_Made")


class functional_datapipe:  # noqa: N801  (PyTorch's name)
    """@functional_datapipe("name") class C(IterDataPipe): pipe.name(...) is C(pipe, ...)."""

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name = name

    def __call__(self, cls: type[_Made]) -> type[_Made]:
        for kind in (IterDataPipe, MapDataPipe):
            if issubclass(cls, kind):
                kind.register_datapipe_as_function(self.name, cls)
                return cls
        raise TypeError(
            f"functional_datapipe: found {cls.__name__}, wanted a class of IterDataPipe or "
            "MapDataPipe"
        )


def non_deterministic(arg: Any) -> Any:
    """Marks a pipe whose order may differ; accepted and ignored."""
    return arg if isinstance(arg, type) else lambda cls: cls


class guaranteed_datapipes_determinism(contextlib.ContextDecorator):  # noqa: N801
    """Accepted and ignored: pipes are not marked."""

    def __init__(self, enabled: bool = True) -> None:
        self.enabled = enabled

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass


def argument_validation(f: _Made) -> _Made:
    """Annotations of pipes are not checked: the function itself."""
    return f


def runtime_validation(f: _Made) -> _Made:
    """The same of what a pipe gives."""
    return f


@contextlib.contextmanager
def runtime_validation_disabled() -> Iterator[None]:
    """Nothing is checked inside, nor elsewhere."""
    yield

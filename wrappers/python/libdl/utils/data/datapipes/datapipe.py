# SPDX-License-Identifier: Apache-2.0
"""Datasets that are chained by methods: pipe.name(...) is the class that functional_datapipe
registered under that name, made of pipe; PyTorch's own are in iter and map."""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, TypeVar

from ..dataset import Dataset, IterableDataset

__all__ = ["DataChunk", "DFIterDataPipe", "IterDataPipe", "MapDataPipe"]

_Item = TypeVar("_Item")
_Sample = TypeVar("_Sample", covariant=True)


class DataChunk(list[_Item]):
    """A batch of a pipe: a list."""

    def __init__(self, items: Iterable[_Item]) -> None:
        super().__init__(items)
        self.items = items

    def raw_iterator(self) -> Iterator[_Item]:
        return iter(self)


class _Chained:
    """Registered functions as methods."""

    functions: ClassVar[dict[str, Callable[..., Any]]]

    def __getattr__(self, name: str) -> functools.partial[Any]:
        if name not in type(self).functions:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return functools.partial(type(self).functions[name], self)

    def __repr__(self) -> str:
        return type(self).__qualname__

    @classmethod
    def register_function(cls, function_name: str, function: Callable[..., Any]) -> None:
        """Makes it a method of every pipe of this kind."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(
        cls, function_name: str, cls_to_register: Any, enable_df_api_tracing: bool = False
    ) -> None:
        """Makes the class a method of every pipe of this kind. enable_df_api_tracing is
        PyTorch's."""
        if function_name in cls.functions:
            raise Exception(  # noqa: TRY002  (PyTorch's type)
                f"register_datapipe_as_function: function_name {function_name!r} is taken"
            )
        cls.functions[function_name] = cls_to_register


class IterDataPipe(_Chained, IterableDataset[_Sample]):
    """An IterableDataset with such methods."""

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}


class DFIterDataPipe(IterDataPipe[_Sample]):
    """Of PyTorch."""


class MapDataPipe(_Chained, Dataset[_Sample]):
    """A Dataset with such methods."""

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}


def own_copy(name: str, given: Any) -> Any:
    """A deep copy; with a warning what is given itself, if it cannot be copied."""
    try:
        return copy.deepcopy(given)
    except TypeError:
        warnings.warn(
            f"{name}: what is given cannot be copied, and is used itself: pass "
            "deepcopy=False to say so",
            stacklevel=3,
        )
        return given


def check_pipes(name: str, datapipes: tuple[Any, ...], kind: type[Any]) -> None:
    """Raises unless there are some, all of the kind."""
    if not datapipes:
        raise ValueError(f"{name}: no pipe is given")
    for pipe in datapipes:
        if not isinstance(pipe, kind):
            raise TypeError(f"{name}: found {type(pipe).__name__}, wanted {kind.__name__}s")


class _IterDataPipeSerializationWrapper(IterDataPipe[Any]):
    """Of PyTorch, around pipes of a DataLoader; here a pipe is loaded as it is."""

    def __init__(self, datapipe: IterDataPipe[Any]) -> None:
        self._datapipe = datapipe

    def __iter__(self) -> Iterator[Any]:
        return iter(self._datapipe)

    def __len__(self) -> int:
        return len(self._datapipe)


class _MapDataPipeSerializationWrapper(MapDataPipe[Any]):
    """The same of pipes with indices."""

    def __init__(self, datapipe: MapDataPipe[Any]) -> None:
        self._datapipe = datapipe

    def __getitem__(self, index: Any) -> Any:
        return self._datapipe[index]

    def __len__(self) -> int:
        return len(self._datapipe)

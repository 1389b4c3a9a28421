# SPDX-License-Identifier: Apache-2.0
"""save and load: tensors in files, and what lies around them. Loading a file runs no code.

libdl's own files are safetensors; PyTorch's zip checkpoints are read, and written where they are
asked for."""

from __future__ import annotations

import importlib as _importlib
import typing as _typing
from collections.abc import Callable as _Callable

from .._missing import NoName as _NoName
from .._types import device as _Device
from ._archive import get_crc32_options, set_crc32_options
from ._endianness import LoadEndianness, get_default_load_endianness, set_default_load_endianness
from ._files import load, save
from ._source import get_default_mmap_options, opened as _opened, set_default_mmap_options

__all__ = [
    "DEFAULT_PROTOCOL",
    "LoadEndianness",
    "MAP_LOCATION",
    "PyTorchFileReader",
    "PyTorchFileWriter",
    "SourceChangeWarning",
    "Unbuilt",
    "add_safe_globals",
    "clear_safe_globals",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "safe_globals",
    "save",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
]

DEFAULT_PROTOCOL = 2  # of pickles
MAP_LOCATION: _typing.TypeAlias = (
    _Callable[[_typing.Any, str], _typing.Any] | _Device | str | dict[str, str] | None
)
"""What load's map_location takes."""
if _typing.TYPE_CHECKING:
    from ._records import (
        PyTorchFileReader as PyTorchFileReader,
        PyTorchFileWriter as PyTorchFileWriter,
    )
    from ._values import Unbuilt as Unbuilt

_LAZY = {
    "Unbuilt": "_values",
    "PyTorchFileReader": "_records",
    "PyTorchFileWriter": "_records",
    "_open_zipfile_reader": "_records",
    "_open_zipfile_writer": "_records",
}
_NAMED = {"_open_zipfile_reader": "reader_of", "_open_zipfile_writer": "writer_of"}


class SourceChangeWarning(Warning):
    """PyTorch's, of classes whose source differs from the file's. libdl gives none."""


def add_safe_globals(safe_globals: list[_typing.Any]) -> None:
    """Accepts further names in PyTorch's checkpoints. Their code does not run, other than in
    PyTorch: where a file would have one of them called, the result has an Unbuilt, which tells the
    name, the arguments and the state.

    Arguments:
        safe_globals: classes and functions, or their names ("argparse.Namespace"), or pairs of
            either and the name that stands in files
    """
    from ._names import name_of, safe_list

    for entry in safe_globals:
        name_of(entry)  # raises for what has no name
    safe_list().extend(entry for entry in safe_globals if entry not in safe_list())


def get_safe_globals() -> list[_typing.Any]:
    """What add_safe_globals was given."""
    from ._names import safe_list

    return list(safe_list())


def clear_safe_globals() -> None:
    """Refuses all further names again."""
    from ._names import safe_list

    safe_list().clear()


class safe_globals:
    """Accepts further names in PyTorch's checkpoints for a while, as add_safe_globals does."""

    def __init__(self, safe_globals: list[_typing.Any]) -> None:
        self._added = safe_globals

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self._added)

    def __exit__(self, *exception: object) -> None:
        clear_safe_globals()
        add_safe_globals(self._before)


def get_unsafe_globals_in_checkpoint(f: _typing.Any) -> list[str]:
    """The names in a checkpoint of PyTorch that load refuses, and add_safe_globals would accept.

    Arguments:
        f: a path, or a file open for reading in binary mode
    """
    from ._checkpoint import unsafe_names

    with _opened(f, False) as source:
        return unsafe_names(source)


def __getattr__(name: str) -> _typing.Any:
    if name in _LAZY:
        module = _importlib.import_module(f".{_LAZY[name]}", __name__)
        return getattr(module, _NAMED.get(name, name))
    raise _NoName(__name__, name)

# SPDX-License-Identifier: Apache-2.0
"""Names of PyTorch that programs import and libdl does not offer yet: they can be imported, stand
in annotations and isinstance, be derived from, and refuse when they are called, with the reason.

The modules that have nothing else are made by `_making`, when they are imported (see _missing);
`tables` lists them."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["NamedOnly", "refusing"]


def _refuse(path: str, reason: str) -> NoReturn:
    raise NotImplementedError(f"{path}: {reason}")


class NamedOnly:
    """The base of classes of which no object can be made."""

    _path, _reason, _named_only = "", "", True

    def __init_subclass__(cls, path: str = "", reason: str = "", **options: Any) -> None:
        super().__init_subclass__()
        if path:
            cls._path, cls._reason = path, reason

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse(self._path, self._reason)

    def __class_getitem__(cls, item: Any) -> Any:
        return cls


def refusing(path: str, reason: str) -> Any:
    """A function that can be imported and raises NotImplementedError when it is called."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        _refuse(path, reason)

    refuse.__module__, _, name = path.rpartition(".")
    refuse.__module__ = f"libdl.{refuse.__module__}".rstrip(".")
    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Raises: {reason}."
    refuse._named_only = True  # type: ignore[attr-defined]
    return refuse

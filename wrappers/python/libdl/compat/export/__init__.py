# SPDX-License-Identifier: Apache-2.0
"""Export of whole programs, which is not offered: modules run eagerly, call by call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from ..nn.modules.module import Module

__all__ = [
    "Dim",
    "ExportedProgram",
    "dims",
    "draft_export",
    "export",
    "export_for_training",
    "load",
    "register_dataclass",
    "save",
]


class Dim:
    """The name of a size that may change, and its bounds; a name of a program for export()."""

    AUTO, DYNAMIC, STATIC = "AUTO", "DYNAMIC", "STATIC"

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        self.__name__, self.min, self.max = name, min, max

    def __repr__(self) -> str:
        return self.__name__


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """A Dim for each name."""
    return tuple(Dim(name, min=min, max=max) for name in names)


class ExportedProgram:
    """A name for annotations and isinstance: no program is one here."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("export.ExportedProgram: nothing is exported here")


def export(mod: Module, args: Any = (), kwargs: Any = None, **options: Any) -> NoReturn:
    """Raises: there is no graph of a module that could be exported."""
    raise NotImplementedError(
        "export.export: libdl runs modules eagerly and has no graph to export; "
        "fx.symbolic_trace makes a graph of modules without branches, and "
        "libdl.save(module.state_dict(), path) keeps the weights"
    )


draft_export = export_for_training = export


def save(ep: Any, f: Any, **options: Any) -> NoReturn:
    """Raises: nothing is exported here."""
    raise NotImplementedError(
        "export.save: nothing is exported here; save a state_dict with libdl.save"
    )


def load(f: Any, **options: Any) -> NoReturn:
    """Raises: a file of an exported program holds a graph of PyTorch's own operators."""
    raise NotImplementedError(
        "export.load: such a file holds a graph of PyTorch's own operators, which "
        "libdl does not run; make the module in Python and load its state_dict"
    )


def register_dataclass(cls: type, *, serialized_type_name: str | None = None) -> None:
    """Changes nothing: nothing is exported here."""


_LAZY_MODULES = ("_trace", "decomp_utils")

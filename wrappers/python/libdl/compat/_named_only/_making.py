# SPDX-License-Identifier: Apache-2.0
"""Modules that are made of a table when they are imported."""

from __future__ import annotations

import enum
import importlib
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from . import NamedOnly, refusing
from .tables import MODULES, SHOWN


def _class(path: str, reason: str, base: type = NamedOnly) -> type:
    module, _, name = path.rpartition(".")
    return type(
        name,
        (base,),
        {
            "_path": path,
            "_reason": reason,
            "__module__": f"libdl.{module}",
            "__doc__": f"A name for annotations and isinstance: {reason}.",
        },
    )


def _made(kind: str, path: str, reason: str) -> Any:
    """What a word of a table stands for."""
    name = path.rpartition(".")[2]
    if kind == "class":
        return _class(path, reason)
    if kind == "error":
        return type(name, (RuntimeError,), {"__module__": f"libdl.{path.rpartition('.')[0]}"})
    return refusing(path, reason)


def _fill(module: ModuleType, short: str) -> None:
    """The names of a module, as a table gives them: "class A B; def c; enum D X Y; use e.f as
    g"."""
    reason, text = MODULES[short]
    place = SHOWN.get(short, short)
    for phrase in filter(None, (part.split() for part in text.split(";"))):
        kind, *words = phrase
        if kind == "enum":
            setattr(module, words[0], enum.Enum(words[0], words[1:], module=module.__name__))
        elif kind == "from":
            source = importlib.import_module(f"libdl.{words[0]}")
            for word in words[1:]:
                setattr(module, word, getattr(source, word))
        else:
            for word in words:
                setattr(module, word, _made(kind, f"{place}.{word}".lstrip("."), reason))


class _Maker(Loader):
    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        short = module.__name__.partition(".")[2]
        module.__doc__ = f"Names of PyTorch's torch.{short}: {MODULES[short][0]}."
        _fill(module, short)
        names = [name for name in vars(module) if not name.startswith("_")]
        module.__all__ = names  # type: ignore[attr-defined]


def spec_of(fullname: str) -> ModuleSpec | None:
    """How the import system gets the module; None if no table has it."""
    short = fullname.partition(".")[2]
    return ModuleSpec(fullname, _Maker(), is_package=True) if short in MODULES else None

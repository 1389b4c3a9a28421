# SPDX-License-Identifier: Apache-2.0
"""Names that do not exist: the error messages, and the import hook, by which every module has them
and the words in compat/ are modules of libdl."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from ._package_name import shown_name

_SEARCHED = (
    "libdl",
    "libdl.nn",
    "libdl.nn.functional",
    "libdl.nn.init",
    "libdl.nn.utils",
    "libdl.optim",
    "libdl.autograd",
    "libdl.func",
    "libdl.utils",
    "libdl.utils.data",
    "libdl.cuda",
    "libdl.amp",
    "libdl.serialization",
    "libdl.special",
    "libdl.distributions",
    "libdl.profiler",
    "libdl.utils.benchmark",
)


def _names(module: str) -> list[str]:
    return [name for name in dir(importlib.import_module(module)) if not name.startswith("_")]


def explain(name: str, module: str = "libdl") -> str:
    """The error's text: similar names in the module, or the module that has the name."""
    text = f"module {module!r} has no attribute {name!r}"
    if name.startswith("_"):
        return text
    known = _names(module)
    if name not in known:
        for other in _SEARCHED:
            if other != module and name in _names(other):
                return f"{text}; it is in {other}"
    import difflib

    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    inside = [item for item in known if len(item) > 2 and (item in name or name in item)]
    near += [item for item in inside if item not in near][: 3 - len(near)]
    if near:
        return f"{text}; near it: {', '.join(near)}"
    return f"{text}; docs/coming-from-pytorch.md lists what of PyTorch is not there yet"


class NoAttribute(AttributeError):
    """Similar names are looked up only when the text is read, because hasattr() is frequent."""

    def __init__(self, owner: object, name: str) -> None:
        super().__init__()
        self._owner, self._name = owner, name

    def __str__(self) -> str:
        text = f"{type(self._owner).__name__!r} object has no attribute {self._name!r}"
        known = [name for name in dir(self._owner) if not name.startswith("_")]
        import difflib

        near = difflib.get_close_matches(self._name, known, n=3, cutoff=0.6)
        return f"{text}; near it: {', '.join(near)}" if near else text


class NoName(AttributeError):
    """The same of a module."""

    def __init__(self, module: str, name: str) -> None:
        super().__init__()
        self._module, self._name = module, name

    def __str__(self) -> str:
        return explain(self._name, self._module)


# Tracebacks show them under the name that everybody catches.
for _kind in (NoAttribute, NoName):
    _kind.__name__ = _kind.__qualname__ = "AttributeError"
    _kind.__module__ = "builtins"


def missing(module: str, *submodules: str, **elsewhere: str) -> Callable[[str], Any]:
    """A module's __getattr__. submodules: those that PyTorch has imported by then, and libdl
    imports when they are asked for; elsewhere: in which submodule a name is."""

    def __getattr__(name: str) -> Any:
        if name not in submodules and name not in elsewhere:
            raise NoName(module, name)
        shown = sys.modules[module].__name__  # of torch, under libdl.as_torch
        imported = importlib.import_module(f"{shown}.{elsewhere.get(name, name)}")
        return getattr(imported, name) if name in elsewhere else imported

    return __getattr__


def public(module: str) -> Callable[[], list[str]]:
    """A module's __dir__: the names in __all__, or else its own functions, classes, numbers and
    submodules, or else all that it has."""
    names = vars(sys.modules[module])

    def __dir__() -> list[str]:
        if "__all__" in names:
            return sorted(names["__all__"])
        own = (n for n, x in names.items() if not n.startswith("_") and _is_of(x, module))
        return sorted(own) or sorted(names)

    return __dir__


def _is_of(value: object, module: str) -> bool:
    """Whether it is the module's own: not imported, unless from a private file beside it."""
    if isinstance(value, ModuleType):
        return value.__name__.rpartition(".")[0] in (module, _shown(module))
    place = getattr(value, "__module__", module)
    if place in (module, _shown(module)):
        return True
    folder, _, name = str(place).rpartition(".")
    beside = module.rpartition(".")[0]
    return name.startswith("_") and "." in beside and folder in (beside, _shown(beside))


def _shown(module: str) -> str:
    return module.replace("libdl", shown_name(), 1)


# -- the import hook -------------------------------------------------------------------------------

_FOLDER = "compat"  # of the words for what does not exist here, see its README


def complete(module: ModuleType, name: str) -> None:
    """Gives a module that has just run, unless it has its own: a dir() of its public names; the
    error of a name that it does not have; and as soon as they are asked for the submodules
    _LAZY_MODULES, and of others the names in _LAZY_NAMES."""
    names = vars(module)
    submodules, elsewhere = names.get("_LAZY_MODULES", ()), names.get("_LAZY_NAMES", {})
    names.setdefault("__getattr__", missing(name, *submodules, **elsewhere))
    names.setdefault("__dir__", public(name))


def _of_words(module: str) -> ModuleType:
    """A module beside the tables of words, which stand on everything else: not imported before."""
    return importlib.import_module(f"libdl._named_only.{module}")


class _Finder:
    """Finds the package's modules: those with a file, and those that a table of names describes."""

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("libdl."):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None:
            spec = _of_words("_making").spec_of(fullname)
        loader: Any = spec and spec.loader
        if loader:  # a folder without __init__.py has none
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                complete(module, fullname)

            loader.exec_module = exec_module
        return spec


def _of_extension(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_of_words("_extension"), name)


def install(package: ModuleType) -> None:
    """From here on, files in compat/ are modules of the package itself, the listed modules can be
    imported, every module tells what it does not have, and the extension has PyTorch's names."""
    from . import _C

    package.__path__.append(f"{package.__path__[0]}/{_FOLDER}")
    sys.meta_path.insert(0, _Finder)
    vars(_C).update(__getattr__=_of_extension, __path__=[])

# SPDX-License-Identifier: Apache-2.0
"""Names that do not exist: the error messages, and the hook of those that can be imported alone."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ._info import shown_name

_SEARCHED = (
    "libdl", "libdl.nn", "libdl.nn.functional", "libdl.nn.init", "libdl.nn.utils", "libdl.optim",
    "libdl.autograd", "libdl.func", "libdl.utils", "libdl.utils.data", "libdl.cuda", "libdl.amp",
    "libdl.serialization", "libdl.special", "libdl.distributions",
    "libdl.profiler", "libdl.utils.benchmark",
)  # fmt: skip


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
    inside = [found for found in known if len(found) > 2 and (found in name or name in found)]
    near += [found for found in inside if found not in near][: 3 - len(near)]
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


def missing(module: str, *submodules: str) -> Any:
    """A module's __getattr__. submodules: those that PyTorch has imported by then, and libdl imports
    when they are asked for."""

    def __getattr__(name: str) -> Any:
        if name in submodules:
            return importlib.import_module(f"{module}.{name}")
        raise NoName(module, name)

    return __getattr__


def public(module: str) -> Any:
    """A module's __dir__: the names in __all__, or else those that the module itself defines."""

    def __dir__() -> list[str]:
        names = vars(sys.modules[module])
        places = (module, module.replace("libdl", shown_name(), 1))
        own = [name for name in names if getattr(names[name], "__module__", None) in places]
        return sorted(names.get("__all__") or (n for n in own if not n.startswith("_")))

    return __dir__


# -- what can be imported, and refuses when it is used ----------------------------------------------


class _NamedOnly:
    """Asked last by the import system, for modules of libdl that have no file."""

    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: Any = None) -> Any:
        if not fullname.startswith("libdl."):
            return None
        from ._named_only._making import spec_of

        return spec_of(fullname)


def _of_extension(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    from ._named_only import _extension

    return getattr(_extension, name)


def install() -> None:
    """From here on, the listed modules can be imported, and the extension has PyTorch's names."""
    from . import _C

    sys.meta_path.append(_NamedOnly)
    vars(_C).update(__getattr__=_of_extension, __path__=[])
